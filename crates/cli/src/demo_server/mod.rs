//! A small MCP server to try Strandline on: an order desk with planted
//! defects, spoken over standard input and output.
//!
//! It lives in the binary so that the example suites run with nothing else
//! installed, and it is written by hand because it must be able to misbehave.
//!
//! | stage | planted defect |
//! |---|---|
//! | connection | with `--fail connection` it exits before it answers |
//! | discovery | with `--fail discovery` listing fails; descriptions are always too short to choose by |
//! | selection | `search_orders` and `find_customer` describe themselves alike |
//! | call | `refund_order` declares its amount as text, the order desk counts in numbers |
//! | response | `get_invoice` answers with an error for archived orders |
//! | user value | `list_orders` stops after three orders and does not say so |
//!
//! A second release, `--release 2`, is there to compare runs with: it describes
//! its tools, counts amounts in numbers, can cancel orders, and answers with
//! codes where the first one had words.

mod data;
mod tools;

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// The newest protocol version that the server speaks.
const PROTOCOL: &str = "2025-11-25";
/// Every protocol version that the server agrees to.
const PROTOCOLS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", PROTOCOL];

/// What the server refuses to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// It exits before it answers `initialize`.
    Connection,
    /// It answers `tools/list` with an error.
    Discovery,
}

/// Which release of the order desk is served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// The first, with every planted defect.
    #[default]
    #[value(name = "1")]
    First,
    /// The second: some defects are repaired, and a new one is planted.
    #[value(name = "2")]
    Second,
}

/// Serves until standard input ends.
///
/// # Errors
///
/// Fails when a standard stream fails.
pub fn serve(fault: Option<Fault>, release: Release) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(answer) = answer(&line, fault, release) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Returns the answer to one line, when it asks for one.
fn answer(line: &str, fault: Option<Fault>, release: Release) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return Some(error(&Value::Null, -32_700, "the line is no JSON"));
    };
    // A message without an id is a notification and gets no answer.
    let id = message.get("id")?;
    let parameters = message.get("params").unwrap_or(&Value::Null);
    Some(match message["method"].as_str() {
        Some("initialize") => result(id, &initialize(parameters, release)),
        Some("ping") => result(id, &json!({})),
        Some("tools/list") if fault == Some(Fault::Discovery) => {
            error(id, -32_603, "the tool registry is being rebuilt")
        }
        Some("tools/list") => result(id, &json!({"tools": tools::list(release)})),
        Some("tools/call") => match tools::call(parameters, release) {
            Some(answer) => result(id, &answer),
            None => error(id, -32_602, "there is no such tool"),
        },
        _ => error(id, -32_601, "there is no such method"),
    })
}

fn initialize(parameters: &Value, release: Release) -> Value {
    let asked = parameters["protocolVersion"].as_str();
    let agreed = asked.filter(|asked| PROTOCOLS.contains(asked));
    json!({
        "protocolVersion": agreed.unwrap_or(PROTOCOL),
        "capabilities": {"tools": {}},
        "serverInfo": {
            "name": "strandline-demo-orders",
            "title": "Order desk (demo)",
            "version": match release {
                Release::First => "1.0.0",
                Release::Second => "2.0.0",
            }
        },
        "instructions": "An order desk. Amounts are in euros."
    })
}

fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, parameters: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        answer(&message.to_string(), None, Release::First).expect("a request is answered")
    }

    fn call(tool: &str, arguments: &Value) -> Value {
        ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    #[test]
    fn a_known_protocol_version_is_agreed_to() {
        let version = |asked: &str| {
            let answer = ask("initialize", &json!({"protocolVersion": asked}));
            answer["result"]["protocolVersion"].clone()
        };
        assert_eq!(version("2025-03-26"), "2025-03-26");
        assert_eq!(version("1999-01-01"), PROTOCOL);
    }

    #[test]
    fn notifications_and_blank_lines_are_not_answered() {
        assert_eq!(answer("", None, Release::First), None);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(answer(note, None, Release::First), None);
        let junk = answer("{", None, Release::First).expect("junk is refused");
        assert_eq!(junk["error"]["code"], -32_700);
    }

    #[test]
    fn unknown_methods_and_tools_are_protocol_errors() {
        assert_eq!(ask("resources/list", &json!({}))["error"]["code"], -32_601);
        assert_eq!(
            ask("tools/call", &json!({"name": "nothing"}))["error"]["code"],
            -32_602
        );
    }

    #[test]
    fn every_planted_defect_is_there() {
        let listing = r#"{"id":1,"method":"tools/list"}"#;
        let failed = answer(listing, Some(Fault::Discovery), Release::First).expect("an answer");
        assert_eq!(failed["error"]["code"], -32_603);

        let tools = ask("tools/list", &json!({}))["result"]["tools"].clone();
        let tool = |name: &str| {
            let tools = tools.as_array().expect("a list").iter();
            let mut found = tools.filter(|tool| tool["name"] == name);
            found.next().cloned().expect("the tool is listed")
        };
        for name in ["search_orders", "find_customer"] {
            let description = tool(name)["description"].as_str().map(str::len);
            assert!(description.is_some_and(|length| length < 20), "{name}");
        }
        let amount = &tool("refund_order")["inputSchema"]["properties"]["amount"];
        assert_eq!(amount["type"], "string");

        assert_eq!(call("get_invoice", &json!({"id": 1012}))["isError"], true);
        assert_eq!(call("get_invoice", &json!({"id": 1024}))["isError"], false);

        let listed = call("list_orders", &json!({"customer": "c1"}));
        assert_eq!(
            listed["structuredContent"]["orders"]
                .as_array()
                .map(Vec::len),
            Some(3)
        );
        assert_eq!(data::orders_of("c1").count(), 5);
    }

    #[test]
    fn the_second_release_differs_where_it_says() {
        let second = |method: &str, parameters: &Value| {
            let message =
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
            answer(&message.to_string(), None, Release::Second).expect("an answer")["result"]
                .clone()
        };
        let first = tools::list(Release::First);
        let tools = second("tools/list", &json!({}))["tools"].clone();
        let names = |tools: &Value| -> Vec<String> {
            let tools = tools.as_array().expect("a list").iter();
            tools.map(|tool| tool["name"].to_string()).collect()
        };
        assert_eq!(names(&tools).len(), names(&first).len() + 1);
        let order = |release: Value| release["structuredContent"]["status"].clone();
        let arguments = json!({"name": "get_order", "arguments": {"id": 1017}});
        assert_eq!(order(second("tools/call", &arguments)), "S3");
        assert_eq!(order(call("get_order", &json!({"id": 1017}))), "shipped");
        let cancel = json!({"name": "cancel_order", "arguments": {"id": 1017}});
        assert_eq!(second("tools/call", &cancel)["isError"], true);
    }

    #[test]
    fn arguments_that_do_not_fit_are_tool_errors() {
        assert_eq!(call("get_order", &json!({"id": "x"}))["isError"], true);
        assert_eq!(call("get_order", &json!({"id": 1}))["isError"], true);
        assert_eq!(call("refund_order", &json!({"id": 1017}))["isError"], true);
        assert_eq!(
            call("refund_order", &json!({"id": 1017, "amount": "9999"}))["isError"],
            true
        );
    }
}
