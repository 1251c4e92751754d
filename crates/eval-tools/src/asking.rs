//! Asks the user whether servers may be started or reached.

use std::time::Duration;

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use serde_json::{Value, json};
use strandline_contract::canonical::sha256_canonical;

use crate::{
    desk::Desk,
    failure::Failure,
    tool::{Call, Halt},
    trust::Candidate,
};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(300);
/// The key of our question among a request's questions.
const QUESTION: &str = "trust";
/// The member of the answer that says whether to remember it.
const REMEMBER: &str = "remember";

/// Makes sure that the user trusts servers; asks where the client can ask, and
/// refuses where it cannot. Returns what could not be remembered, if anything.
///
/// # Errors
///
/// A failure that names each command or URL and the flag; or the question, for
/// clients that ask again with its answer.
pub(crate) async fn ensure_trusted(
    desk: &Desk,
    candidates: Vec<Candidate>,
    call: &Call,
) -> Result<Option<String>, Halt> {
    let untrusted = desk.trust().missing(candidates);
    if untrusted.is_empty() {
        return Ok(None);
    }
    let answer = ask(&untrusted, call).await?;
    match answer.action {
        ElicitationAction::Accept => {
            desk.trust().trust(&untrusted);
            let remember = answer
                .content
                .as_ref()
                .and_then(|content| content.get(REMEMBER));
            if remember != Some(&Value::Bool(true)) {
                return Ok(None);
            }
            let remembered = desk.trust().remember(&untrusted, desk.root());
            Ok(remembered
                .err()
                .map(|why| format!("the servers are trusted for this session only: {why}")))
        }
        ElicitationAction::Decline | ElicitationAction::Cancel => Err(Failure::new(format!(
            "the user did not allow this run to {}",
            actions(&untrusted)
        ))
        .hint("do not try again by another way; ask the user what to run instead")
        .into()),
        _ => Err(Failure::new("the client's answer to the question about trust is unknown").into()),
    }
}

/// Says what a run would do, in one sentence part.
fn actions(untrusted: &[Candidate]) -> String {
    let actions: Vec<String> = untrusted
        .iter()
        .map(|server| format!("{} (server `{}`)", server.shown, server.name))
        .collect();
    actions.join(", and to ")
}

async fn ask(untrusted: &[Candidate], call: &Call) -> Result<ElicitResult, Halt> {
    let fingerprints: Vec<&str> = untrusted
        .iter()
        .map(|server| server.fingerprint.as_str())
        .collect();
    // Binds an answer that comes with a later request to what was asked.
    let state = sha256_canonical(&json!(fingerprints));
    if let Some(answer) = call.answer_to(QUESTION, &state) {
        return serde_json::from_value(answer).map_err(|error| {
            Failure::new(format!(
                "the answer to the question about trust cannot be read: {error}"
            ))
            .into()
        });
    }
    let question = question(untrusted)?;
    let later = call
        .context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let can_ask = call
        .context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation.clone())
        .is_some_and(|able| able.form.is_some() || able.url.is_none());
    if !can_ask {
        return Err(refusal(untrusted).into());
    }
    if later {
        let request = InputRequest::Elicitation(ElicitRequest::new(question));
        let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
        let result = InputRequiredResult::new(Some(requests), Some(state));
        return Err(Halt::Ask(Box::new(result)));
    }
    let peer = &call.context.peer;
    peer.create_elicitation_with_timeout(question, Some(PATIENCE))
        .await
        .map_err(|error| {
            Failure::new(format!(
                "the user could not be asked whether this run may {}: {error}",
                actions(untrusted)
            ))
            .hint("ask the user to allow it with `strandline mcp --trust-servers`")
            .into()
        })
}

fn refusal(untrusted: &[Candidate]) -> Failure {
    Failure::new(format!(
        "the servers of this suite are not trusted yet: the run would {}, and this client cannot ask the user",
        actions(untrusted)
    ))
    .hint("tell the user exactly what would be started or reached; who agrees restarts these tools with `strandline mcp --trust-servers`, or runs the suite by hand with `strandline run`")
}

fn question(untrusted: &[Candidate]) -> Result<ElicitRequestParams, Failure> {
    let lines: Vec<String> = untrusted
        .iter()
        .map(|server| format!("- {} (server `{}` of the suite)", server.shown, server.name))
        .collect();
    let requested_schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            REMEMBER: {
                "type": "boolean",
                "title": "Remember this",
                "description": "Do not ask again about exactly these commands and URLs.",
                "default": false,
            },
        },
    }))
    .map_err(|error| Failure::new(format!("the question about trust cannot be asked: {error}")))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!(
            "An eval run is about to do this on your machine, with your rights:\n{}\nAllow it only if you know these servers.",
            lines.join("\n")
        ),
        requested_schema,
    })
}
