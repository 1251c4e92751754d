-- Schema 5: pages of large runs without reading every trial's row. All but the
-- first index leave trials that passed out, which are most of a large run.

-- In the order of storing: every entry ends with the trial's own number.
CREATE INDEX trials_of_run ON trials (run);
CREATE INDEX trials_not_passed ON trials (run, planned, iteration) WHERE result IS NOT 'passed';
CREATE INDEX trials_by_stage ON trials (run, first_failed_stage, planned, iteration)
    WHERE first_failed_stage IS NOT NULL;
CREATE INDEX trials_by_category ON trials (run, failure_category, planned, iteration)
    WHERE failure_category IS NOT NULL;
CREATE INDEX trials_by_status ON trials (run, status, planned, iteration) WHERE status <> 'completed';

UPDATE store_format SET schema_version = 5;
