//! What differs between two runs' servers and suites.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use strandline_contract::{
    comparison::{ItemChange, ServerChanges, SuiteChanges, ValueChange},
    redact::{REDACTED, is_secret_key, redact_text},
    run::{RunRecord, ServerFacts},
    words::ChangeKind,
};

/// Most places told of one item.
const MOST_VALUES: usize = 50;
/// Longest value told, characters of its JSON text.
const MOST_TEXT: usize = 240;

/// Compares the servers of two runs by name, in the base run's order.
#[must_use]
pub fn surface_changes(base: &[ServerFacts], compared: &[ServerFacts]) -> Vec<ServerChanges> {
    let find = |servers: &'_ [ServerFacts], name: &str| -> Option<usize> {
        servers.iter().position(|server| server.name == name)
    };
    let only = |server: &ServerFacts, change| ServerChanges {
        server: server.name.clone(),
        change: Some(change),
        listed: false,
        facts: Vec::new(),
        tools: Vec::new(),
        unchanged_tools: 0,
    };
    let mut changes: Vec<ServerChanges> = base
        .iter()
        .map(|server| match find(compared, &server.name) {
            Some(place) => server_changes(server, &compared[place]),
            None => only(server, ChangeKind::Removed),
        })
        .collect();
    let added = compared
        .iter()
        .filter(|server| find(base, &server.name).is_none());
    changes.extend(added.map(|server| only(server, ChangeKind::Added)));
    changes
}

fn server_changes(before: &ServerFacts, after: &ServerFacts) -> ServerChanges {
    let facts = |server: &ServerFacts| {
        json!({
            "transport": server.transport,
            "serverInfo": server.server_info,
            "protocolVersion": server.protocol_version,
        })
    };
    let listed = |server: &ServerFacts| server.tool_count.is_some() || !server.tools.is_empty();
    let mut changes = ServerChanges {
        server: before.name.clone(),
        change: None,
        listed: listed(before) && listed(after),
        facts: differences(&facts(before), &facts(after), Keys::Public),
        tools: Vec::new(),
        unchanged_tools: 0,
    };
    if changes.listed {
        let (before, after) = (
            by_name(&before.tools, "name"),
            by_name(&after.tools, "name"),
        );
        let (items, unchanged) = item_changes(&before, &after, Keys::Public);
        changes.tools = items;
        changes.unchanged_tools = unchanged;
    }
    changes
}

/// Compares the suites of two runs: cases by id, and everything else.
#[must_use]
pub fn suite_changes(base: &RunRecord, compared: &RunRecord) -> SuiteChanges {
    let cases = |run: &RunRecord| match run.resolved_suite.get("cases") {
        Some(Value::Array(cases)) => cases.clone(),
        _ => Vec::new(),
    };
    let settings = |run: &RunRecord| {
        let mut suite = run.resolved_suite.clone();
        if let Some(members) = suite.as_object_mut() {
            members.remove("cases");
        }
        suite
    };
    let (before, after) = (cases(base), cases(compared));
    let (changed, _) = item_changes(
        &by_name(&before, "id"),
        &by_name(&after, "id"),
        Keys::MayNameSecrets,
    );
    SuiteChanges {
        same: base.resolved_hash == compared.resolved_hash,
        same_file: base.source_hash == compared.source_hash,
        settings: differences(&settings(base), &settings(compared), Keys::MayNameSecrets),
        cases: changed,
    }
}

/// Compares how two runs were started; a setting that is `null` is not set.
#[must_use]
pub fn settings_changes(base: &Value, compared: &Value) -> Vec<ValueChange> {
    let set = |settings: &Value| match settings {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        other => other.clone(),
    };
    differences(&set(base), &set(compared), Keys::MayNameSecrets)
}

/// Returns items by name; of several with one name the first counts, and an
/// item without a name is named by its place.
fn by_name<'a>(items: &'a [Value], key: &str) -> BTreeMap<String, &'a Value> {
    let mut named = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let name = item.get(key).and_then(Value::as_str);
        let name = name.map_or_else(|| format!("#{}", index + 1), str::to_owned);
        named.entry(name).or_insert(item);
    }
    named
}

fn item_changes(
    before: &BTreeMap<String, &Value>,
    after: &BTreeMap<String, &Value>,
    keys: Keys,
) -> (Vec<ItemChange>, u64) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut changes = Vec::new();
    let mut unchanged = 0;
    for name in names {
        let (change, values) = match (before.get(name), after.get(name)) {
            (None, _) => (ChangeKind::Added, Vec::new()),
            (_, None) => (ChangeKind::Removed, Vec::new()),
            (Some(before), Some(after)) if before == after => {
                unchanged += 1;
                continue;
            }
            (Some(before), Some(after)) => (ChangeKind::Changed, differences(before, after, keys)),
        };
        changes.push(ItemChange {
            name: name.clone(),
            change,
            values,
        });
    }
    (changes, unchanged)
}

/// Whether a key of the compared documents may name a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// What a server tells everybody: a property `token` is a schema.
    Public,
    /// What an author wrote: an argument `token` may be one.
    MayNameSecrets,
}

