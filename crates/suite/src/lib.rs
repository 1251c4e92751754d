//! Suite files: text to a document or a list of findings, and back.
