//! What the single file of a long run costs: bytes and time.
//!
//! `cargo run --release -p strandline-report --example file_report TRIALS FILE`
//! writes the file of a made-up run, in which every tenth trial stopped
//! somewhere and some of the text wants to be run. `bench/file.sh` opens it in
//! a browser.

use std::{
    fs::File,
    io::{BufWriter, Write},
    time::Instant,
};

use serde_json::{Value, json};
use strandline_contract::{
    run::{RunRecord, TrialRecord},
    trace::Trace,
    words::{FunnelAbsence, Stage, Vocabulary},
};
use strandline_derive::overview::OverviewCounter;
use strandline_report::{
    html::{
        file::{FileInput, FileReport, TRACE_BUDGET},
        glossary::glossary,
        run::{self, FunnelOf, RunPage},
    },
    terminal::trial::{FramesKept, TrialInput},
};

/// Trials of one case: the most that a suite may configure.
const PER_CASE: u32 = 100;
/// Text that wants to be more than text.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!-- ]]> \u{2028} \\ud800 {{7*7}}";

#[expect(
    clippy::disallowed_methods,
    reason = "the example measures how long it takes"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let trials: u32 = match arguments.next() {
        Some(count) => count.parse()?,
        None => 100_000,
    };
    let path = arguments
        .next()
        .ok_or("where to: file_report TRIALS FILE")?;
    let begun = Instant::now();
    let run = made_up(trials)?;
    let mut counter = OverviewCounter::default();
    for number in 0..trials {
        counter.add(&trial(&run, number)?);
    }
    let overview = counter.finish(&run);
    let page = RunPage {
        run: &run,
        run_reference: "019ad2b4",
        overview: Some(&overview),
        funnel: FunnelOf::Absent(FunnelAbsence::NotRecorded, None),
    };
    let title = run::title(&page);
    let mut file = FileReport::new(FileInput {
        run: &run,
        run_reference: "019ad2b4",
        title: &title,
        trials: trials.into(),
        trace_budget: TRACE_BUDGET,
    });
    let mut out = BufWriter::new(File::create(&path)?);
    let shown = run::run(file.links(), &page);
    out.write_all(file.begin(&shown, &glossary()).as_bytes())?;
    for passing in [false, true] {
        for number in 0..trials {
            let trial = trial(&run, number)?;
            if FileReport::comes_first(&trial) != passing {
                let trace = if file.has_room() {
                    Some(trace(number)?)
                } else {
                    None
                };
                let part = file.page(&TrialInput {
                    run: &run,
                    run_reference: "019ad2b4",
                    trial: &trial,
                    trace: trace.as_ref(),
                    frames: FramesKept::InTrace,
                    judge_passes: &[],
                })?;
                out.write_all(part.as_bytes())?;
            }
            if passing {
                out.write_all(file.row(&trial)?.as_bytes())?;
            }
        }
    }
    out.write_all(file.end()?.as_bytes())?;
    out.flush()?;
    let bytes = std::fs::metadata(&path)?.len();
    writeln!(
        std::io::stdout(),
        "{trials} trials: {:.1} MiB in {:.1} s",
        bytes as f64 / f64::from(1 << 20),
        begun.elapsed().as_secs_f64()
    )?;
    Ok(())
}

fn made_up(trials: u32) -> serde_json::Result<RunRecord> {
    let plan: Vec<Value> = (0..trials.div_ceil(PER_CASE))
        .map(|case| {
            let title = match case {
                0 => HOSTILE.to_owned(),
                _ => format!("refunds a late order, case {case}"),
            };
            json!({
                "caseId": format!("case-{case}"), "title": title,
                "configuredTrials": PER_CASE.min(trials - case * PER_CASE),
                "passThreshold": 0.8, "variant": {"model": "small-1", "provider": "openai"},
            })
        })
        .collect();
    serde_json::from_value(json!({
        "id": "019ad2b4-0000-7000-8000-000000000000", "status": "completed",
        "suiteId": "orders", "suiteName": "Orders server", "suitePath": "suites/orders.yaml",
        "sourceHash": "0", "resolvedHash": "0", "resolvedSuite": {}, "settings": {}, "servers": [],
        "plan": plan, "startedAt": 1_796_083_200_000_i64, "endedAt": 1_796_083_900_000_i64,
        "scripted": false, "strandlineVersion": "0.1.0",
    }))
}

/// Strips of made-up trials with the reason of their telling row.
const STRIPS: [(&str, &str, &str); 4] = [
    ("PPF...", "missingToolCall", "selection"),
    ("PPPF..", "argumentMismatch", "arguments"),
    ("PPPPF.", "toolError", "serverData"),
    ("PPPPPF", "predicateFailed", "userValue"),
];

