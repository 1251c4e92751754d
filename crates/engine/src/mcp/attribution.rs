//! At whose side a setup failure lies (`chain.md` §14.3).

use super::Attribution;

/// What is known about the cause of a setup failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// We gave up ourselves.
    OwnCancellation,
    /// A host name did not resolve (`ENOTFOUND`, `EAI_*`).
    DnsFailure,
    /// Our own network does not let the connection out.
    EgressBlocked,
    /// Our own side could not do its part: a program that cannot be started,
    /// a file or a setting that cannot be read.
    ControlPlane,
    /// Credentials could not be renewed.
    TokenRefresh,
    /// An HTTP status other than 2xx.
    Http(HttpRefusal),
    /// A JSON-RPC error code.
    McpCode(i64),
    /// `ECONNREFUSED`.
    ConnectionRefused,
    /// `ECONNRESET` and `ECONNABORTED`, and a proven session whose peer went away.
    ConnectionReset,
    /// No answer within the budget.
    Timeout,
    /// TLS or certificate.
    Tls,
    /// Anything else.
    Other,
}

/// An HTTP answer that refused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpRefusal {
    /// The status.
    pub status: u16,
    /// The answer carried a `WWW-Authenticate: Bearer` challenge.
    pub bearer_challenge: bool,
    /// The answer carried any `WWW-Authenticate` challenge.
    pub any_challenge: bool,
    /// The answer was an HTML page.
    pub html: bool,
    /// We were given OAuth credentials for this server.
    pub expects_oauth: bool,
    /// The JSON-RPC error code in the body, when there was one.
    pub mcp_code: Option<i64>,
}

/// Returns at whose side the fault lies.
#[must_use]
pub const fn attribute(cause: Cause) -> Attribution {
    match cause {
        Cause::OwnCancellation
        | Cause::DnsFailure
        | Cause::EgressBlocked
        | Cause::ControlPlane
        | Cause::TokenRefresh
        | Cause::McpCode(-32_000 | -32_001) => Attribution::Ours,
        Cause::Http(refusal) => attribute_http(refusal),
        // A server that answers with an error of its own was reached: nothing
        // on our side can be at fault (field case F10). The spec's table leaves
        // this to "anything else".
        Cause::McpCode(_)
        | Cause::ConnectionRefused
        | Cause::ConnectionReset
        | Cause::Timeout
        | Cause::Tls => Attribution::Theirs,
        Cause::Other => Attribution::Unknown,
    }
}

const fn attribute_http(refusal: HttpRefusal) -> Attribution {
    match refusal.status {
        // A server that takes OAuth must say so in its challenge.
        401 if refusal.expects_oauth && !refusal.bearer_challenge => Attribution::Unknown,
        // A page of some gateway, not an answer of the server.
        403 if refusal.html && !refusal.any_challenge => Attribution::Unknown,
        401 | 403 => Attribution::Ours,
        _ => match refusal.mcp_code {
            Some(-32_000 | -32_001) => Attribution::Ours,
            _ if refusal.status >= 500 => Attribution::Theirs,
            _ => Attribution::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Attribution::*, *};

    const fn http(status: u16) -> HttpRefusal {
        HttpRefusal {
            status,
            bearer_challenge: false,
            any_challenge: false,
            html: false,
            expects_oauth: false,
            mcp_code: None,
        }
    }

    #[test]
    fn every_cause_has_its_side() {
        let table = [
            (Cause::OwnCancellation, Ours),
            (Cause::DnsFailure, Ours),
            (Cause::EgressBlocked, Ours),
            (Cause::ControlPlane, Ours),
            (Cause::TokenRefresh, Ours),
            (Cause::McpCode(-32_000), Ours),
            (Cause::McpCode(-32_001), Ours),
            (Cause::McpCode(-32_002), Theirs),
            (Cause::McpCode(-32_603), Theirs),
            (Cause::ConnectionRefused, Theirs),
            (Cause::ConnectionReset, Theirs),
            (Cause::Timeout, Theirs),
            (Cause::Tls, Theirs),
            (Cause::Other, Unknown),
            (Cause::Http(http(401)), Ours),
            (Cause::Http(http(403)), Ours),
            (Cause::Http(http(404)), Unknown),
            (Cause::Http(http(429)), Unknown),
            (Cause::Http(http(499)), Unknown),
            (Cause::Http(http(500)), Theirs),
            (Cause::Http(http(503)), Theirs),
            (
                Cause::Http(HttpRefusal {
                    expects_oauth: true,
                    ..http(401)
                }),
                Unknown,
            ),
            (
                Cause::Http(HttpRefusal {
                    expects_oauth: true,
                    any_challenge: true,
                    ..http(401)
                }),
                Unknown,
            ),
            (
                Cause::Http(HttpRefusal {
                    expects_oauth: true,
                    bearer_challenge: true,
                    any_challenge: true,
                    ..http(401)
                }),
                Ours,
            ),
            (
                Cause::Http(HttpRefusal {
                    html: true,
                    ..http(403)
                }),
                Unknown,
            ),
            (
                Cause::Http(HttpRefusal {
                    html: true,
                    any_challenge: true,
                    ..http(403)
                }),
                Ours,
            ),
            (
                Cause::Http(HttpRefusal {
                    mcp_code: Some(-32_000),
                    ..http(400)
                }),
                Ours,
            ),
            (
                Cause::Http(HttpRefusal {
                    mcp_code: Some(-32_603),
                    ..http(500)
                }),
                Theirs,
            ),
        ];
        for (cause, side) in table {
            assert_eq!(attribute(cause), side, "{cause:?}");
        }
    }
}
