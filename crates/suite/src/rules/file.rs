//! The file, `suite`, `target` and `provenance` (`suite-file.md` §3).

use super::{
    At, Check, Dialect, Path, case, defaults, extension,
    value::{self, filled_text, name, opaque_id, text},
};
use crate::yaml::{Node, Value};

/// Checks a whole document; returns its dialect when that much is readable.
pub(crate) fn file(check: &mut Check, node: &Node) -> Option<Dialect> {
    let at = At {
        node,
        path: &Path::Root,
    };
    if !check.is_map(at) {
        return None;
    }
    // §2.3: without a readable tag, nothing else is checked.
    let dialect = schema_version(check, at)?;
    check.dialect = dialect;

    check.required(at, "mode", mode);
    check.required(at, "reportingMode", reporting_mode);
    check.required(at, "suite", suite);
    check.required(at, "target", target);
    check.required(at, "defaults", defaults::defaults);
    check.optional(at, "provenance", provenance);
    check.required(at, "cases", cases);
    imports_have_provenance(check, at);
    let mut known = vec![
        "schemaVersion",
        "mode",
        "reportingMode",
        "suite",
        "target",
        "defaults",
        "provenance",
        "cases",
    ];
    extension::top_level(check, at, &mut known);
    check.closed(at, &known);
    Some(dialect)
}

fn schema_version(check: &mut Check, at: At<'_>) -> Option<Dialect> {
    let Some(node) = at.node.get("schemaVersion") else {
        check.missing(at, "schemaVersion");
        return None;
    };
    let path = Path::Key(at.path, "schemaVersion");
    let at = At { node, path: &path };
    match &node.value {
        Value::String(version) if version == "1" => Some(Dialect::One),
        Value::String(version) if version == "2" => Some(Dialect::Two),
        Value::String(_) => {
            let message = format!(
                "`schemaVersion` {} is not one this version reads (\"1\", \"2\"): the file needs a \
                 newer Strandline",
                value::preview(node)
            );
            check.report(at, message);
            None
        }
        _ => {
            let finding = check.expected(at, "the text \"1\" or \"2\"");
            if value::integer_of(node).is_some() {
                finding.label = Some("put it in quotes".to_owned());
            }
            None
        }
    }
}

/// A word of which some spellings are reserved for later (§3).
pub(super) fn reserved_word(check: &mut Check, at: At<'_>, word: &str, reserved: &[&str]) {
    match at.node.as_str() {
        Some(text) if text == word => {}
        Some(text) if reserved.contains(&text) => {
            let message = format!(
                "`{}: {text}` is reserved: dialect {} does not support it yet",
                at.path.name(),
                check.dialect.wire()
            );
            check.report(at, message).label = Some(format!("write `{word}`"));
        }
        _ => {
            check.expected(at, &format!("`{word}`"));
        }
    }
}

fn mode(check: &mut Check, at: At<'_>) {
    reserved_word(check, at, "agentWorkflow", &["serverContract"]);
}

fn reporting_mode(check: &mut Check, at: At<'_>) {
    reserved_word(check, at, "standard", &["restricted", "summary"]);
}

/// §3.1
fn suite(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "id", opaque_id);
    check.required(at, "name", name);
    check.optional(at, "description", text);
    check.closed(at, &["id", "name", "description"]);
}

/// §3.2
fn target(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.optional(at, "servers", |check, at| {
        check.list(at, 1, usize::MAX, server);
    });
    check.optional(at, "environment", filled_text);
    check.optional(at, "hosts", |check, at| {
        check.list(at, 1, usize::MAX, host);
    });
    if at.node.get("servers").is_none() && at.node.get("environment").is_none() {
        check
            .report(at, "`target` needs `servers` or `environment`")
            .label = Some("what does the suite run against?".to_owned());
    }
    check.closed(at, &["servers", "environment", "hosts"]);
}

fn server(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "name", name);
    check.optional(at, "id", opaque_id);
    check.closed(at, &["name", "id"]);
}

