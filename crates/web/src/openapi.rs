//! The OpenAPI document, made from the same table that routes requests.
//!
//! Schemas are those of the documents themselves, so the description cannot
//! say something else than what is sent; a test holds answers against it.

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use strandline_contract::schemas::written_settings;

use crate::{
    api::ENDPOINTS,
    guard::TOKEN_HEADER,
    problem::{PROBLEM_JSON, Problem},
};

/// Makes a type's schema, as a reference where the type has a name.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One operation: how it is reached, what it takes and what it answers.
pub(crate) struct Endpoint {
    /// `GET` or `POST`.
    pub(crate) method: Method,
    /// Below `/api/v1`, with `{name}` for what varies.
    pub(crate) path: &'static str,
    /// The operation's name.
    pub(crate) id: &'static str,
    /// What it is for, in one line.
    pub(crate) summary: &'static str,
    /// The query's members, as one object.
    pub(crate) query: Option<SchemaOf>,
    /// The request's body.
    pub(crate) body: Option<SchemaOf>,
    /// What it answers where it can be carried out, and the refusals that have
    /// a form of their own.
    pub(crate) answers: &'static [Answer],
    /// What carries it out.
    pub(crate) handler: fn() -> axum::routing::MethodRouter<crate::app::App>,
}

/// One answer of an operation.
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: u16,
    /// When it is given.
    pub(crate) about: &'static str,
    /// What it consists of.
    pub(crate) content: Content,
}

/// What an answer consists of.
pub(crate) enum Content {
    /// One JSON document.
    Json(SchemaOf),
    /// Server-sent events, each with a JSON document.
    Events(SchemaOf),
    /// Nothing.
    Nothing,
}

impl Answer {
    /// Returns the usual answer: 200 with a document.
    pub(crate) const fn ok<T: JsonSchema>(about: &'static str) -> Self {
        Self::json::<T>(200, about)
    }

    /// Returns an answer with a document.
    pub(crate) const fn json<T: JsonSchema>(status: u16, about: &'static str) -> Self {
        Self {
            status,
            about,
            content: Content::Json(schema_of::<T>),
        }
    }
}

/// Returns the schema of a type, as a reference where it has a name.
pub(crate) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Returns the members of a query as one object.
pub(crate) fn query_of<T: JsonSchema>(_: &mut SchemaGenerator) -> Schema {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// Returns the schema of a request's body.
pub(crate) fn body_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    query_of::<T>(generator)
}

/// Returns the document as it is served and checked in.
#[must_use]
pub fn text() -> String {
    // `{:#}` of a JSON value is its indented form.
    format!("{:#}", document())
}

/// Returns the document.
#[must_use]
pub fn document() -> Value {
    let settings = written_settings().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut schemas = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths
            .entry(format!("/api/v1{}", endpoint.path))
            .or_insert_with(|| json!({}));
        path[endpoint.method.as_str().to_ascii_lowercase()] = operation(endpoint, &mut schemas);
    }
    let problem = schema_of::<Problem>(&mut schemas);
    let components: Map<String, Value> = schemas.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Strandline",
            "version": "1",
            "description": "Runs, trials and what was derived of them, over one run store. \
                Reading needs no token on loopback; every change does. A count always has its \
                unit, and what was not measured is absent, never zero. A stage is a location and \
                a category a bucket; neither is a cause.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {
                "Problem": {
                    "description": "What happened, why, and what to do (RFC 9457).",
                    "content": { PROBLEM_JSON: { "schema": problem } },
                },
                "NotModified": { "description": "The caller has the present answer." },
            },
            "headers": {
                "ETag": {
                    "description": "Strong; the digest of the answer. Send it back as `If-None-Match`.",
                    "schema": { "type": "string" },
                },
            },
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "header": { "type": "apiKey", "in": "header", "name": TOKEN_HEADER },
            },
        },
    })
}

fn operation(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    for answer in endpoint.answers {
        let (kind, schema) = match answer.content {
            Content::Json(schema) => ("application/json", schema(schemas)),
            Content::Events(schema) => ("text/event-stream", schema(schemas)),
            Content::Nothing => {
                let response = json!({ "description": answer.about });
                responses.insert(answer.status.to_string(), response);
                continue;
            }
        };
        let mut response = json!({
            "description": answer.about,
            "content": { kind: { "schema": schema } },
        });
        if answer.status == 200 && kind == "application/json" {
            response["headers"] = json!({ "ETag": { "$ref": "#/components/headers/ETag" } });
            let unchanged = json!({ "$ref": "#/components/responses/NotModified" });
            responses.insert("304".to_owned(), unchanged);
        }
        responses.insert(answer.status.to_string(), response);
    }
    responses.insert(
        "default".to_owned(),
        json!({ "$ref": "#/components/responses/Problem" }),
    );
    let mut operation = json!({
        "operationId": endpoint.id,
        "summary": endpoint.summary,
        "parameters": parameters(endpoint, schemas),
        "responses": responses,
    });
    if let Some(body) = endpoint.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(schemas) } },
        });
    }
    if endpoint.method != Method::GET {
        operation["security"] = json!([{ "bearer": [] }, { "header": [] }]);
    }
    operation
}

fn parameters(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters: Vec<Value> = endpoint
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            json!({
                "name": name,
                "in": "path",
                "required": true,
                "description": path_parameter(name),
                "schema": { "type": "string" },
            })
        })
        .collect();
    let Some(query) = endpoint.query else {
        return parameters;
    };
    let query = query(schemas).to_value();
    let required = query["required"].as_array().cloned().unwrap_or_default();
    let properties = query["properties"].as_object().cloned().unwrap_or_default();
    for (name, mut schema) in properties {
        let about = schema
            .as_object_mut()
            .and_then(|schema| schema.remove("description"));
        // A parameter is there or not; it is never `null`.
        if let Some(Value::Array(kinds)) = schema.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [only] = kinds.as_slice() {
                schema["type"] = only.clone();
            }
        }
        if let Some(Value::Array(members)) = schema.get_mut("enum") {
            members.retain(|member| !member.is_null());
        }
        if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
            kinds.retain(|kind| *kind != json!({ "type": "null" }));
            if let [only] = kinds.as_slice() {
                schema = only.clone();
            }
        }
        parameters.push(json!({
            "name": name,
            "in": "query",
            "required": required.contains(&Value::from(name.as_str())),
            "description": about,
            "schema": schema,
        }));
    }
    parameters
}

fn path_parameter(name: &str) -> &'static str {
    match name {
        "run" => "A run's id, the beginning of it, or `last`.",
        "trial" => "A trial's id or the beginning of it.",
        "suite" => "A suite's id or name, as its runs have it.",
        "term" => "A word as it is spelled or shown, or the name of a vocabulary.",
        "project" => "Always `local`.",
        _ => "",
    }
}
