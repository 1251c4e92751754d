//! Rules filed under user value: what the user got (`assertions.md` §8.5).

use std::sync::LazyLock;

use regex::Regex;
use strandline_contract::{
    ecma,
    transcript::{RenderObservation, TokenUsage},
    words::RenderStatus,
};

use super::{
    distance::relative_distance,
    evidence::{Evidence, Scope},
    outcome::{Outcome, Params, Unusable, malformed},
    patterns::MAX_SUBJECT,
    reason::{counted, shown_list, shown_pattern, shown_text},
    regexes::{Search, StepLimit},
    response::{at_least, folded, shown_number},
    rule::Rule,
};

/// Longest text that is compared with a reference, in UTF-16 code units.
const MAX_COMPARED: usize = 100_000;

/// The final answer contains a text.
pub(super) struct ResponseContains {
    needle: String,
    case_sensitive: bool,
}

impl ResponseContains {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let case_sensitive = params.switch("caseSensitive")?;
        Ok(Self {
            needle: folded(&params.text("needle")?, case_sensitive),
            case_sensitive,
        })
    }
}

impl Rule for ResponseContains {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let message = evidence.message();
        let needle = shown_pattern(&self.needle);
        if message.is_empty() {
            return Outcome::Fail(format!("no final answer, so it lacks \"{needle}\""));
        }
        let contains = folded(message, self.case_sensitive).contains(&self.needle);
        Outcome::scored(
            contains,
            format!(
                "the final answer {} \"{needle}\": \"{}\"",
                if contains { "contains" } else { "lacks" },
                shown_text(message)
            ),
        )
    }
}

/// The final answer matches a pattern.
pub(super) struct ResponseMatches {
    pattern: String,
    search: Search,
}

/// A repetition inside a repetition: what makes backtracking explode.
static NESTED_QUANTIFIER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[+*}]\??\)[+*{]").expect("the pattern is a constant and a test compiles it")
});

impl ResponseMatches {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let pattern = params.text("pattern")?;
        if pattern.is_empty() {
            return Err(malformed("`pattern` is empty"));
        }
        if NESTED_QUANTIFIER.is_match(&pattern) {
            return Err(Outcome::Fail(format!(
                "`{}` nests a quantifier in a quantifier",
                shown_pattern(&pattern)
            )));
        }
        let search = Search::compile(&pattern).map_err(|error| {
            Outcome::Fail(format!(
                "`{}` does not compile: {error}",
                shown_pattern(&pattern)
            ))
        })?;
        Ok(Self { pattern, search })
    }
}

impl Rule for ResponseMatches {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let message = evidence.message();
        let pattern = shown_pattern(&self.pattern);
        if ecma::utf16_len(message) > MAX_SUBJECT {
            return Outcome::Fail(format!(
                "the final answer is longer than {MAX_SUBJECT} characters and is not searched"
            ));
        }
        match self.search.is_match(message) {
            Ok(matches) => Outcome::scored(
                matches,
                format!(
                    "the final answer {} `{pattern}`: \"{}\"",
                    if matches { "matches" } else { "does not match" },
                    shown_text(message)
                ),
            ),
            Err(StepLimit) => {
                Outcome::Fail(format!("searching for `{pattern}` took too many steps"))
            }
        }
    }
}

/// The final answer is close to a reference.
pub(super) struct ResponseCloseTo {
    reference: String,
    max_distance: f64,
    case_sensitive: bool,
    normalize_whitespace: bool,
}

impl ResponseCloseTo {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let bad = |what: &str| Outcome::Error(format!("the rule cannot be used: {what}"));
        let reference = params
            .text("reference")
            .map_err(|_| bad("`reference` is not a string"))?;
        if reference.is_empty() || ecma::utf16_len(&reference) > MAX_COMPARED {
            return Err(bad("`reference` must have 1 to 100000 characters"));
        }
        let max_distance = params
            .get("maxDistance")
            .and_then(serde_json::Value::as_f64)
            .filter(|distance| (0.0..=1.0).contains(distance))
            .ok_or_else(|| bad("`maxDistance` is not a number from 0 to 1"))?;
        let mut rule = Self {
            reference: String::new(),
            max_distance,
            case_sensitive: params
                .switch("caseSensitive")
                .map_err(|_| bad("`caseSensitive` is neither true nor false"))?,
            normalize_whitespace: params
                .switch("normalizeWhitespace")
                .map_err(|_| bad("`normalizeWhitespace` is neither true nor false"))?,
        };
        rule.reference = rule.normalized(&reference);
        if rule.reference.is_empty() {
            return Err(bad("`reference` is empty once it is normalized"));
        }
        Ok(rule)
    }

    fn normalized(&self, text: &str) -> String {
        let text = folded(text, self.case_sensitive);
        if self.normalize_whitespace {
            ecma::collapse_whitespace(&text)
        } else {
            text
        }
    }
}

impl Rule for ResponseCloseTo {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let Some(message) = evidence.transcript().final_assistant_message.as_deref() else {
            return Outcome::Error("there is no final answer to compare".to_owned());
        };
        let too_long = || Outcome::Error("the texts are too long to be compared".to_owned());
        if ecma::utf16_len(message) > MAX_COMPARED {
            return too_long();
        }
        let answer = self.normalized(message);
        if ecma::utf16_len(&answer) > MAX_COMPARED
            || ecma::utf16_len(&self.reference) > MAX_COMPARED
        {
            return too_long();
        }
        let Ok(distance) = relative_distance(&answer, &self.reference) else {
            return too_long();
        };
        Outcome::scored(
            distance <= self.max_distance,
            format!(
                "distance {distance:.3} to the reference, at most {} demanded: \"{}\"",
                shown_number(self.max_distance),
                shown_text(message)
            ),
        )
    }
}

