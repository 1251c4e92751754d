//! Metadata attribution: did the tools' own words mislead the model? Asked
//! only after selection failed, and believed only with a quote
//! (`chain.md` §9.4, `vocabulary.md` §4).

use std::fmt::Write as _;

use serde_json::Value;
use strandline_contract::{
    canonical::canonical_json,
    chain::Chain,
    ecma,
    judgement::{AttributionJudgement, JudgeProvenance},
    run::{ServerFacts, TrialRecord},
    trace::Trace,
    words::{JudgeAggregation, JudgeKind, JudgeStatus, Stage, StageState},
};

use super::{
    answer::{self, Unusable},
    fence::{self, Fence, cut, fill},
    samples::enough,
    template::{Prompt, Template},
    transcript,
};

/// Longest metadata of one tool, characters.
const MAX_TOOL: usize = 6_000;
/// Longest metadata of all tools, characters.
const MAX_TOOLS: usize = 80_000;
/// Shortest quote that is evidence, characters; a whole tool name may be
/// shorter.
const MIN_QUOTE: usize = 8;
/// Longest quote kept, characters.
const MAX_QUOTE: usize = 200;

/// What a server advertised about one tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolWords {
    /// The tool's name.
    pub name: String,
    /// Name, title, description and input schema as text.
    text: String,
}

/// Returns what the model was offered: the tools of its turns, or every tool
/// that was listed where the turns are not known.
#[must_use]
pub fn offered_tools(servers: &[ServerFacts], trace: &Trace) -> Vec<ToolWords> {
    let offered: Vec<&str> = trace
        .offered_tools
        .iter()
        .flat_map(|turn| &turn.tool_names)
        .map(String::as_str)
        .collect();
    servers
        .iter()
        .flat_map(|server| &server.tools)
        .filter_map(ToolWords::of)
        .filter(|tool| offered.is_empty() || offered.contains(&tool.name.as_str()))
        .collect()
}

impl ToolWords {
    fn of(tool: &Value) -> Option<Self> {
        let name = tool.get("name")?.as_str()?.to_owned();
        let mut text = format!("name: {name}\n");
        for key in ["title", "description"] {
            if let Some(words) = tool.get(key).and_then(Value::as_str) {
                let _ = writeln!(text, "{key}: {words}");
            }
        }
        if let Some(schema) = tool.get("inputSchema") {
            let _ = writeln!(text, "input schema: {}", canonical_json(schema));
        }
        Some(Self {
            name,
            text: cut(&text, MAX_TOOL),
        })
    }

    /// Tells whether the words stand in this tool's metadata, spaces aside.
    fn says(&self, quote: &str) -> bool {
        let same = |text: &str| ecma::collapse_whitespace(text);
        // The judge saw the text as the fence shows it.
        same(&fence::neutral(&self.text)).contains(&same(quote)) || self.text.contains(quote)
    }
}

/// Tells whether attribution is asked for: selection is where value stopped.
#[must_use]
pub fn selection_failed(chain: &Chain<'_>) -> bool {
    chain.first_failed_stage == Some(Stage::Selection)
        && chain
            .stage_results
            .iter()
            .any(|row| row.stage == Stage::Selection && row.state == StageState::Failed)
}

/// Makes the prompt; `None` when no tool was offered.
#[must_use]
pub fn attribution_prompt(
    trial: &TrialRecord,
    trace: &Trace,
    tools: &[ToolWords],
) -> Option<Prompt> {
    if tools.is_empty() {
        return None;
    }
    let requests = transcript::requests(trace).join("\n\n");
    let mut metadata = String::new();
    for (index, tool) in tools.iter().enumerate() {
        if metadata.chars().count() + tool.text.chars().count() > MAX_TOOLS {
            let _ = writeln!(metadata, "[{} tools left out here]", tools.len() - index);
            break;
        }
        let _ = writeln!(metadata, "{}", tool.text);
    }
    let calls = call_list(&trial.actual_tool_calls);
    let fence = Fence::around(&trial.id, &[&requests, &metadata, &calls]);
    let data = [
        fence.wrap("user request", &requests),
        fence.wrap("tool metadata", &metadata),
        fence.wrap("calls the assistant made", &calls),
    ]
    .join("\n\n");
    let expected = format!(
        "What the author of the test expected to be called: {}",
        call_list(&trial.expected_tool_calls).replace('\n', "; ")
    );
    let template = Template::of(JudgeKind::MetadataAttribution);
    Some(Prompt {
        kind: JudgeKind::MetadataAttribution,
        system: fill(template.system, &[("key", fence.key())]),
        request: fill(
            template.request,
            &[("expected", &expected), ("data", &data)],
        ),
        untrusted: vec![requests, metadata, calls],
    })
}

