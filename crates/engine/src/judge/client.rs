//! Who is asked: a model of a provider, or a script.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use strandline_contract::{
    providers::SCRIPTED,
    run::Usage,
    trace::{Message, Part, Role},
    words::{JudgeKind, Vocabulary},
};
use strandline_derive::judge::template::Prompt;
use tokio_util::sync::CancellationToken;

use crate::models::{ModelClient, ModelError, ModelErrorKind, ModelRequest};

/// One question to a judge.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The case's id, for a scripted judge.
    pub case_id: &'a str,
    /// The trial's ordinal, for a scripted judge.
    pub iteration_number: u32,
    /// Ordinal among the samples of this judgement, from 0.
    pub sample: u32,
    /// What is asked.
    pub prompt: &'a Prompt,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer as text; empty when it was withheld.
    pub text: String,
    /// Why the model stopped, in the provider's own word.
    pub finish_reason: Option<String>,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// Tokens used.
    pub usage: Usage,
    /// Requests made, retries included.
    pub attempts: u32,
}

/// Somebody who answers a judge's questions.
#[async_trait::async_trait]
pub trait Judge: Send + Sync {
    /// Returns the provider's name.
    fn provider(&self) -> &str;

    /// Returns the model's name without the provider.
    fn model(&self) -> &str;

    /// Asks once.
    async fn ask(
        &self,
        question: Question<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelError>;
}

/// A judge that is a model of a provider.
pub struct ModelJudge(pub Arc<dyn ModelClient>);

#[async_trait::async_trait]
impl Judge for ModelJudge {
    fn provider(&self) -> &str {
        self.0.provider()
    }

    fn model(&self) -> &str {
        self.0.model()
    }

    async fn ask(
        &self,
        question: Question<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelError> {
        let messages = [Message {
            role: Role::User,
            prompt_index: 0,
            parts: vec![Part::Text {
                text: question.prompt.request.clone(),
            }],
        }];
        let request = ModelRequest {
            system: Some(&question.prompt.system),
            messages: &messages,
            tools: &[],
            // Samples are to differ as the model's own answers do.
            temperature: None,
            seed: None,
            iteration_number: question.iteration_number,
            asked: question.sample,
        };
        let response = self.0.complete(request, cancel).await?;
        let text = response
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::ToolCall { .. } | Part::ToolResult { .. } => None,
            })
            .collect::<Vec<_>>()
            .join("\n");
        Ok(Reply {
            text,
            finish_reason: response.finish_reason,
            served_model: response.served_model,
            usage: response.usage,
            attempts: response.attempts,
        })
    }
}

/// A judge whose answers are written down, for tests and examples.
///
/// `{"goalCompletion": […], "metadataAttribution": […],
/// "suspectedCondition": […], "cases": {ID: {…the same…}}}`; a case's own list
/// wins. An answer is an object (sent as its JSON), a text (sent as it is),
/// `{"$fail": CODE}` (the provider fails) or `{"$refuse": true}` (it withholds
/// the answer). Sample `s` of trial `t` takes answer `t·k + s`, in rotation.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedJudge {
    answers: BTreeMap<(Option<String>, JudgeKind), Vec<Value>>,
    samples: u32,
}

impl ScriptedJudge {
    /// Reads a script; `samples` is k.
    ///
    /// # Errors
    ///
    /// Says which key or answer cannot be used.
    pub fn parse(script: &Value, samples: u32) -> Result<Self, String> {
        let Value::Object(members) = script else {
            return Err("a judge script is an object".to_owned());
        };
        let mut answers = BTreeMap::new();
        for (key, value) in members {
            if key != "cases" {
                answers.insert((None, kind(key)?), list(key, value)?);
                continue;
            }
            let Value::Object(cases) = value else {
                return Err("`cases` is an object of case ids".to_owned());
            };
            for (case, kinds) in cases {
                let Value::Object(kinds) = kinds else {
                    return Err(format!("`cases.{case}` is an object"));
                };
                for (key, value) in kinds {
                    let place = format!("cases.{case}.{key}");
                    answers.insert((Some(case.clone()), kind(key)?), list(&place, value)?);
                }
            }
        }
        Ok(Self { answers, samples })
    }

