//! Lists what a server offers, page by page.

use std::{collections::BTreeSet, time::Duration};

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams,
};
use serde_json::Value;
use strandline_contract::trace::Lint;
use strandline_derive::surface::tools::lint_listing;
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
#[derive(Default)]
struct Pages {
    items: Vec<Value>,
    pages: u64,
    lints: Vec<Lint>,
}

/// Longest wait for prompts or resources, which are facts only.
const FACTS_TIMEOUT: Duration = Duration::from_secs(5);

/// The JSON-RPC code for a method that is not served.
const METHOD_NOT_FOUND: i64 = -32_601;

impl Session {
    /// Lists tools, and prompts and resources where the server declares them.
    ///
    /// # Errors
    ///
    /// As [`Session::list_tools`]. Prompts and resources that cannot be listed
    /// are findings.
    pub async fn list(&self) -> Result<Listing, PhaseFailure> {
        let mut listing = self.list_tools().await?;
        let (prompts, resources) =
            tokio::join!(self.facts(Kind::Prompts), self.facts(Kind::Resources));
        for (facts, place) in [
            (prompts, &mut listing.prompts),
            (resources, &mut listing.resources),
        ] {
            match facts {
                None => {}
                Some(Ok(pages)) => {
                    *place = Some(pages.items);
                    listing.lints.extend(pages.lints);
                }
                Some(Err(lint)) => listing.lints.push(lint),
            }
        }
        Ok(listing)
    }

    /// Lists tools alone, with the findings about them.
    ///
    /// Waits for late tools as long as [`ConnectOptions::settle`] says.
    ///
    /// # Errors
    ///
    /// Fails when the tools cannot be listed in full within
    /// [`ConnectOptions::list_timeout`].
    ///
    /// [`ConnectOptions::settle`]: super::ConnectOptions::settle
    /// [`ConnectOptions::list_timeout`]: super::ConnectOptions::list_timeout
    pub async fn list_tools(&self) -> Result<Listing, PhaseFailure> {
        let tools = self.settled_tools().await?;
        let mut lints = tools.lints;
        if tools.items.is_empty() {
            lints.push(self.finding("noTools", "The server advertises no tools."));
        }
        lints.extend(lint_listing(self.server(), &tools.items));
        self.note_promises(&tools.items);
        Ok(Listing {
            tools: tools.items,
            tool_pages: tools.pages,
            lints,
            ..Listing::default()
        })
    }

    /// Lists the tools again and again until the settle window is over.
    async fn settled_tools(&self) -> Result<Pages, PhaseFailure> {
        let deadline = Instant::now() + self.options().settle;
        let mut tools = self.tools().await?;
        while Instant::now() < deadline
            && timeout_at(deadline, self.tap().wait_tools_changed())
                .await
                .is_ok()
        {
            tools = self.tools().await?;
        }
        Ok(tools)
    }

    async fn tools(&self) -> Result<Pages, PhaseFailure> {
        self.tap().take_tools_changed();
        let listed = self.pages(Kind::Tools, self.options().list_timeout).await;
        match listed {
            // A server without tools need not know the method.
            Err(failure)
                if failure.mcp_code == Some(METHOD_NOT_FOUND) && !self.declares(Kind::Tools) =>
            {
                Ok(Pages::default())
            }
            Ok(mut pages) => {
                if !pages.items.is_empty() && !self.declares(Kind::Tools) {
                    pages.lints.push(self.finding(
                        "toolsNotDeclared",
                        "The server lists tools and does not declare the capability.",
                    ));
                }
                Ok(pages)
            }
            failed => failed,
        }
    }

    async fn facts(&self, kind: Kind) -> Option<Result<Pages, Lint>> {
        if !self.declares(kind) {
            return None;
        }
        let budget = self.options().list_timeout.min(FACTS_TIMEOUT);
        let listed = self.pages(kind, budget).await;
        Some(listed.map_err(|failure| self.finding(kind.failed_lint(), &failure.message)))
    }

    fn declares(&self, kind: Kind) -> bool {
        self.capabilities()
            .is_some_and(|capabilities| capabilities.contains_key(kind.member()))
    }

    /// Follows the cursors to the last page within a budget.
    async fn pages(&self, kind: Kind, budget: Duration) -> Result<Pages, PhaseFailure> {
        let started = Instant::now();
        let mut read = Pages::default();
        let mut weight = 0;
        let mut seen = BTreeSet::new();
        let mut cursor = None;
        let limits = self.options().limits;
        loop {
            let mut result = self.page(kind, cursor.take(), started, budget).await?;
            read.pages += 1;
            let found = match result.get_mut(kind.member()).map(Value::take) {
                Some(Value::Array(found)) => found,
                other => return Err(kind.malformed(other.as_ref(), &result)),
            };
            weight += found.iter().map(weight_of).sum::<usize>();
            read.items.extend(found);
            let next = match result.get("nextCursor") {
                None | Some(Value::Null) => return Ok(read),
                Some(Value::String(next)) if next.is_empty() => {
                    self.tap().adapt(
                        "emptyCursor",
                        "An empty cursor was read as the end of a list.",
                    );
                    read.lints.push(self.finding(
                        "emptyCursor",
                        &format!("`{}` gave an empty cursor.", kind.method()),
                    ));
                    return Ok(read);
                }
                Some(Value::String(next)) => next.clone(),
                Some(other) => {
                    return Err(
                        kind.unreadable(&format!("its cursor is no string: {}", shown(other)))
                    );
                }
            };
            if read.pages >= limits.pages || weight > limits.listing_bytes {
                return Err(PhaseFailure::new(
                    Cause::Other,
                    "list_too_long",
                    format!(
                        "`{}` goes on after {} pages with {} entries; at most {} pages or {} bytes are read",
                        kind.method(),
                        read.pages,
                        read.items.len(),
                        limits.pages,
                        limits.listing_bytes
                    ),
                ));
            }
            if !seen.insert(next.clone()) {
                return Err(PhaseFailure::new(
                    Cause::Other,
                    "list_cursor_loop",
                    format!(
                        "`{}` gave cursor {} a second time on page {}",
                        kind.method(),
                        shown(&Value::from(next)),
                        read.pages
                    ),
                ));
            }
            cursor = Some(next);
        }
    }

    async fn page(
        &self,
        kind: Kind,
        cursor: Option<String>,
        started: Instant,
        budget: Duration,
    ) -> Result<Value, PhaseFailure> {
        let bounds = RequestBounds {
            timeout: budget.saturating_sub(started.elapsed()),
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

/// Returns about how many bytes an entry holds.
fn weight_of(value: &Value) -> usize {
    const OVERHEAD: usize = 16;
    OVERHEAD
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight_of).sum(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| name.len() + weight_of(member))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