/// The final answer is not blank.
pub(super) struct FinalAssistantMessageNonEmpty;

impl Rule for FinalAssistantMessageNonEmpty {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        if ecma::is_blank(evidence.message()) {
            Outcome::Fail("no final answer".to_owned())
        } else {
            Outcome::Pass(format!(
                "there is a final answer: \"{}\"",
                shown_text(evidence.message())
            ))
        }
    }
}

/// The last line of the final answer does not end with a question mark.
pub(super) struct NoEndingQuestion;

impl Rule for NoEndingQuestion {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        // `\r\n` is covered: the `\r` left behind is trimmed.
        let last = evidence
            .message()
            .split('\n')
            .map(ecma::trim)
            .rfind(|line| !line.is_empty());
        match last {
            None => Outcome::Pass("no final answer, so no question ends it".to_owned()),
            Some(line) => Outcome::scored(
                !line.ends_with('?'),
                format!("the final answer ends: \"{}\"", shown_text(line)),
            ),
        }
    }
}

/// Strictly fewer tokens than a bound.
pub(super) struct TokenBudgetUnder {
    tokens: u64,
}

impl TokenBudgetUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            tokens: params.bound("tokens")?,
        })
    }
}

impl Rule for TokenBudgetUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let usage = evidence.transcript().usage.unwrap_or_default();
        if usage == TokenUsage::default() {
            return Outcome::Fail("no tokens were reported".to_owned());
        }
        let total = usage
            .total_tokens
            .unwrap_or_default()
            .max(usage.input_tokens.unwrap_or_default() + usage.output_tokens.unwrap_or_default());
        Outcome::scored(
            !at_least(total, self.tokens),
            format!(
                "{} tokens, fewer than {} demanded",
                shown_number(total),
                self.tokens
            ),
        )
    }
}

/// Strictly fewer turns than a bound.
pub(super) struct TurnCountUnder {
    turns: u64,
}

impl TurnCountUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            turns: params.bound("turns")?,
        })
    }
}

impl Rule for TurnCountUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        match evidence.transcript().turn_count {
            Some(count) if count >= 0.0 && count.fract() == 0.0 => Outcome::scored(
                !at_least(count, self.turns),
                format!(
                    "{} user turns, fewer than {} demanded",
                    shown_number(count),
                    self.turns
                ),
            ),
            Some(_) | None => Outcome::Fail("the number of user turns is not known".to_owned()),
        }
    }
}

/// Some watched widget rendered.
pub(super) struct WidgetRendered {
    scope: Scope,
}

impl WidgetRendered {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for WidgetRendered {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let observations = evidence.observations_in(&self.scope);
        let rendered = observations.iter().filter(|seen| is_rendered(seen)).count();
        Outcome::scored(
            rendered > 0,
            format!(
                "{rendered} of {} of {} rendered",
                counted(observations.len(), "watched widget"),
                self.scope.label()
            ),
        )
    }
}

fn is_rendered(observation: &RenderObservation) -> bool {
    observation.status == RenderStatus::Rendered
}

/// The slowest rendered widget took less than a bound.
pub(super) struct WidgetRenderLatencyUnder {
    ms: u64,
    scope: Scope,
}

impl WidgetRenderLatencyUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            ms: params.bound("ms")?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for WidgetRenderLatencyUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let rendered: Vec<f64> = evidence
            .observations_in(&self.scope)
            .into_iter()
            .filter(|seen| is_rendered(seen))
            .map(|seen| seen.elapsed_ms)
            .collect();
        if rendered.is_empty() {
            return Outcome::Fail(format!("0 rendered widgets of {}", self.scope.label()));
        }
        let slowest = rendered.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Outcome::scored(
            !at_least(slowest, self.ms),
            format!(
                "slowest of {} of {}: {} ms, under {} ms demanded",
                counted(rendered.len(), "rendered widget"),
                self.scope.label(),
                shown_number(slowest),
                self.ms
            ),
        )
    }
}

/// No watched widget wrote an error to its console.
pub(super) struct WidgetNoConsoleErrors {
    scope: Scope,
}

impl WidgetNoConsoleErrors {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for WidgetNoConsoleErrors {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let observations = evidence.observations_in(&self.scope);
        if observations.is_empty() {
            return Outcome::Fail(format!("0 watched widgets of {}", self.scope.label()));
        }
        let errors: Vec<String> = observations
            .iter()
            .flat_map(|seen| seen.console_errors.iter().flatten())
            .map(|error| format!("\"{}\"", shown_text(error)))
            .collect();
        Outcome::scored(
            errors.is_empty(),
            if errors.is_empty() {
                format!(
                    "{} of {}, no console error",
                    counted(observations.len(), "watched widget"),
                    self.scope.label()
                )
            } else {
                format!(
                    "{}: {}",
                    counted(errors.len(), "console error"),
                    shown_list(&errors)
                )
            },
        )
    }
}
