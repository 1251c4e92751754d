-- Schema 4: the overview of a run, written with its end.

-- No row: the run has not ended, or an earlier version wrote it.
CREATE TABLE overviews (
    run      INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    document BLOB NOT NULL -- RunOverview
) STRICT;

UPDATE store_format SET schema_version = 4;
