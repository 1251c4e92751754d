//! Prompts: why did a run not pass, and how is a suite written.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};

/// What every conclusion from a run must keep to.
const POPULATION: &str = include_str!("prompts/population.md");
const TRIAGE: &str = include_str!("prompts/triage.md");
const AUTHOR: &str = include_str!("prompts/author.md");
/// Longest argument, characters.
const MAX_ARGUMENT: usize = 500;

/// Returns every prompt.
pub(crate) fn listed() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, required: bool| {
        PromptArgument::new(name)
            .with_description(description)
            .with_required(required)
    };
    vec![
        Prompt::new(
            "triage_run",
            Some("Find out why a run did not pass, from its decision down to the evidence of single trials."),
            Some(vec![argument(
                "run",
                "The run's id, the beginning of it, or `last` (the default).",
                false,
            )]),
        )
        .with_title("Why did this run not pass?"),
        Prompt::new(
            "author_suite",
            Some("Write an eval suite for an MCP server: which cases, how asked, what each asserts."),
            Some(vec![
                argument("server", "The server to test: its name, command or URL.", true),
                argument("goal", "What the suite must find out, in a sentence.", false),
            ]),
        )
        .with_title("Write an eval suite"),
    ]
}

/// Returns a prompt filled in.
pub(crate) fn get(
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| -> Result<Option<String>, ErrorData> {
        match arguments.and_then(|arguments| arguments.get(name)) {
            None => Ok(None),
            Some(value) => match value.as_str().map(str::trim) {
                None => Err(ErrorData::invalid_params(
                    format!("the argument `{name}` must be a text"),
                    None,
                )),
                Some("") => Ok(None),
                Some(text) => Ok(Some(text.chars().take(MAX_ARGUMENT).collect())),
            },
        }
    };
    let (description, text) = match name {
        "triage_run" => {
            let run = argument("run")?.unwrap_or_else(|| "last".to_owned());
            ("Triage of a run", TRIAGE.replace("{run}", &run))
        }
        "author_suite" => {
            let server = argument("server")?.ok_or_else(|| {
                ErrorData::invalid_params("the prompt `author_suite` needs `server`", None)
            })?;
            let goal = argument("goal")?
                .unwrap_or_else(|| "what users of the server can and cannot get done".to_owned());
            let text = AUTHOR.replace("{goal}", &goal).replace("{server}", &server);
            ("Authoring of a suite", text)
        }
        other => {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt `{other}`"),
                None,
            ));
        }
    };
    let text = format!("{}\n\n{}", text.trim_end(), POPULATION.trim_end());
    Ok(
        GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
            .with_description(description),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_listed_prompt_is_there_and_tells_the_population_rules() {
        for prompt in listed() {
            let arguments = json!({"run": "0199", "server": "orders", "goal": "refunds"});
            let filled = get(&prompt.name, arguments.as_object()).expect("a prompt");
            let text = serde_json::to_string(&filled.messages).expect("messages");
            assert!(text.contains("k of n"), "{text}");
            assert!(!text.contains('{') || !text.contains("{run}"), "{text}");
        }
        assert!(get("triage_run", None).is_ok(), "`last` is the default");
        assert!(get("author_suite", None).is_err(), "a server is needed");
        assert!(get("other", None).is_err());
    }
}
