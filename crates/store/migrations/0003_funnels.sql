-- Schema 3: the funnel of a run, written with its end.

-- No row: the run is unmeasured, which is no funnel of zeros.
CREATE TABLE funnels (
    run      INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    document BLOB NOT NULL -- StageAnalytics
) STRICT;

UPDATE store_format SET schema_version = 3;
