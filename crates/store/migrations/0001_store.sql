-- Schema 1. Rules for changing it: `src/schema.rs`.
PRAGMA application_id = 1398035020; -- "STRL"

-- One row. A build older than `readable_since` must not read the file;
-- a build older than `schema_version` must not write it.
CREATE TABLE store_format (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    readable_since INTEGER NOT NULL
) STRICT;
INSERT INTO store_format VALUES (1, 1, 1);

-- Suites and tool lists, stored once however many runs used them.
CREATE TABLE snapshots (
    seq  INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE, -- SHA-256 of the uncompressed JSON
    body BLOB NOT NULL
) STRICT;

CREATE TABLE runs (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    status        TEXT NOT NULL,
    suite_id      TEXT NOT NULL,
    suite_name    TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    scripted      INTEGER NOT NULL,
    document      BLOB NOT NULL, -- RunRecord without suite, plan and tool lists
    lease_token   INTEGER NOT NULL, -- rises with every owner; fences the one before
    lease_until   INTEGER NOT NULL, -- ms since the Unix epoch
    owner_machine TEXT NOT NULL,
    owner_pid     INTEGER NOT NULL,
    owner_start   INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_suite ON runs (suite_id, id);

CREATE TABLE run_snapshots (
    run      INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    role     TEXT NOT NULL CHECK (role IN ('suite', 'tools')),
    ordinal  INTEGER NOT NULL, -- of the server, for tools
    snapshot INTEGER NOT NULL REFERENCES snapshots (seq),
    PRIMARY KEY (run, role, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_snapshots_by_snapshot ON run_snapshots (snapshot);

CREATE TABLE planned_cases (
    run               INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    ordinal           INTEGER NOT NULL,
    case_id           TEXT NOT NULL,
    variant_key       TEXT NOT NULL, -- '' without a variant
    model             TEXT,
    provider          TEXT,
    title             TEXT NOT NULL,
    configured_trials INTEGER NOT NULL,
    pass_threshold    REAL NOT NULL,
    PRIMARY KEY (run, ordinal),
    UNIQUE (run, case_id, variant_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
    seq                INTEGER PRIMARY KEY,
    id                 TEXT NOT NULL UNIQUE,
    run                INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    planned            INTEGER NOT NULL, -- ordinal in planned_cases
    iteration          INTEGER NOT NULL,
    status             TEXT NOT NULL,
    result             TEXT,
    evaluator_error    INTEGER NOT NULL,
    first_failed_stage TEXT,
    failure_category   TEXT,
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER NOT NULL,
    document           BLOB NOT NULL, -- TrialRecord
    -- In the same row: one statement and no second tree for every trial.
    trace              BLOB, -- Trace without frames; absent: pruned
    frames             BLOB, -- absent: none were captured, or pruned
    frame_count        INTEGER NOT NULL,
    UNIQUE (run, planned, iteration)
) STRICT;