/// Returns the places where two documents differ, in key order, bounded.
fn differences(before: &Value, after: &Value, keys: Keys) -> Vec<ValueChange> {
    let mut found = Vec::new();
    differ("", Some(before), Some(after), keys, &mut found);
    found
}

fn differ(
    pointer: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    keys: Keys,
    found: &mut Vec<ValueChange>,
) {
    if before == after || found.len() >= MOST_VALUES {
        return;
    }
    let deeper = |step: &str| format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"));
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let (old, new) = (old.get(name), new.get(name));
                if keys == Keys::MayNameSecrets && is_secret_key(name) {
                    if old != new && found.len() < MOST_VALUES {
                        found.push(ValueChange {
                            pointer: deeper(name),
                            before: old.map(|_| REDACTED.to_owned()),
                            after: new.map(|_| REDACTED.to_owned()),
                        });
                    }
                    continue;
                }
                differ(&deeper(name), old, new, keys, found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                differ(
                    &deeper(&index.to_string()),
                    Some(old),
                    Some(new),
                    keys,
                    found,
                );
            }
        }
        _ => found.push(ValueChange {
            pointer: pointer.to_owned(),
            before: before.map(|value| excerpt(value, keys)),
            after: after.map(|value| excerpt(value, keys)),
        }),
    }
}

/// Returns a value as JSON text without credentials, cut where it is long.
fn excerpt(value: &Value, keys: Keys) -> String {
    let text = match keys {
        Keys::Public => value.to_string(),
        Keys::MayNameSecrets => strandline_contract::redact::redact_value(value).to_string(),
    };
    let text = redact_text(&text);
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(tools: Value) -> ServerFacts {
        serde_json::from_value(json!({
            "name": "shop", "transport": "stdio", "serverInfo": {"name": "shop", "version": "1"},
            "toolCount": 1, "tools": tools,
        }))
        .expect("server facts")
    }

    #[test]
    fn tools_are_compared_by_name_and_place() {
        let before = server(json!([
            {"name": "find", "description": "Find."},
            {"name": "gone"},
            {"name": "refund", "inputSchema": {"properties": {"amount": {"type": "string"}, "token": {"type": "string"}}}},
        ]));
        let mut after = server(json!([
            {"name": "find", "description": "Find."},
            {"name": "new"},
            {"name": "refund", "inputSchema": {"properties": {"amount": {"type": "number"}, "token": {"type": "null"}}}},
        ]));
        after.server_info = Some(json!({"name": "shop", "version": "2"}));
        let changes = surface_changes(&[before], &[after]);
        let [changes] = changes.as_slice() else {
            panic!("one server: {changes:?}");
        };
        assert_eq!(changes.unchanged_tools, 1);
        assert_eq!(changes.facts[0].pointer, "/serverInfo/version");
        let told: Vec<_> = changes
            .tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.change))
            .collect();
        assert_eq!(
            told,
            [
                ("gone", ChangeKind::Removed),
                ("new", ChangeKind::Added),
                ("refund", ChangeKind::Changed),
            ]
        );
        let values = &changes.tools[2].values;
        assert_eq!(values[0].pointer, "/inputSchema/properties/amount/type");
        assert_eq!(values[0].before.as_deref(), Some("\"string\""));
        assert_eq!(values[0].after.as_deref(), Some("\"number\""));
        // A schema of a property that sounds secret is no secret.
        assert_eq!(values[1].after.as_deref(), Some("\"null\""));
    }

    #[test]
    fn a_server_that_listed_nothing_says_nothing_of_its_tools() {
        let listed = server(json!([{"name": "find"}]));
        let unlisted = ServerFacts {
            name: "shop".to_owned(),
            ..ServerFacts::default()
        };
        let changes = surface_changes(std::slice::from_ref(&listed), &[unlisted]);
        assert!(!changes[0].listed && changes[0].tools.is_empty());
        let gone = surface_changes(&[listed], &[]);
        assert_eq!(gone[0].change, Some(ChangeKind::Removed));
    }

    #[test]
    fn secrets_and_long_values_are_not_told() {
        let before = json!({"args": {"apiKey": "s3cret-one"}, "text": "x"});
        let after = json!({"args": {"apiKey": "s3cret-two"}, "text": "y".repeat(1_000)});
        let told = differences(&before, &after, Keys::MayNameSecrets);
        let text = format!("{told:?}");
        assert!(!text.contains("s3cret"), "{text}");
        assert_eq!(told[0].pointer, "/args/apiKey");
        let after = told[1].after.as_deref().expect("a value");
        assert_eq!(after.chars().count(), MOST_TEXT + 1);
    }

    #[test]
    fn what_is_told_is_bounded() {
        let numbers = |from: u32| json!((from..from + 1_000).collect::<Vec<_>>());
        let told = differences(&numbers(0), &numbers(1), Keys::Public);
        assert_eq!(told.len(), MOST_VALUES);
        assert_eq!(
            differences(&json!({"a/b~": 1}), &json!({}), Keys::Public)[0].pointer,
            "/a~1b~0"
        );
    }
}
