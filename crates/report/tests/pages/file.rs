//! The single offline file.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::DeflateDecoder;
use serde_json::{Value, json};
use strandline_contract::{run::TrialRecord, trace::Trace, words::FunnelAbsence};
use strandline_derive::overview::run_overview;
use strandline_report::{
    html::{
        file::{FILE_SCRIPT, FILE_STYLESHEET, FileInput, FileReport, TRACE_BUDGET, policy},
        glossary::glossary,
        run::{FunnelOf, RunPage, run, title},
        shell::{SCRIPT, STYLESHEET},
    },
    terminal::trial::{FramesKept, TrialInput},
};

use crate::fixture::{Fixture, passed, trial};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!--]]>\u{2028}\u{2029}\\ud800";

fn hostile_run() -> Fixture {
    let mut fixture = Fixture::new();
    let failed = || trial("PPPF..", "argumentMismatch", Some("arguments"));
    fixture
        .case(
            "plain",
            "looks an order up",
            0.8,
            2,
            vec![passed(), passed()],
        )
        .case(
            "hostile",
            HOSTILE,
            1.0,
            3,
            vec![passed(), failed(), failed()],
        )
        .decide();
    fixture.run.suite_name = HOSTILE.to_owned();
    fixture
}

fn trace() -> Trace {
    serde_json::from_value(json!({"messages": [
        {"role": "user", "promptIndex": 0, "parts": [{"type": "text", "text": HOSTILE}]},
        {"role": "assistant", "promptIndex": 0, "parts": [{"type": "tool-call", "toolCallId": HOSTILE,
            "toolName": HOSTILE, "arguments": {HOSTILE: HOSTILE}}]},
        {"role": "tool", "promptIndex": 0, "parts": [{"type": "tool-result", "toolCallId": HOSTILE,
            "toolName": HOSTILE, "modelText": HOSTILE, "isError": true, "error": HOSTILE,
            "result": {"content": [{"type": "text", "text": HOSTILE}]}}]},
    ]}))
    .expect("a trace")
}

fn file(fixture: &Fixture, trace_budget: usize) -> String {
    let overview = run_overview(&fixture.run, &fixture.trials);
    let page = RunPage {
        run: &fixture.run,
        run_reference: "019ad2b4",
        overview: Some(&overview),
        funnel: FunnelOf::Absent(FunnelAbsence::Withheld, Some(HOSTILE)),
    };
    let called = title(&page);
    let mut file = FileReport::new(FileInput {
        run: &fixture.run,
        run_reference: "019ad2b4",
        title: &called,
        trials: fixture.trials.len() as u64,
        trace_budget,
    });
    let shown = run(file.links(), &page);
    let mut text = file.begin(&shown, &glossary());
    let trace = trace();
    let (passing, telling): (Vec<&TrialRecord>, Vec<&TrialRecord>) = fixture
        .trials
        .iter()
        .partition(|trial| !FileReport::comes_first(trial));
    for trial in telling.into_iter().chain(passing) {
        let input = TrialInput {
            run: &fixture.run,
            run_reference: "019ad2b4",
            trial,
            trace: file.has_room().then_some(&trace),
            frames: FramesKept::InTrace,
            judge_passes: &[],
        };
        text.push_str(&file.page(&input).expect("packs"));
    }
    for trial in &fixture.trials {
        text.push_str(&file.row(trial).expect("packs"));
    }
    text.push_str(&file.end().expect("packs"));
    text
}

/// Returns the text of the element with that id.
fn block<'a>(file: &'a str, id: &str) -> &'a str {
    let start = file.find(&format!("id=\"{id}\">")).expect(id);
    let text = &file[start..];
    let (_, text) = text.split_once('>').expect("an element");
    text.split_once("</script>").expect("its end").0
}

fn unpacked(file: &str, id: &str) -> Value {
    let packed = STANDARD.decode(block(file, id)).expect("base64");
    let mut list = String::new();
    DeflateDecoder::new(&*packed)
        .read_to_string(&mut list)
        .expect("deflated");
    serde_json::from_str(&list).expect("JSON")
}