    fn error(kind: ModelErrorKind, message: String) -> ModelError {
        ModelError {
            provider: SCRIPTED.to_owned(),
            kind,
            message,
            http_status: None,
            code: None,
            retry_after: None,
            attempts: 1,
        }
    }
}

fn kind(word: &str) -> Result<JudgeKind, String> {
    JudgeKind::from_wire(word).ok_or_else(|| {
        let known: Vec<&str> = JudgeKind::ALL.iter().map(|kind| kind.wire()).collect();
        format!(
            "`{word}` is no judgement: known are `{}` and `cases`",
            known.join("`, `")
        )
    })
}

fn list(place: &str, value: &Value) -> Result<Vec<Value>, String> {
    let answers = value
        .as_array()
        .filter(|answers| !answers.is_empty())
        .ok_or_else(|| format!("`{place}` is a list of at least one answer"))?;
    for answer in answers {
        if !answer.is_object() && !answer.is_string() {
            return Err(format!("an answer of `{place}` is an object or a text"));
        }
        if let Some(code) = answer.get("$fail")
            && code
                .as_str()
                .and_then(ModelErrorKind::from_code)
                .is_none_or(|kind| kind == ModelErrorKind::Cancelled)
        {
            return Err(format!("`{place}`: `$fail` is no provider error: {code}"));
        }
    }
    Ok(answers.clone())
}

#[async_trait::async_trait]
impl Judge for ScriptedJudge {
    fn provider(&self) -> &'static str {
        SCRIPTED
    }

    fn model(&self) -> &'static str {
        "judge"
    }

    async fn ask(
        &self,
        question: Question<'_>,
        _cancel: &CancellationToken,
    ) -> Result<Reply, ModelError> {
        let kind = question.prompt.kind;
        let own = (Some(question.case_id.to_owned()), kind);
        let answers = self
            .answers
            .get(&own)
            .or_else(|| self.answers.get(&(None, kind)))
            .ok_or_else(|| {
                let message = format!(
                    "the judge script has no `{kind}` for case `{}`",
                    question.case_id
                );
                Self::error(ModelErrorKind::Script, message)
            })?;
        let place = u64::from(question.iteration_number) * u64::from(self.samples)
            + u64::from(question.sample);
        let length = u64::try_from(answers.len()).unwrap_or(u64::MAX).max(1);
        let index = usize::try_from(place % length).unwrap_or_default();
        let answer = answers.get(index).cloned().unwrap_or_default();
        if let Some(code) = answer.get("$fail").and_then(Value::as_str) {
            let kind = ModelErrorKind::from_code(code).unwrap_or(ModelErrorKind::Script);
            let message = format!("answer {} fails as written", index + 1);
            return Err(Self::error(kind, message));
        }
        let refused = answer.get("$refuse").is_some();
        Ok(Reply {
            text: match answer {
                _ if refused => String::new(),
                Value::String(text) => text,
                answer => answer.to_string(),
            },
            finish_reason: Some(if refused { "refusal" } else { "stop" }.to_owned()),
            served_model: None,
            usage: Usage::default(),
            attempts: 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_says_what_is_wrong_with_it() {
        for (script, message) in [
            (json!([]), "a judge script is an object"),
            (json!({"goal": []}), "`goal` is no judgement"),
            (
                json!({"goalCompletion": []}),
                "a list of at least one answer",
            ),
            (json!({"goalCompletion": [1]}), "is an object or a text"),
            (
                json!({"cases": {"c": {"goalCompletion": [{"$fail": "nonsense"}]}}}),
                "`$fail` is no provider error",
            ),
        ] {
            let error = ScriptedJudge::parse(&script, 1).expect_err("refused");
            assert!(error.contains(message), "{error}");
        }
    }
}
