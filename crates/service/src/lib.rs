//! What a caller of Strandline can ask for, whatever the caller is: the
//! command line, the web pages or a coding agent.
//!
//! | question | module |
//! |---|---|
//! | which directory and store does a caller work in, and which paths may it name? | [`project`] |
//! | how is a suite file read, and which are there? | [`suite_file`], [`suites`] |
//! | what can a run be told, and what is its plan? | [`request`], [`planning`] |
//! | who judges? | [`judging`] |
//! | how is a run stored while it runs? | [`recording`] |
//! | how does a run go on in the background? | [`launch`] |
//! | which roll-ups has a stored run? | [`roll_ups`] |
//! | what does a suite see of the environment? | [`environment`] |
//! | why could something not be done? | [`failure`] |

pub mod environment;
pub mod failure;
pub mod judging;
pub mod launch;
pub mod planning;
pub mod project;
pub mod recording;
pub mod request;
pub mod roll_ups;
pub mod suite_file;
pub mod suites;

pub use failure::Failure;
