//! What an LLM judge left in a trial's metadata (`chain.md` §14.4).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    decode::{known_word, number, text, texts},
    words::{JudgeStatus, JudgeVerdict},
};

/// A stored judge record; every part may be absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JudgeRecord<'a> {
    /// Whether it answered; an unknown word says nothing.
    #[serde(deserialize_with = "known_word")]
    pub status: Option<JudgeStatus>,
    /// What it says; an unknown word says nothing.
    #[serde(deserialize_with = "known_word")]
    pub verdict: Option<JudgeVerdict>,
    /// Its own words.
    #[serde(borrow, deserialize_with = "texts")]
    pub reasons: Vec<Cow<'a, str>>,
    /// Its own words, as one text.
    #[serde(borrow, deserialize_with = "text")]
    pub reason: Option<Cow<'a, str>>,
    /// What went wrong.
    #[serde(borrow, deserialize_with = "text")]
    pub error: Option<Cow<'a, str>>,
    /// The score, usually 0–1.
    #[serde(deserialize_with = "number")]
    pub score: Option<f64>,
    /// The score that passes.
    #[serde(deserialize_with = "number")]
    pub threshold: Option<f64>,
    /// The score that is at least partial.
    #[serde(deserialize_with = "number")]
    pub partial_floor: Option<f64>,
}

/// A stored record of whether tool metadata caused a wrong choice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AttributionRecord<'a> {
    /// Whether the judge answered; an unknown word says nothing.
    #[serde(deserialize_with = "known_word")]
    pub status: Option<JudgeStatus>,
    /// It blames the metadata.
    pub attributed: Option<bool>,
    /// Its own words.
    #[serde(borrow, deserialize_with = "texts")]
    pub reasons: Vec<Cow<'a, str>>,
}
