//! What a caller of Strandline can ask for: projects, suites, runs and what was derived of them.
