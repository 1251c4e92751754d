//! Words, limits, ids and wire documents of Strandline.
//!
//! This crate knows no rule and does no I/O. It names things once, so that
//! every other crate, and every surface a user reads, uses the same words:
//!
//! | module | holds |
//! |---|---|
//! | [`words`] | every closed vocabulary: wire spelling, label, meaning, order |
//! | [`analytics`] | the funnel of one run |
//! | [`analytics_input`] | what a funnel is counted from |
//! | [`assertion`] | rows, turn summaries and scores of a graded trial |
//! | [`binding`] | how a server name is bound to a transport |
//! | [`canonical`] | canonical JSON, hashes over it, equality by value |
//! | [`chain`] | the six-stage chain as it is stored and shown |
//! | [`rate`] | fractions with numerator, denominator and exclusions |
//! | [`ecma`] | text as ECMAScript measures and trims it |
//! | [`overview`] | one run's trials taken together: how far, and where they stopped |
//! | [`policy`] | the frozen tool policy and the calls it blocked |
//! | [`redact`] | what is masked before it is stored, shown or logged |
//! | [`coverage`] | what a suite, or a run of it, leaves unproved |
//! | [`chain_input`] | what a chain is derived from |
//! | [`chat_session`] | what is recorded of a chat session |
//! | [`judge_record`] | what an LLM judge left in a trial's metadata |
//! | [`judgement`] | what LLM judges say about a trial, with every call |
//! | [`measurements`] | reach and latency of the six stages |
//! | [`chain_json`] | a chain as JSON text, written without a serializer |
//! | [`quick`] | quick reading of JSON text |
//! | [`decode`] | reading rules that every document shares |
//! | [`schemas`] | JSON Schemas of every public document |
//! | [`run`] | runs, variants and trials as they are stored |
//! | [`suite`] | the resolved suite that a run reads |
//! | [`suite_schema`] | the JSON Schema of suite files, for editors |
//! | [`swarm`] | session verdicts, run reports and findings of swarms |
//! | [`transcript`] | what assertions read of one trial |
//! | [`trace`] | messages, spans and raw frames of one trial |
//! | [`verdict`] | policy v2: decision, its rows and statistics |
//! | [`decision`] | the run decision summary |
//! | [`friction`] | what a trial's calls show about avoidable work |
//! | [`full_report`] | everything that a stored run says |
//! | [`event`] | what a running suite reports while it runs |
//! | [`listing`] | runs as they are listed |
//! | [`comparison`] | two runs compared, and a suite's runs as a series |
//! | [`sequential`] | repeating until decided: bounds and what they say |
//! | [`exit`] | process exit codes |
//! | [`number`] | how numbers are written and read in documents |
//! | [`providers`] | model providers, their keys and endpoints |
//! | [`script`] | the turns of a scripted model |
//! | [`secret`] | values that are never shown |
//! | [`telemetry`] | OpenTelemetry attribute names of spans |

pub mod analytics;
pub mod analytics_input;
pub mod assertion;
pub mod binding;
pub mod canonical;
pub mod chain;
pub mod chain_input;
mod chain_input_quick;
pub mod chain_json;
pub mod chat_session;
pub mod comparison;
pub mod coverage;
pub mod decision;
pub mod decode;
pub mod ecma;
pub mod event;
pub mod exit;
pub mod friction;
pub mod full_report;
pub mod judge_record;
pub mod judgement;
pub mod listing;
pub mod measurements;
pub mod number;
pub mod overview;
pub mod policy;
pub mod providers;
pub mod quick;
pub mod rate;
pub mod redact;
pub mod run;
pub mod schemas;
pub mod script;
pub mod secret;
pub mod sequential;
pub mod suite;
pub mod suite_schema;
pub mod swarm;
pub mod telemetry;
pub mod trace;
pub mod transcript;
pub mod verdict;
pub mod words;
