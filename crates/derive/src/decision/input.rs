//! What a summary is made of (`decision-summary.md` §3).
//!
//! Where a field is optional, `null`, another type and absent act alike unless
//! the field's own comment says otherwise.

use std::borrow::Cow;

use serde_json::{Map, Value};
use strandline_contract::{
    chain::Chain,
    number,
    run::{RunRecord, TrialRecord},
    verdict::VERDICT_POLICY_VERSION,
    words::Vocabulary,
};
use thiserror::Error;

/// A run with one page of its iterations.
#[derive(Debug, Clone)]
pub struct SummaryInput<'a> {
    /// Used for trace paths only.
    pub project_id: Cow<'a, str>,
    /// The run.
    pub run: RunInput<'a>,
    /// One page of iterations, in API order.
    pub iterations: Vec<IterationInput<'a>>,
    /// What the page covers.
    pub page: Page<'a>,
}

/// The run as it is stored.
#[derive(Debug, Clone)]
pub struct RunInput<'a> {
    /// The run's id.
    pub id: Cow<'a, str>,
    /// Its lifecycle, verbatim.
    pub status: Cow<'a, str>,
    /// What a run without policy v2 recorded.
    pub result: Option<Cow<'a, str>>,
    /// `{total?, passed?, failed?}` of a run without policy v2.
    pub summary: Option<Cow<'a, Value>>,
    /// The run was, or was to be, decided under policy v2.
    pub policy_v2: bool,
    /// The stored policy-v2 decision.
    pub decision: Option<Cow<'a, Value>>,
    /// Why there is no decision to read; not empty.
    pub integrity_error: Option<Cow<'a, str>>,
}

/// One iteration as it is stored.
#[derive(Debug, Clone)]
pub struct IterationInput<'a> {
    /// The iteration's id.
    pub id: Cow<'a, str>,
    /// Its ordinal.
    pub iteration_number: u64,
    /// Its lifecycle, verbatim.
    pub status: Cow<'a, str>,
    /// What its checks say; only `passed` keeps it out of the diagnostics.
    pub result: Option<Cow<'a, str>>,
    /// The case's declared id.
    pub case_id: Option<Cow<'a, str>>,
    /// The case's id in a store.
    pub test_case_id: Option<Cow<'a, str>>,
    /// The case's title.
    pub title: Option<Cow<'a, str>>,
    /// The error on record.
    pub error: Option<Cow<'a, str>>,
    /// Calls that the case requires.
    pub expected_tool_calls: Cow<'a, [Value]>,
    /// Calls that were made.
    pub actual_tool_calls: Cow<'a, [Value]>,
    /// The chain on record.
    pub chain: StoredChain<'a>,
}

/// A chain as it is stored; a `null` is there, an absent key is `None`.
#[derive(Debug, Clone, Default)]
pub struct StoredChain<'a> {
    /// The rows.
    pub stage_results: Option<Cow<'a, Value>>,
    /// The stage of the first failed row.
    pub first_failed_stage: Option<Cow<'a, Value>>,
    /// The bucket the failure is grouped under.
    pub failure_category: Option<Cow<'a, Value>>,
    /// The version of the rules that derived it.
    pub analyzer_version: Option<Cow<'a, Value>>,
    /// A store already refused the chain and withheld it.
    pub unverified: bool,
}

/// What a page of iterations covers.
#[derive(Debug, Clone, Default)]
pub struct Page<'a> {
    /// The iterations hold the run's whole non-passing set.
    pub complete: bool,
    /// Where the next page starts; an empty cursor is none.
    pub next_cursor: Option<Cow<'a, str>>,
}

/// An input that no summary can be made of.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{path}` must be {expected}")]
pub struct MalformedSummaryInput {
    /// Where in the input.
    pub path: String,
    /// What belongs there.
    pub expected: &'static str,
}

/// Reads an object's members, knowing where it lies.
struct Reader<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl<'a> Reader<'a> {
    fn new(value: Option<&'a Value>, path: String) -> Result<Self, MalformedSummaryInput> {
        match value.and_then(Value::as_object) {
            Some(object) => Ok(Self { object, path }),
            None => Err(MalformedSummaryInput {
                path,
                expected: "an object",
            }),
        }
    }

    fn malformed(&self, key: &str, expected: &'static str) -> MalformedSummaryInput {
        MalformedSummaryInput {
            path: format!("{}.{key}", self.path),
            expected,
        }
    }

    fn text(&self, key: &str) -> Result<Cow<'a, str>, MalformedSummaryInput> {
        self.optional_text(key)
            .ok_or_else(|| self.malformed(key, "a string"))
    }

    fn optional_text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.object
            .get(key)
            .and_then(Value::as_str)
            .map(Cow::Borrowed)
    }

    fn value(&self, key: &str) -> Option<Cow<'a, Value>> {
        self.object.get(key).map(Cow::Borrowed)
    }

    fn list(&self, key: &str) -> Cow<'a, [Value]> {
        let list = self.object.get(key).and_then(Value::as_array);
        Cow::Borrowed(list.map_or(&[], Vec::as_slice))
    }
}

