//! Suspected condition: one advisory reading of one flagged trial
//! (`friction.md` §9). It changes no result, gate, verdict or chain row.

use std::fmt::Write as _;

use serde_json::Value;
use strandline_contract::{
    canonical::canonical_json,
    ecma::utf16_len,
    friction::{FrictionSignal, FrictionSignals},
    judgement::{ConditionEvidence, ConditionProvenance, SuspectedConditionVerdict},
    run::{ServerFacts, TrialRecord},
    words::{
        ConditionSkipReason, FrictionState, JudgeConfidence, JudgeKind, SuspectedCondition,
        Vocabulary,
    },
};

use super::{
    answer::{self, Unusable},
    fence::{Fence, cut, fill},
    samples::enough,
    template::{Prompt, Template},
};
use crate::friction::{FrictionInput, Window};

/// Longest remediation, UTF-16 units.
pub const MAX_REMEDIATION: usize = 300;
/// Longest field path, UTF-16 units.
pub const MAX_FIELD_PATH: usize = 120;
/// Longest result in a window, characters.
const MAX_RESULT: usize = 4_000;
/// Longest window, characters.
const MAX_WINDOW: usize = 24_000;
/// Longest definition of one tool, characters.
const MAX_TOOL: usize = 3_000;

/// A signal that is looked at, with the calls up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flagged {
    signal: FrictionSignal,
    window: Window,
}

/// Picks the signal of a trial that is looked at (§9.3): the first eligible
/// one that rests on identifiers, else the first eligible one.
#[must_use]
pub fn eligible_signal(friction: &FrictionSignals) -> Option<&FrictionSignal> {
    if friction.state != FrictionState::Measured {
        return None;
    }
    let eligible = || {
        friction.signals.iter().filter(|signal| match signal {
            FrictionSignal::IdentifierSurfacedUnused { .. }
            | FrictionSignal::SearchRepeatedAfterIdentifier { .. }
            | FrictionSignal::IdenticalRetry { .. } => true,
            FrictionSignal::ChangedRetry { after_error, .. } => *after_error,
            FrictionSignal::PaginationContinuation { .. } => false,
        })
    };
    eligible()
        .find(|signal| signal.kind().is_identifier())
        .or_else(|| eligible().next())
}

impl Flagged {
    /// Collects the evidence window of the signal that is looked at.
    #[must_use]
    pub fn of(friction: &FrictionSignals, input: &FrictionInput) -> Option<Self> {
        let signal = eligible_signal(friction)?.clone();
        let window = Window::until(input, signal.observed_at());
        Some(Self { signal, window })
    }

    /// Returns why nothing can be asked, as far as the evidence says so.
    #[must_use]
    pub fn skip_reason(&self) -> Option<ConditionSkipReason> {
        let results = || self.window.calls.iter().map(|call| call.result.as_ref());
        if results().any(|result| result.is_none()) {
            return Some(ConditionSkipReason::TraceIncomplete);
        }
        if !results().flatten().any(|result| result.readable) {
            return Some(ConditionSkipReason::NoEvidence);
        }
        None
    }

    /// Returns the facts that every verdict carries.
    #[must_use]
    pub fn provenance(
        &self,
        trial: &TrialRecord,
        model: &str,
        generated_at: i64,
    ) -> ConditionProvenance {
        let template = Template::of(JudgeKind::SuspectedCondition);
        ConditionProvenance {
            grading_key: format!("{}#{}", trial.case_id, trial.iteration_number),
            signal_kind: self.signal.kind().wire().to_owned(),
            information_call_index: self.signal.anchor(),
            observed_at_call_index: self.signal.observed_at(),
            judge_template_version: template.version.into(),
            judge_template_hash: template.hash(),
            model: model.to_owned(),
            generated_at: generated_at.unsigned_abs(),
        }
    }

    /// Makes the prompt: the window and the tools called in it; no later call,
    /// no final answer, no verdict, no chain, no expected call.
    #[must_use]
    pub fn prompt(&self, trial_id: &str, servers: &[ServerFacts]) -> Prompt {
        let window = self.window_text();
        let tools = self.tools_text(servers);
        let fence = Fence::around(trial_id, &[&window, &tools]);
        let data = [
            fence.wrap("calls and results", &window),
            fence.wrap("tools called", &tools),
        ]
        .join("\n\n");
        let pattern = format!(
            "The pattern: {} (call {} and call {}). An innocent reading: {}.",
            self.signal.kind().label(),
            self.signal.anchor(),
            self.signal.observed_at(),
            self.signal.kind().benign_reading()
        );
        let template = Template::of(JudgeKind::SuspectedCondition);
        Prompt {
            kind: JudgeKind::SuspectedCondition,
            system: fill(template.system, &[("key", fence.key())]),
            request: fill(template.request, &[("pattern", &pattern), ("data", &data)]),
            untrusted: vec![window, tools],
        }
    }

