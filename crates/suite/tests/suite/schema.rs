//! The JSON Schema for editors agrees with the loader.

use std::{fs, path::Path};

use serde_json::Value;
use strandline_contract::suite_schema::suite_file;
use strandline_suite::{LoadOptions, load};

/// Findings that a schema of single values cannot make.
const BEYOND: [&str; 9] = [
    "is used twice",
    "needs a `note`",
    "needs `provenance`",
    "goes with `role: advisory` only",
    "is a heuristic",
    "must be at least",
    "is not a usable pattern",
    "two names of one list",
    "UTC date-time",
];

#[test]
fn the_schema_accepts_what_loads_and_refuses_what_a_schema_can_refuse() {
    let schema = jsonschema::validator_for(&suite_file()).expect("a schema that compiles");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    for file in [
        "conformance/suite-file.jsonl",
        "../shared/vectors/suite-file.jsonl",
    ] {
        let Ok(lines) = fs::read_to_string(root.join(file)) else {
            continue;
        };
        for line in lines.lines() {
            let vector: Value = serde_json::from_str(line).expect("JSON");
            texts.push(vector["input"]["text"].as_str().expect("a text").to_owned());
        }
    }
    texts.push(include_str!("../../../../examples/orders.yaml").to_owned());
    texts.push("server: s\nmodel: ollama/x\ncases:\n  - { prompt: hi, calls: [a, { b: { c: 1 } }], answer: { matches: x } }\n".to_owned());

    let (mut accepted, mut refused) = (0, 0);
    for text in texts {
        match load(&text, &LoadOptions::authored()) {
            Ok(loaded) => {
                let written = loaded.authored.written.to_json();
                let errors: Vec<_> = schema
                    .iter_errors(&written)
                    .map(|e| e.to_string())
                    .collect();
                assert!(errors.is_empty(), "{errors:?}\n{text}");
                accepted += 1;
            }
            Err(failure) => {
                let beyond = |message: &str| BEYOND.iter().any(|words| message.contains(words));
                let all_beyond = failure
                    .findings
                    .iter()
                    .all(|finding| beyond(&finding.message));
                let Some(document) = failure.document else {
                    continue;
                };
                // Trimmed and blank texts, whole numbers beyond 2^53.
                let trims = failure.findings.iter().all(|finding| {
                    [
                        "must not be blank",
                        "begin or end with a space",
                        "at least 1, not",
                        "characters, not",
                        "must not be empty",
                    ]
                    .iter()
                    .any(|words| finding.message.contains(words))
                });
                if !all_beyond && !trims {
                    assert!(
                        !schema.is_valid(&document.to_json()),
                        "{:?}",
                        failure.findings
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(
        accepted >= 25 && refused >= 30,
        "{accepted} accepted, {refused} refused"
    );
}