fn host(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.required(at, "name", name);
    check.optional(at, "id", opaque_id);
    check.optional(at, "servers", |check, at| {
        check.list(at, 0, usize::MAX, server);
    });
    check.closed(at, &["name", "id", "servers"]);
}

/// §3.3
fn provenance(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    const REQUIRED: [&str; 3] = ["sourceHash", "sourceFormat", "reportHash"];
    const OPTIONAL: [&str; 5] = [
        "sourceFormatVersion",
        "converter",
        "converterVersion",
        "model",
        "discoverySnapshotHash",
    ];
    for key in REQUIRED {
        check.required(at, key, filled_text);
    }
    for key in OPTIONAL {
        check.optional(at, key, filled_text);
    }
    check.optional(at, "importedAt", date_time);
    let known: Vec<&str> = REQUIRED
        .into_iter()
        .chain(OPTIONAL)
        .chain(["importedAt"])
        .collect();
    check.closed(at, &known);
}

fn date_time(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if !is_date_time(text) {
        check.expected(at, "a UTC date-time such as 2026-01-31T09:30:00Z");
    }
}

/// `YYYY-MM-DDTHH:MM[:SS[.fraction]]Z` on a real calendar day.
fn is_date_time(text: &str) -> bool {
    fn parse(text: &str) -> Option<()> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        let number = |text: &str, digits: usize| -> Option<u32> {
            (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| text.parse().ok())
                .flatten()
        };
        let mut date = date.splitn(3, '-');
        let year = number(date.next()?, 4)?;
        let month = number(date.next()?, 2)?;
        let day = number(date.next()?, 2)?;
        if !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let mut time = time.splitn(3, ':');
        let hour = number(time.next()?, 2)?;
        let minute = number(time.next()?, 2)?;
        let seconds_fit = match time.next() {
            None => true,
            Some(seconds) => {
                let (whole, fraction) = match seconds.split_once('.') {
                    Some((whole, fraction)) => (whole, Some(fraction)),
                    None => (seconds, None),
                };
                number(whole, 2)? <= 59
                    && fraction.is_none_or(|fraction| {
                        !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
                    })
            }
        };
        (hour <= 23 && minute <= 59 && seconds_fit).then_some(())
    }
    parse(text).is_some()
}

fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    }
}

fn cases(check: &mut Check, at: At<'_>) {
    check.list(at, 1, 500, case::case);
    check.unique_ids(at, "case");
}

/// §5.1: an imported case needs a file that says what it was imported from.
fn imports_have_provenance(check: &mut Check, at: At<'_>) {
    if at.node.get("provenance").is_some() {
        return;
    }
    let Some(cases) = at.node.get("cases") else {
        return;
    };
    let cases_path = Path::Key(at.path, "cases");
    for (index, item) in cases.items().iter().enumerate() {
        let Some(entry) = item.node.entry("import") else {
            continue;
        };
        if !entry.item.node.is_mapping() {
            continue;
        }
        let case_path = Path::Index(&cases_path, index);
        let path = Path::Key(&case_path, "import");
        check
            .report_at(
                &path,
                Some(entry.key_span),
                "an imported case needs `provenance` at the top of the file",
            )
            .label = Some("imported from what?".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::is_date_time;

    #[test]
    fn date_times_are_real_and_utc() {
        for good in [
            "2026-01-01T00:00Z",
            "2024-02-29T10:00Z",
            "2000-02-29T23:59:59Z",
            "2026-05-31T23:59:59.123Z",
            "0000-01-01T00:00:00.0Z",
        ] {
            assert!(is_date_time(good), "{good}");
        }
        for bad in [
            "2026-01-01T00:00:00+01:00",
            "2026-02-29T00:00Z",
            "1900-02-29T00:00Z",
            "2026-13-01T00:00Z",
            "2026-00-01T00:00Z",
            "2026-01-00T00:00Z",
            "2026-01-01T24:00Z",
            "2026-01-01T00:60Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01t00:00Z",
            "2026-01-01T00:00z",
            "2026-01-01 00:00Z",
            "2026-1-1T00:00Z",
            "2026-01-01",
            "+026-01-01T00:00Z",
            "2026-01-01T00:00Z ",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }
}
