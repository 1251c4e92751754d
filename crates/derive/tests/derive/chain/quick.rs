//! Quick reading gives what `serde_json` gives, or leaves the text to it.

use proptest::prelude::*;
use serde_json::Value;
use strandline_contract::{
    chain_input::ChainInput,
    quick::{read_envelope, read_text},
};
use strandline_testkit::vectors;

use super::{inputs::input, properties::pad};

/// Holds the quick reading of a text against `serde_json`.
fn hold(text: &str) -> Result<bool, TestCaseError> {
    let Some(quick) = read_text::<ChainInput<'_>>(text) else {
        return Ok(false);
    };
    let read = serde_json::from_str::<ChainInput<'_>>(text);
    prop_assert!(read.is_ok(), "accepted what serde_json refuses: {text}");
    prop_assert_eq!(Some(quick), read.ok());
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whole_inputs_are_read_quickly_and_alike(mut input in input()) {
        prop_assert!(hold(&input.to_string())?);
        let indented = format!("{input:#}");
        prop_assert!(hold(&indented)?);
        pad(&mut input);
        prop_assert!(hold(&input.to_string())?);
    }

    #[test]
    fn damaged_inputs_are_never_read_otherwise(
        input in input(),
        at in any::<prop::sample::Index>(),
        damage in prop::sample::select(&[
            "", "\"", "\\", "\\u00e9", "\\n", "{", "}", "[", "]", ",", ":", " ", "\t", "\u{1}",
            "null", "true", "0", "-", "1.5e3", "1e999", "01", "é", "\"id\":1,",
        ][..]),
        removed in 0..3_usize,
    ) {
        let text = input.to_string();
        let at = at.index(text.len() + 1);
        let start = text.floor_char_boundary(at);
        let end = text.ceil_char_boundary((start + removed).min(text.len()));
        let damaged = format!("{}{damage}{}", &text[..start], &text[end..]);
        hold(&damaged)?;
    }
}

#[test]
fn what_is_unusual_is_left_to_serde_json() {
    let unusual = |text: &str| read_text::<ChainInput<'_>>(text).is_none();
    let whole =
        r#"{"authored":{"mode":"model_driven"},"evidence":{},"iteration":{"status":"completed"}}"#;
    assert!(!unusual(whole));
    for (from, to) in [
        ("model_driven", "self_driven"),
        ("\"mode\"", "\"mod\\u0065\""),
        ("\"evidence\":{}", "\"evidence\":{},\"evidence\":{}"),
        ("\"evidence\":{}", "\"evidence\":null"),
        ("\"evidence\":{}", "\"evidence\":{\"spans\":{}}"),
        ("\"evidence\":{},", ""),
        ("}}", "}} x"),
        ("}}", "},}"),
    ] {
        assert!(unusual(&whole.replace(from, to)), "{to}");
    }
}

#[test]
fn escapes_and_skipped_values_are_read_alike() {
    let texts = [
        r#""a\n\"b\" \\ \u00e9 \ud83d\ude80""#,
        r#""🚢 naïve""#,
        r#""12345678\"""#,
        r#""""#,
    ];
    for text in texts {
        let input = format!(
            r#" {{"unread":[1,-2.5e3,{{"a":{text}}},true,null,[]],"authored":{{"mode":"model_driven","assertionCount":-0}},
            "evidence":{{"predicateResults":[{{"reason":{text}}}],"setupSignals":{{"connection":{{"outcome":"ok","durationMs":12.25}}}}}},
            "iteration":{{"status":"completed"}}}} "#
        );
        assert!(hold(&input).expect("both read it alike"));
    }
    let deep = "[".repeat(100) + &"]".repeat(100);
    let input = format!(
        r#"{{"unread":{deep},"authored":{{"mode":"model_driven"}},"evidence":{{}},"iteration":{{"status":"completed"}}}}"#
    );
    assert!(!hold(&input).expect("left to serde_json"));
}

/// The vectors are what people write: all of them are read quickly.
#[test]
fn every_vector_is_read_quickly() {
    vectors::check("chain", |input| {
        let line = format!(r#"{{"id":"x y","input":{input},"other":[]}}"#);
        let (id, quick) = read_envelope::<ChainInput<'_>>(&line).ok_or("left to serde_json")?;
        assert_eq!(id, Some("\"x y\""));
        let mut text = Vec::new();
        let chain = strandline_derive::chain::derive_chain(&quick);
        strandline_contract::chain_json::write_chain(&chain, &mut text);
        Ok(serde_json::from_slice::<Value>(&text).expect("a chain is JSON"))
    });
}