fn call_list(calls: &[Value]) -> String {
    if calls.is_empty() {
        return "no call".to_owned();
    }
    let lines: Vec<String> = calls
        .iter()
        .take(50)
        .map(|call| {
            let name = call.get("toolName").and_then(Value::as_str);
            let arguments = call.get("arguments").map(canonical_json);
            format!(
                "{} {}",
                name.unwrap_or("?"),
                cut(&arguments.unwrap_or_default(), 500)
            )
        })
        .collect();
    lines.join("\n")
}

/// One usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributionSample {
    /// The metadata is blamed, and quoted.
    pub attributed: bool,
    /// The quoted evidence.
    pub reasons: Vec<String>,
    /// What was dropped.
    pub notes: Vec<String>,
}

/// Reads an answer. A reason counts only when its quote stands in what the
/// server advertised; without one, nothing is attributed.
///
/// # Errors
///
/// Says why it is not the answer that was asked for.
pub fn read_attribution_answer(
    prompt: &Prompt,
    tools: &[ToolWords],
    text: &str,
) -> Result<AttributionSample, Unusable> {
    let object = answer::object(text, &prompt.untrusted())?;
    let claims = object
        .get("attributed")
        .and_then(Value::as_bool)
        .ok_or_else(|| {
            Unusable::new(
                "attributedMissing",
                "`attributed` must be `true` or `false`",
            )
        })?;
    let mut reasons = Vec::new();
    let mut notes = Vec::new();
    let given = object.get("reasons").and_then(Value::as_array);
    for reason in given.into_iter().flatten().filter(|_| claims) {
        let member = |key: &str| reason.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, quote) = (member("tool"), ecma::trim(member("quote")));
        let long_enough = quote.chars().count() >= MIN_QUOTE || quote == name;
        // Two servers may advertise tools of one name.
        let quoted = tools
            .iter()
            .find(|tool| tool.name == name && tool.says(quote));
        match quoted.filter(|_| long_enough && !quote.is_empty()) {
            Some(tool) => {
                let why = answer::kept(member("why"));
                let quote = answer::kept(&cut(quote, MAX_QUOTE));
                let colon = if why.is_empty() { "" } else { ": " };
                reasons.push(format!("`{}` says “{quote}”{colon}{why}", tool.name));
            }
            None => notes.push(
                "a reason was dropped: its quote does not stand in that tool's metadata".to_owned(),
            ),
        }
    }
    if claims && reasons.is_empty() {
        notes.push("not attributed: no quoted evidence".to_owned());
    }
    Ok(AttributionSample {
        attributed: claims && !reasons.is_empty(),
        reasons,
        notes,
    })
}

/// Makes one judgement of the samples: what more than half of those asked for
/// say.
#[must_use]
pub fn aggregate_attribution(
    asked: u32,
    samples: &[AttributionSample],
    failure: Option<&str>,
    provenance: JudgeProvenance,
) -> AttributionJudgement {
    let count = |items: usize| u32::try_from(items).unwrap_or(u32::MAX);
    let votes = samples.iter().filter(|sample| sample.attributed).count();
    let judgement = AttributionJudgement {
        status: JudgeStatus::Error,
        attributed: None,
        reasons: Vec::new(),
        error: None,
        votes: count(votes),
        answered: count(samples.len()),
        samples: asked,
        aggregation: JudgeAggregation::Majority,
        straddle: votes > 0 && votes < samples.len(),
        provenance,
    };
    if !enough(samples.len(), asked) {
        return AttributionJudgement {
            error: Some(format!(
                "{} of {asked} samples of the LLM judge can be used: {}",
                samples.len(),
                failure.unwrap_or("no answer")
            )),
            ..judgement
        };
    }
    let attributed = votes * 2 > samples.len();
    let mut reasons: Vec<String> = Vec::new();
    for reason in samples.iter().flat_map(|sample| &sample.reasons) {
        if attributed && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    AttributionJudgement {
        status: JudgeStatus::Scored,
        attributed: Some(attributed),
        reasons,
        ..judgement
    }
}
