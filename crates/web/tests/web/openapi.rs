//! The API's description is checked in, and is what is served.

use std::{fs, path::PathBuf};

use serde_json::Value;
use strandline_web::openapi;

use crate::site::Site;

fn checked_in() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json")
}

#[test]
fn the_checked_in_description_is_up_to_date() {
    let text = openapi::text() + "\n";
    if std::env::var_os("STRANDLINE_UPDATE_SCHEMAS").is_some() {
        fs::write(checked_in(), &text).expect("writes");
    }
    let found = fs::read_to_string(checked_in()).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/openapi.json is stale: \
         STRANDLINE_UPDATE_SCHEMAS=1 cargo nextest run -p strandline-web openapi"
    );
}

#[tokio::test]
async fn the_description_is_served() {
    let site = Site::empty().await;
    let answer = site.get("/api/v1/openapi.json").await;
    assert_eq!(answer.json(), openapi::document());
    assert_eq!(answer.json()["openapi"], "3.1.0");
}

#[test]
fn every_reference_of_the_description_leads_somewhere() {
    let description = openapi::document();
    let mut references = Vec::new();
    collect(&description, &mut references);
    assert!(references.len() > 100, "{}", references.len());
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference inside");
        assert!(description.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn every_operation_has_its_own_name_and_says_what_it_answers() {
    let description = openapi::document();
    let mut names = Vec::new();
    for path in description["paths"].as_object().expect("paths").values() {
        for operation in path.as_object().expect("operations").values() {
            names.push(operation["operationId"].as_str().expect("a name"));
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.contains_key("default"));
            for parameter in operation["parameters"].as_array().expect("parameters") {
                let about = parameter["description"].as_str().unwrap_or_default();
                assert!(about.ends_with('.'), "{parameter}");
            }
        }
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                references.push(reference.clone());
            }
            members
                .values()
                .for_each(|member| collect(member, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}
