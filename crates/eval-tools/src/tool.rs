//! What a tool is: a name, words for an agent, schemas, hints and a function.

use std::{pin::Pin, sync::Arc};

use rmcp::{
    model::{
        Annotations, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
        InputResponses, JsonObject, ProgressNotificationParam, Role, TextContent, Tool,
        ToolAnnotations,
    },
    service::{RequestContext, RoleServer},
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{bounds::MAX_ANSWER, desk::Desk, failure::Failure, schema};

/// What a call may do, for clients that ask before some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads the project, the store or the vocabulary.
    Reads,
    /// It starts servers and models under test, whose calls may do anything.
    Runs,
    /// It ends something that may be ended again without further effect.
    Stops,
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title);
        match self {
            Self::Reads => hints
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
            Self::Runs => hints
                .read_only(false)
                .destructive(true)
                .idempotent(false)
                .open_world(true),
            Self::Stops => hints
                .read_only(false)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        }
    }
}

/// One tool.
pub(crate) trait EvalTool: 'static {
    /// What it takes.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it gives.
    type Output: Serialize + JsonSchema + Send + 'static;
    /// Its name, in snake case.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does and when to use it, for an agent.
    const DESCRIPTION: &'static str;
    /// What a call may do.
    const EFFECT: Effect = Effect::Reads;

    /// Does the work.
    fn call(
        desk: &Desk,
        input: Self::Input,
        call: &Call,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Halt>> + Send;
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Call {
    /// Who asked, and how to reach them.
    pub(crate) context: RequestContext<RoleServer>,
    /// What the client answered to a question of ours.
    pub(crate) responses: Option<InputResponses>,
    /// What we gave the client to bring back with its answer.
    pub(crate) state: Option<String>,
}

impl Call {
    /// Returns the answer to a question that was asked in the given state.
    pub(crate) fn answer_to(&self, question: &str, state: &str) -> Option<Value> {
        let asked = self.state.as_deref() == Some(state);
        let answer = self.responses.as_ref()?.get(question)?;
        asked.then(|| answer.clone())
    }

    /// Tells the client how far the call is, where it asked for that.
    pub(crate) async fn notify(&self, done: u64, total: Option<u64>, message: &str) {
        let Some(token) = self.context.meta.get_progress_token() else {
            return;
        };
        let mut progress = ProgressNotificationParam::new(token, done as f64).with_message(message);
        if let Some(total) = total {
            progress = progress.with_total(total as f64);
        }
        // A client that is gone needs no progress.
        let _ = self.context.peer.notify_progress(progress).await;
    }
}

/// What a tool gives.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    /// A few sentences for people.
    pub(crate) text: String,
    /// The document.
    pub(crate) content: T,
}

/// Why a tool gives nothing.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It cannot.
    Failure(Failure),
    /// The client must answer a question and ask again.
    Ask(Box<InputRequiredResult>),
}

impl<F: Into<Failure>> From<F> for Halt {
    fn from(failure: F) -> Self {
        Self::Failure(failure.into())
    }
}

/// A future that a table can hold.
type Boxed<'a> = Pin<Box<dyn Future<Output = CallToolResponse> + Send + 'a>>;

/// A tool as the table holds it.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    input: fn() -> Arc<JsonObject>,
    output: fn() -> Arc<JsonObject>,
    run: for<'a> fn(&'a Desk, Map<String, Value>, &'a Call) -> Boxed<'a>,
}

impl Definition {
    pub(crate) const fn of<T: EvalTool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            effect: T::EFFECT,
            input: schema::input::<T::Input>,
            output: schema::output::<T::Output>,
            run: |desk, arguments, call| Box::pin(run::<T>(desk, arguments, call)),
        }
    }

    /// Returns the tool as it is listed.
    pub(crate) fn tool(&self) -> Tool {
        Tool::new(self.name, self.description, (self.input)())
            .with_title(self.title)
            .with_raw_output_schema((self.output)())
            .with_annotations(self.effect.annotations(self.title))
    }

    /// Calls the tool; whatever goes wrong is a tool error.
    pub(crate) fn call<'a>(
        &self,
        desk: &'a Desk,
        arguments: Map<String, Value>,
        call: &'a Call,
    ) -> Boxed<'a> {
        (self.run)(desk, arguments, call)
    }
}

async fn run<T: EvalTool>(
    desk: &Desk,
    mut arguments: Map<String, Value>,
    call: &Call,
) -> CallToolResponse {
    // Some clients write `null` for what is not given.
    arguments.retain(|_, value| !value.is_null());
    let input = match serde_json::from_value(Value::Object(arguments)) {
        Ok(input) => input,
        Err(error) => {
            let failure = Failure::new(format!(
                "the arguments of `{}` do not fit: {error}",
                T::NAME
            ))
            .hint("its input schema says what it takes; names are camelCase");
            return failed(&failure);
        }
    };
    match T::call(desk, input, call).await {
        Ok(answer) => answered::<T>(&answer),
        Err(Halt::Failure(failure)) => failed(&failure),
        Err(Halt::Ask(question)) => (*question).into(),
    }
}

/// Returns the text for people first; then the document as JSON text for
/// clients that do not read structured content.
fn answered<T: EvalTool>(answer: &Answer<T::Output>) -> CallToolResponse {
    let document = match serde_json::to_value(&answer.content) {
        Ok(document) => document,
        Err(error) => {
            return failed(&Failure::new(format!(
                "the answer of `{}` has no JSON form: {error}",
                T::NAME
            )));
        }
    };
    let json = document.to_string();
    if json.len() > MAX_ANSWER {
        let failure = Failure::new(format!(
            "the answer of `{}` has {} bytes, and at most {MAX_ANSWER} are sent",
            T::NAME,
            json.len()
        ))
        .hint("ask for less: a lower `limit`, one case, or one part");
        return failed(&failure);
    }
    let for_people = Annotations::default().with_audience(vec![Role::User, Role::Assistant]);
    let for_programs = Annotations::default().with_audience(vec![Role::Assistant]);
    let mut result = CallToolResult::success(vec![
        ContentBlock::Text(TextContent::new(answer.text.clone()).with_annotations(for_people)),
        ContentBlock::Text(TextContent::new(json).with_annotations(for_programs)),
    ]);
    result.structured_content = Some(document);
    result.into()
}

fn failed(failure: &Failure) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(failure.text())]).into()
}
