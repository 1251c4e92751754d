//! Lists what a server offers, page by page.

use std::collections::BTreeSet;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams,
};
use serde_json::Value;
use strandline_contract::trace::Lint;
use tokio::time::{Instant, timeout_at};

use super::{
    Listing, PhaseFailure, Session,
    attribution::Cause,
    call::{Ended, RequestBounds, request},
    rpc_error::{read_error, shown},
    slot::Answer,
};

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tools,
    Prompts,
    Resources,
}

/// All pages of one listing.
struct Pages {
    items: Vec<Value>,
    pages: u64,
}

impl Session {
    /// Lists tools, and prompts and resources where the server declares them.
    ///
    /// Waits for late tools as long as [`ConnectOptions::settle`] says.
    ///
    /// # Errors
    ///
    /// Fails when the tools cannot be listed in full. Prompts and resources
    /// that cannot be listed are findings.
    ///
    /// [`ConnectOptions::settle`]: super::ConnectOptions::settle
    pub async fn list(&self) -> Result<Listing, PhaseFailure> {
        let mut lints = Vec::new();
        let tools = self.settled_tools(&mut lints).await?;
        let mut listing = Listing {
            tool_pages: tools.pages,
            tools: tools.items,
            prompts: self.optional(Kind::Prompts, &mut lints).await,
            resources: self.optional(Kind::Resources, &mut lints).await,
            lints,
        };
        if listing.tools.is_empty() {
            listing
                .lints
                .push(self.finding("noTools", "The server advertises no tools."));
        }
        Ok(listing)
    }

    /// Lists the tools again and again until the settle window is over.
    async fn settled_tools(&self, lints: &mut Vec<Lint>) -> Result<Pages, PhaseFailure> {
        let deadline = Instant::now() + self.options().settle;
        self.tap().take_tools_changed();
        let mut tools = self.pages(Kind::Tools, lints).await?;
        while timeout_at(deadline, self.tap().wait_tools_changed())
            .await
            .is_ok()
        {
            self.tap().take_tools_changed();
            tools = self.pages(Kind::Tools, lints).await?;
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(tools)
    }

    async fn optional(&self, kind: Kind, lints: &mut Vec<Lint>) -> Option<Vec<Value>> {
        self.capabilities()?.get(kind.capability())?;
        match self.pages(kind, lints).await {
            Ok(pages) => Some(pages.items),
            Err(failure) => {
                lints.push(self.finding(kind.failed_lint(), &failure.message));
                None
            }
        }
    }

    /// Follows the cursors to the last page.
    async fn pages(&self, kind: Kind, lints: &mut Vec<Lint>) -> Result<Pages, PhaseFailure> {
        let mut items = Vec::new();
        let mut seen = BTreeSet::new();
        let mut cursor = None;
        let most = self.options().limits.pages;
        for page in 1..=most {
            let mut result = self.page(kind, cursor.take()).await?;
            let found = match result.get_mut(kind.member()).map(Value::take) {
                Some(Value::Array(found)) => found,
                other => return Err(kind.malformed(other.as_ref(), &result)),
            };
            items.extend(found);
            match result.get("nextCursor") {
                None | Some(Value::Null) => return Ok(Pages { items, pages: page }),
                Some(Value::String(next)) => {
                    if next.is_empty() {
                        lints.push(self.finding(
                            "emptyCursor",
                            &format!("`{}` gave an empty cursor.", kind.method()),
                        ));
                    }
                    if !seen.insert(next.clone()) {
                        return Err(PhaseFailure::new(
                            Cause::Other,
                            "list_cursor_loop",
                            format!(
                                "`{}` gave cursor {} a second time on page {page}",
                                kind.method(),
                                shown(&Value::from(next.as_str()))
                            ),
                        ));
                    }
                    cursor = Some(next.clone());
                }
                Some(other) => {
                    return Err(PhaseFailure::new(
                        Cause::Other,
                        "list_malformed",
                        format!(
                            "`{}` gave a cursor that is no string: {}",
                            kind.method(),
                            shown(other)
                        ),
                    ));
                }
            }
        }
        Err(PhaseFailure::new(
            Cause::Other,
            "list_too_many_pages",
            format!("`{}` has more than {most} pages", kind.method()),
        ))
    }

    async fn page(&self, kind: Kind, cursor: Option<String>) -> Result<Value, PhaseFailure> {
        let budget = self.options().list_timeout;
        let started = Instant::now();
        let bounds = RequestBounds {
            timeout: budget,
            reset_on_progress: false,
            cancel: &self.options().cancel,
            capture: None,
        };
        let failure = match request(self.peer(), self.tap(), kind.request(cursor), bounds).await {
            Ended::Answered(Answer::Result(result)) => return Ok(result),
            Ended::Answered(Answer::Error(error)) => match read_error(&error) {
                Ok(error) => PhaseFailure::new(
                    Cause::McpCode(error.code),
                    "list_error",
                    format!("`{}` was answered with {error}", kind.method()),
                ),
                Err(message) => kind.unreadable(&message),
            },
            Ended::Answered(Answer::Malformed { message, .. }) => kind.unreadable(&message),
            Ended::Answered(Answer::Failed { failure, .. }) => failure,
            Ended::Lost(detail) => PhaseFailure::new(
                // The session was proven, so the peer went away.
                Cause::ConnectionReset,
                "transport_lost",
                format!("`{}`: {}", kind.method(), self.lost(detail).await),
            ),
            Ended::TimedOut => PhaseFailure::timed_out(kind.method(), budget, started.elapsed()),
            Ended::Cancelled => PhaseFailure::cancelled("listing"),
        };
        Err(failure.redacted(self.redactor()))
    }

    fn finding(&self, code: &str, message: &str) -> Lint {
        Lint {
            code: code.to_owned(),
            server: self.server().to_owned(),
            tool_name: None,
            message: message.to_owned(),
        }
    }
}

impl Kind {
    const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
        }
    }

    const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }

    const fn capability(self) -> &'static str {
        self.member()
    }

    const fn failed_lint(self) -> &'static str {
        match self {
            Self::Tools => "toolsListFailed",
            Self::Prompts => "promptsListFailed",
            Self::Resources => "resourcesListFailed",
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        match self {
            Self::Tools => ClientRequest::ListToolsRequest(ListToolsRequest {
                params,
                ..ListToolsRequest::default()
            }),
            Self::Prompts => ClientRequest::ListPromptsRequest(ListPromptsRequest {
                params,
                ..ListPromptsRequest::default()
            }),
            Self::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest {
                params,
                ..ListResourcesRequest::default()
            }),
        }
    }

    fn malformed(self, member: Option<&Value>, result: &Value) -> PhaseFailure {
        let what = match member {
            Some(member) => format!("`{}` is no list: {}", self.member(), shown(member)),
            None => format!("`{}` is missing: {}", self.member(), shown(result)),
        };
        self.unreadable(&what)
    }

    fn unreadable(self, what: &str) -> PhaseFailure {
        PhaseFailure::new(
            Cause::Other,
            "list_malformed",
            format!("`{}` was answered unreadably: {what}", self.method()),
        )
    }
}