#[test]
fn a_file_allows_its_own_script_and_stylesheet_and_nothing_else() {
    let text = file(&hostile_run(), TRACE_BUDGET);
    let allowed = policy(&[SCRIPT, FILE_SCRIPT], &[STYLESHEET, FILE_STYLESHEET]);
    assert!(text.contains(&format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{allowed}\">"
    )));
    assert!(text.contains(&format!("<script>{FILE_SCRIPT}</script>")));
    assert!(text.contains(&format!("<style>{FILE_STYLESHEET}</style>")));
    assert_eq!(text.matches("<script>").count(), 2);
    assert_eq!(text.matches("<style>").count(), 2);
    for own in [FILE_SCRIPT, FILE_STYLESHEET] {
        for end in ["</script", "</style", "<!--"] {
            assert!(!own.to_lowercase().contains(end), "{end}");
        }
    }
}

#[test]
fn nothing_in_a_file_comes_from_elsewhere() {
    let text = file(&hostile_run(), TRACE_BUDGET);
    let (_, body) = text.split_once("<body>").expect("a body");
    for outside in [
        "href=\"http",
        "href=\"/",
        " style=\"",
        " onclick=\"",
        "url(",
    ] {
        assert!(!body.contains(outside), "{outside}");
    }
    assert!(!body.contains("<img") && !body.contains("<link") && !body.contains("<iframe"));
}

#[test]
fn hostile_text_stays_text_in_page_data_and_packed_pages() {
    let text = file(&hostile_run(), TRACE_BUDGET);
    assert!(!text.contains("<img") && !text.contains('\u{2028}'));
    // Every end of a script is one of ours.
    assert_eq!(
        text.matches("</script").count(),
        text.matches("<script").count()
    );
    let index: Value = serde_json::from_str(block(&text, "index")).expect("JSON");
    let title = index["cases"][1]["title"].as_str().expect("a title");
    assert!(
        title.starts_with("</script><img src=x onerror=alert(1)>"),
        "{title}"
    );
    for page in unpacked(&text, "pages-0").as_array().expect("pages") {
        let page = page.as_str().expect("markup");
        assert!(
            !page.contains("<img") && !page.contains("<script") && !page.contains("<!--"),
            "{page}"
        );
    }
}

#[test]
fn every_row_leads_to_the_page_of_its_trial() {
    let fixture = hostile_run();
    let text = file(&fixture, TRACE_BUDGET);
    let index: Value = serde_json::from_str(block(&text, "index")).expect("JSON");
    assert_eq!(
        (&index["rows"], &index["rowBlocks"]),
        (&json!(5), &json!(1))
    );
    let rows = unpacked(&text, "rows-0");
    let pages = unpacked(&text, "pages-0");
    for (row, trial) in rows.as_array().expect("rows").iter().zip(&fixture.trials) {
        assert_eq!(row[0], trial.id, "rows stand in the plan's order");
        let case = row[1].as_u64().expect("a place") as usize;
        assert_eq!(fixture.run.plan[case].case_id, trial.case_id);
        let place = row[8].as_u64().expect("a place") as usize;
        let page = pages[place].as_str().expect("markup");
        let number = format!("trial {} of", trial.iteration_number + 1);
        assert!(page.contains(&number), "{number}: {page}");
    }
    let telling = &rows[3];
    assert_eq!(telling[4], "PPPF..");
    let reason = telling[5].as_u64().expect("a reason") as usize;
    assert_eq!(
        index["reasons"][reason],
        "the call's arguments differ from what the case requires"
    );
    let outcome = telling[3].as_u64().expect("an outcome") as usize;
    assert_eq!(index["outcomes"][outcome]["label"], "failed");
}

#[test]
fn beyond_its_budget_a_file_says_what_it_leaves_out() {
    let fixture = hostile_run();
    let without = file(&fixture, 0);
    assert!(without.contains("Timelines fill a budget of 0 bytes"));
    for page in unpacked(&without, "pages-0").as_array().expect("pages") {
        let page = page.as_str().expect("markup");
        assert!(page.contains("The timeline is not included"), "{page}");
        assert!(page.contains("strandline show 019ad2b4 --case "), "{page}");
        assert!(
            page.contains("class=\"strip\"") && page.contains("<table"),
            "{page}"
        );
    }
    let with = file(&fixture, TRACE_BUDGET);
    assert!(with.contains("Timelines fill a budget of 24 MiB"));
    let pages = unpacked(&with, "pages-0").to_string();
    assert!(!pages.contains("The timeline is not included"));
}
