//! The strandline binary.
