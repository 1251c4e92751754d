//! Stored documents rendered for people and machines.