    fn window_text(&self) -> String {
        let mut text = String::new();
        for call in &self.window.calls {
            let _ = writeln!(
                text,
                "call {}: {} {}",
                call.index, call.tool_name, call.arguments
            );
            if let Some(result) = &call.result {
                let how = if result.is_error {
                    "error result"
                } else {
                    "result"
                };
                let _ = writeln!(text, "{how}: {}", cut(&result.text, MAX_RESULT));
            }
        }
        cut(&text, MAX_WINDOW)
    }

    fn tools_text(&self, servers: &[ServerFacts]) -> String {
        let mut text = String::new();
        for tool in servers.iter().flat_map(|server| &server.tools) {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if !self.calls_tool(name) {
                continue;
            }
            let description = tool.get("description").and_then(Value::as_str);
            let schema = tool.get("inputSchema").map(canonical_json);
            let definition = format!(
                "name: {name}\ndescription: {}\ninput schema: {}",
                description.unwrap_or("none"),
                schema.as_deref().unwrap_or("none"),
            );
            let _ = writeln!(text, "{}", cut(&self.window.masked(&definition), MAX_TOOL));
        }
        if text.is_empty() {
            text.push_str("no definition is known");
        }
        text
    }

    fn calls_tool(&self, name: &str) -> bool {
        let mut calls = self.window.calls.iter();
        !name.is_empty() && calls.any(|call| call.tool_name == name)
    }

    /// Tells whether a remediation names something of the server that can be
    /// changed, and nothing that is not the server's.
    fn names_server_lever(&self, remediation: &str) -> bool {
        const NOT_THE_SERVERS: [&str; 7] = [
            "prompt",
            "system prompt",
            "the model",
            "the agent",
            "temperature",
            "eval",
            "test case",
        ];
        let lower = remediation.to_ascii_lowercase();
        if NOT_THE_SERVERS.iter().any(|word| has_token(&lower, word)) {
            return false;
        }
        let tools = self.window.calls.iter().map(|call| call.tool_name.as_str());
        let paths = self.window.key_paths.iter().map(String::as_str);
        tools
            .chain(paths)
            .any(|lever| !lever.is_empty() && has_token(remediation, lever))
    }

    /// Reads an answer and demotes it where it must be (§9.4).
    ///
    /// # Errors
    ///
    /// Says why it is not the answer that was asked for.
    pub fn read_answer(&self, prompt: &Prompt, text: &str) -> Result<ConditionSample, Unusable> {
        // 1. Not the object that was asked for.
        let object = answer::object(text, &prompt.untrusted())?;
        let word = |key: &str| object.get(key).and_then(Value::as_str);
        let missing = |key: &'static str, message: &str| Unusable::new(key, message);
        let condition = word("condition")
            .ok_or_else(|| missing("conditionMissing", "`condition` must be one of the words"))?;
        let confidence = word("confidence")
            .and_then(JudgeConfidence::from_wire)
            .ok_or_else(|| {
                missing(
                    "confidenceMissing",
                    "`confidence` must be `low`, `medium` or `high`",
                )
            })?;
        let remediation = word("remediation").filter(|text| !text.trim().is_empty());
        let evidence = object
            .get("evidence")
            .filter(|evidence| !evidence.is_null());
        let evidence = evidence.map(read_evidence).transpose()?;

        let unclear = |note: &str| {
            Ok(ConditionSample {
                condition: SuspectedCondition::Unclear,
                confidence,
                remediation: None,
                evidence: None,
                notes: vec![format!("demoted to unclear: {note}")],
            })
        };
        // 2. Not a word of the vocabulary.
        let Some(condition) = SuspectedCondition::from_wire(condition) else {
            return unclear("no such condition");
        };
        // 3. Not sure.
        if confidence == JudgeConfidence::Low && condition != SuspectedCondition::Unclear {
            return unclear("the judge's confidence is low");
        }
        // 4. A named condition needs something that its server can change.
        let named = !matches!(
            condition,
            SuspectedCondition::Unclear | SuspectedCondition::ResponseWasClear
        );
        if named {
            match remediation {
                None => return unclear("no remediation"),
                Some(text) if utf16_len(text) > MAX_REMEDIATION => {
                    return unclear("the remediation is too long");
                }
                Some(text) if !self.names_server_lever(text) => {
                    return unclear("the remediation names nothing of the server");
                }
                Some(_) => {}
            }
        }
        // 5. Evidence outside of the window, or of another tool.
        if let Some(evidence) = &evidence {
            let call = self
                .window
                .calls
                .iter()
                .find(|call| u64::try_from(call.index) == Ok(evidence.call_index));
            if call.is_none_or(|call| call.tool_name != evidence.tool_name) {
                return unclear("its evidence is not a call of the window");
            }
        }
        // 6. An identifier value.
        let field_path = evidence
            .as_ref()
            .and_then(|evidence| evidence.field_path.as_deref());
        if [remediation, field_path]
            .into_iter()
            .flatten()
            .any(|text| self.window.names_value(text))
        {
            return unclear("it contains an identifier value");
        }
        Ok(ConditionSample {
            condition,
            confidence,
            remediation: remediation.filter(|_| named).map(str::to_owned),
            evidence: evidence.filter(|_| condition != SuspectedCondition::Unclear),
            notes: Vec::new(),
        })
    }
}