impl<'a> SummaryInput<'a> {
    /// Reads `{projectId, run, iterations, page}`.
    ///
    /// # Errors
    ///
    /// Fails where a required field is missing or of another type.
    pub fn from_json(input: &'a Value) -> Result<Self, MalformedSummaryInput> {
        let root = Reader::new(Some(input), "input".to_owned())?;
        let run = Reader::new(root.object.get("run"), "run".to_owned())?;
        let page = Reader::new(root.object.get("page"), "page".to_owned())?;
        let Some(Value::Array(iterations)) = root.object.get("iterations") else {
            return Err(root.malformed("iterations", "an array"));
        };
        Ok(Self {
            project_id: root.text("projectId")?,
            run: RunInput::read(&run)?,
            iterations: iterations
                .iter()
                .enumerate()
                .map(|(index, iteration)| {
                    let path = format!("iterations[{index}]");
                    IterationInput::read(&Reader::new(Some(iteration), path)?)
                })
                .collect::<Result<_, _>>()?,
            page: Page {
                complete: page
                    .object
                    .get("complete")
                    .and_then(Value::as_bool)
                    .ok_or_else(|| page.malformed("complete", "a boolean"))?,
                next_cursor: page.optional_text("nextCursor"),
            },
        })
    }
}

impl<'a> RunInput<'a> {
    fn read(run: &Reader<'a>) -> Result<Self, MalformedSummaryInput> {
        let version = run.object.get("verdictPolicyVersion");
        Ok(Self {
            id: run.text("id")?,
            status: run.text("status")?,
            result: run.optional_text("result"),
            summary: run.value("summary"),
            policy_v2: version.and_then(number::as_count) == Some(VERDICT_POLICY_VERSION),
            decision: run.value("verdictSummary"),
            integrity_error: run
                .optional_text("verdictPolicyIntegrityError")
                .filter(|error| !error.is_empty()),
        })
    }
}

impl<'a> IterationInput<'a> {
    fn read(iteration: &Reader<'a>) -> Result<Self, MalformedSummaryInput> {
        let unverified = iteration.object.get("stageResultsUnverified");
        Ok(Self {
            id: iteration.text("id")?,
            iteration_number: iteration
                .object
                .get("iterationNumber")
                .and_then(number::as_count)
                .ok_or_else(|| iteration.malformed("iterationNumber", "a count"))?,
            status: iteration.text("status")?,
            result: iteration.optional_text("result"),
            case_id: iteration.optional_text("caseId"),
            test_case_id: iteration.optional_text("testCaseId"),
            title: iteration.optional_text("title"),
            error: iteration.optional_text("error"),
            expected_tool_calls: iteration.list("expectedToolCalls"),
            actual_tool_calls: iteration.list("actualToolCalls"),
            chain: StoredChain {
                stage_results: iteration.value("stageResults"),
                first_failed_stage: iteration.value("firstFailedStage"),
                failure_category: iteration.value("failureCategory"),
                analyzer_version: iteration.value("stageAnalyzerVersion"),
                unverified: unverified == Some(&Value::Bool(true)),
            },
        })
    }
}

/// Our own runs are always decided under policy v2.
impl<'a> From<&'a RunRecord> for RunInput<'a> {
    fn from(run: &'a RunRecord) -> Self {
        Self {
            id: Cow::Borrowed(&run.id),
            status: Cow::Borrowed(run.status.wire()),
            result: None,
            summary: None,
            policy_v2: true,
            decision: run.decision.as_ref().map(Cow::Borrowed),
            integrity_error: run
                .integrity_error
                .as_deref()
                .filter(|error| !error.is_empty())
                .map(Cow::Borrowed),
        }
    }
}

impl<'a> From<&'a TrialRecord> for IterationInput<'a> {
    fn from(trial: &'a TrialRecord) -> Self {
        Self {
            id: Cow::Borrowed(&trial.id),
            iteration_number: u64::from(trial.iteration_number),
            status: Cow::Borrowed(trial.status.wire()),
            result: trial.result.map(|result| Cow::Borrowed(result.wire())),
            case_id: Some(Cow::Borrowed(&trial.case_id)),
            test_case_id: None,
            title: Some(Cow::Borrowed(&trial.title)),
            error: trial
                .error
                .as_ref()
                .map(|error| Cow::Borrowed(error.message.as_str())),
            expected_tool_calls: Cow::Borrowed(&trial.expected_tool_calls),
            actual_tool_calls: Cow::Borrowed(&trial.actual_tool_calls),
            chain: StoredChain::from(&trial.chain),
        }
    }
}

impl From<&Chain<'_>> for StoredChain<'_> {
    fn from(chain: &Chain<'_>) -> Self {
        let word = |word: &'static str| Cow::Owned(Value::from(word));
        Self {
            // A chain always has a JSON form; `null` would read as unverified.
            stage_results: Some(Cow::Owned(
                serde_json::to_value(&chain.stage_results).unwrap_or_default(),
            )),
            first_failed_stage: chain.first_failed_stage.map(|stage| word(stage.wire())),
            failure_category: chain.failure_category.map(|category| word(category.wire())),
            analyzer_version: Some(Cow::Owned(Value::from(chain.stage_analyzer_version))),
            unverified: false,
        }
    }
}
