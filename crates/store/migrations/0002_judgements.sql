-- What LLM judges said about trials, pass by pass; the last pass of a trial
-- stands, the others are superseded and kept.
CREATE TABLE judge_passes (
    trial    INTEGER NOT NULL REFERENCES trials (seq) ON DELETE CASCADE,
    pass     INTEGER NOT NULL, -- from 1
    at       INTEGER NOT NULL, -- ms since the Unix epoch
    document BLOB NOT NULL, -- JudgePass
    PRIMARY KEY (trial, pass)
) STRICT, WITHOUT ROWID;

UPDATE store_format SET schema_version = 2;
