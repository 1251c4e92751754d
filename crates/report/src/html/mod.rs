//! Pages: the same documents as on the terminal, as HTML.
//!
//! Pure functions from contract documents to markup. Live pages and the single
//! offline file use the same ones and differ in two values only: [`Links`] says
//! where a page lies, [`Assets`] where stylesheet and script come from.
//!
//! | module | question |
//! |---|---|
//! | [`shell`] | what stands around every page? |
//! | [`links`] | where does each page lie? |
//! | [`compare`] | may two runs be compared, and what differs? |
//! | [`glossary`] | what does every word mean? |
//! | [`friction`] | what do calls show about avoidable work? |
//! | [`trend`] | how did the runs of a suite go, one after the other? |
//! | [`data`] | how does JSON lie in a page? |
//! | [`mod@file`] | how is a run one offline file? |
//! | [`mod@term`] | how does a word carry its meaning? |
//! | [`mark`] | how is a state or a verdict drawn? |
//! | [`strip`] | what is known about the six stages? |
//! | [`funnel`] | how many trials reached, were measured and passed each stage? |
//! | [`run`] | what did a run decide, where did it stop, who looks next? |
//! | [`trial`] | what happened in a trial, and on what evidence does each stage rest? |
//! | [`text`] | how is foreign text shown? |
//!
//! Everything from a server or a model goes through [`text`] and is escaped
//! once more by maud. There is no inline style and no inline handler anywhere:
//! pages work under a content security policy that allows neither.

pub mod compare;
pub mod data;
pub mod file;
pub mod friction;
pub mod funnel;
pub mod glossary;
pub mod links;
pub mod mark;
pub mod run;
pub mod shell;
pub mod strip;
pub mod term;
pub mod text;
pub mod trend;
pub mod trial;

pub use links::Links;
pub use shell::{Assets, Page, page};
pub use term::{term, term_anchor};