fn trial(run: &RunRecord, number: u32) -> serde_json::Result<TrialRecord> {
    let case = &run.plan[(number / PER_CASE) as usize];
    let passed = !number.is_multiple_of(10);
    let (strip, reason, category) = match passed {
        true => ("PPPPPP", "observed", ""),
        false => STRIPS[(number / 10) as usize % STRIPS.len()],
    };
    let mut failed = None;
    let rows: Vec<Value> = Stage::ALL
        .iter()
        .zip(strip.chars())
        .map(|(stage, mark)| {
            let (state, usual) = match mark {
                'P' => ("passed", "observed"),
                'F' => ("failed", reason),
                _ => ("notReached", "earlierStageFailed"),
            };
            if mark == 'F' && failed.is_none() {
                failed = Some(stage.wire());
            }
            let said = format!(
                "{} of trial {number}: expected 40, got \"40.00\"",
                stage.label()
            );
            let mut row = json!({"stage": stage, "state": state, "reason": usual});
            if mark != '.' {
                row["evidence"] = json!({"predicateReasons": [said], "spanIds": ["s2"]});
            }
            row
        })
        .collect();
    let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12});
    if let Some(stage) = failed {
        chain["firstFailedStage"] = json!(stage);
        chain["failureCategory"] = json!(category);
    }
    let started = 1_796_083_200_000_i64 + i64::from(number) * 7;
    serde_json::from_value(json!({
        "id": format!("019ad2b4-{:04x}-7{:03x}-8{:03x}-{:012x}", number >> 8, number % 4096,
            number.wrapping_mul(2_654_435_761) % 4096, u64::from(number).wrapping_mul(0x9e37_79b9_7f4a) & 0xffff_ffff_ffff),
        "runId": run.id, "caseId": case.case_id, "title": case.title, "variant": case.variant,
        "iterationNumber": number % PER_CASE, "status": "completed",
        "result": if passed { "passed" } else { "failed" },
        "startedAt": started, "endedAt": started + 700 + i64::from(number % 900),
        "chainInput": {}, "chain": chain, "stageMeasurements": measured(strip, number),
        "usage": {"inputTokens": 900 + number % 50, "outputTokens": 40 + number % 9, "totalTokens": 960},
        "modelRequests": 2, "modelWaitMs": 500.5, "serverWaitMs": 20.25,
    }))
}

fn measured(strip: &str, number: u32) -> Value {
    let rows: Vec<Value> = Stage::ALL
        .iter()
        .zip(strip.chars())
        .map(|(stage, mark)| {
            let reach = if mark == '.' { "notReached" } else { "reached" };
            let mut row = json!({"stage": stage, "reach": reach});
            if mark != '.' && matches!(stage, Stage::Selection | Stage::Call | Stage::Response) {
                row["latency"] = json!({
                    "unit": "ms", "basis": "evidence_span_union",
                    "value": f64::from(number % 700) + 0.25,
                });
            }
            row
        })
        .collect();
    json!({"schemaVersion": 1, "stageAnalyzerVersion": 12, "rows": rows})
}

fn trace(number: u32) -> serde_json::Result<Trace> {
    let at = 1_796_083_200_000.0 + f64::from(number) * 7.0;
    let text = if number.is_multiple_of(10) {
        HOSTILE
    } else {
        "Refunded order 17."
    };
    serde_json::from_value(json!({
        "messages": [
            {"role": "user", "promptIndex": 0, "parts": [{"type": "text", "text": format!("Refund order {number}. {text}")}]},
            {"role": "assistant", "promptIndex": 0, "parts": [{"type": "tool-call", "toolCallId": "c1",
                "toolName": "refund_order", "arguments": {"order": number, "amount": "40.00", "note": text}}]},
            {"role": "tool", "promptIndex": 0, "parts": [{"type": "tool-result", "toolCallId": "c1",
                "toolName": "refund_order", "modelText": text, "isError": false,
                "result": {"content": [{"type": "text", "text": text}]}}]},
            {"role": "assistant", "promptIndex": 0, "parts": [{"type": "text", "text": text}]},
        ],
        "spans": [
            {"id": "s1", "name": "chat small-1", "category": "llm", "status": "ok", "promptIndex": 0,
                "startedAt": at + 2.0, "endedAt": at + 403.0},
            {"id": "s2", "name": "tools/call refund_order", "category": "tool", "status": "ok", "promptIndex": 0,
                "toolName": "refund_order", "toolCallId": "c1", "startedAt": at + 405.0, "endedAt": at + 460.0},
            {"id": "s3", "name": "chat small-1", "category": "llm", "status": "ok", "promptIndex": 0,
                "startedAt": at + 462.0, "endedAt": at + 690.0},
        ],
        "frames": [
            {"at": at + 405.0, "server": "shop", "direction": "sent", "bytes": 120,
                "text": format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\"}}")},
            {"at": at + 460.0, "server": "shop", "direction": "received", "bytes": 90, "text": text},
        ],
    }))
}