fn read_evidence(evidence: &Value) -> Result<ConditionEvidence, Unusable> {
    let unusable = || {
        Unusable::new(
            "evidenceMalformed",
            "`evidence` must hold `callIndex`, `toolName` and at most a `fieldPath` of 120 characters",
        )
    };
    let call_index = evidence
        .get("callIndex")
        .and_then(strandline_contract::number::as_count)
        .ok_or_else(unusable)?;
    let tool_name = evidence
        .get("toolName")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty())
        .ok_or_else(unusable)?;
    let field_path = match evidence.get("fieldPath") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) if path.is_empty() => None,
        Some(Value::String(path)) if utf16_len(path) <= MAX_FIELD_PATH => Some(path.clone()),
        Some(_) => return Err(unusable()),
    };
    Ok(ConditionEvidence {
        call_index,
        tool_name: tool_name.to_owned(),
        field_path,
    })
}

/// Tells whether `token` stands in a text with no word character beside it.
fn has_token(text: &str, token: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices(token).any(|(start, _)| {
        let bytes = text.as_bytes();
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(start + token.len());
        !before.is_some_and(|byte| is_word(*byte)) && !after.is_some_and(|byte| is_word(*byte))
    })
}

/// One usable answer, demoted where it had to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionSample {
    /// What is suspected.
    pub condition: SuspectedCondition,
    /// How sure the judge says it is.
    pub confidence: JudgeConfidence,
    /// One server-side change.
    pub remediation: Option<String>,
    /// Where it was seen.
    pub evidence: Option<ConditionEvidence>,
    /// Why it was demoted.
    pub notes: Vec<String>,
}

/// Makes one verdict of the samples: the condition that more than half of
/// those asked for name, at the least confidence among them; `unclear` where
/// none has a majority.
#[must_use]
pub fn aggregate_condition(
    asked: u32,
    samples: &[ConditionSample],
    provenance: ConditionProvenance,
) -> SuspectedConditionVerdict {
    if !enough(samples.len(), asked) {
        return SuspectedConditionVerdict::Error { provenance };
    }
    let agreeing = SuspectedCondition::ALL.iter().find_map(|condition| {
        let agreeing: Vec<&ConditionSample> = samples
            .iter()
            .filter(|sample| sample.condition == *condition)
            .collect();
        (agreeing.len() * 2 > samples.len()).then_some(agreeing)
    });
    let least = |samples: &mut dyn Iterator<Item = &ConditionSample>| {
        samples
            .map(|sample| sample.confidence)
            .min()
            .unwrap_or(JudgeConfidence::Low)
    };
    match agreeing.as_deref() {
        Some([first, ..]) => SuspectedConditionVerdict::Scored {
            condition: first.condition,
            confidence: least(&mut agreeing.iter().flatten().copied()),
            remediation: first.remediation.clone(),
            evidence: first.evidence.clone(),
            provenance,
        },
        _ => SuspectedConditionVerdict::Scored {
            condition: SuspectedCondition::Unclear,
            confidence: least(&mut samples.iter()),
            remediation: None,
            evidence: None,
            provenance,
        },
    }
}
