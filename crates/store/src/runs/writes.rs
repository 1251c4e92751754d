//! The writer's side. Each function is one transaction; the writer rolls back
//! when one returns an error.

use std::path::Path;

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use strandline_contract::{
    run::{PlannedCase, RunStatus},
    words::Vocabulary,
};

use super::{OpenRun, PreparedRun, RunRow, prepared::Snapshot, read_plan, variant_key};
use crate::{
    blob,
    error::StoreError,
    funnels::{self, PreparedRollUps},
    lease::{self, Liveness, Owner},
};

/// Begins a transaction whose commit is forced to the disk.
const BEGIN_FORCED: &str = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE";
/// Commits it.
const COMMIT_FORCED: &str = "COMMIT; PRAGMA synchronous = NORMAL";

pub(crate) async fn start(
    connection: &mut SqliteConnection,
    path: &Path,
    run: PreparedRun,
) -> Result<OpenRun, StoreError> {
    let owner = Owner::current();
    let transaction = async {
        sqlx::query(BEGIN_FORCED).execute(&mut *connection).await?;
        let seq = sqlx::query(
            "INSERT INTO runs (id, status, suite_id, suite_name, started_at, ended_at, scripted, document, \
             lease_token, lease_until, owner_machine, owner_pid, owner_start) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
        )
        .bind(&run.id)
        .bind(run.status.wire())
        .bind(&run.suite_id)
        .bind(&run.suite_name)
        .bind(run.started_at)
        .bind(run.ended_at)
        .bind(run.scripted)
        .bind(&run.document)
        .bind(lease::lease_end())
        .bind(&owner.machine)
        .bind(i64::from(owner.pid))
        .bind(owner.started)
        .execute(&mut *connection)
        .await?
        .last_insert_rowid();
        insert_plan(connection, seq, &run.plan).await?;
        link(connection, seq, "suite", 0, &run.suite).await?;
        for (ordinal, tools) in (0_i64..).zip(&run.tools) {
            link(connection, seq, "tools", ordinal, tools).await?;
        }
        sqlx::query(COMMIT_FORCED).execute(&mut *connection).await?;
        Ok(seq)
    };
    match transaction.await {
        Ok(seq) => Ok(OpenRun::new(&run.id, seq, 1, false, &run.plan)),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Err(StoreError::InvalidRun {
                run: run.id,
                reason: "its id is already in the store".to_owned(),
            })
        }
        Err(error) => Err(StoreError::from_sqlx(path, &error)),
    }
}

async fn insert_plan(
    connection: &mut SqliteConnection,
    run: i64,
    plan: &[PlannedCase],
) -> Result<(), sqlx::Error> {
    /// Rows a statement; SQLite takes 32,766 parameters.
    const ROWS: usize = 500;
    let mut ordinal: i64 = 0;
    for chunk in plan.chunks(ROWS) {
        let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(
            "INSERT INTO planned_cases (run, ordinal, case_id, variant_key, model, provider, title, \
             configured_trials, pass_threshold) ",
        );
        query.push_values(chunk, |mut row, case| {
            let variant = case.variant.as_ref();
            row.push_bind(run)
                .push_bind(ordinal)
                .push_bind(&case.case_id)
                .push_bind(variant_key(variant))
                .push_bind(variant.map(|variant| &variant.model))
                .push_bind(variant.and_then(|variant| variant.provider.as_ref()))
                .push_bind(&case.title)
                .push_bind(case.configured_trials)
                .push_bind(case.pass_threshold);
            ordinal += 1;
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Stores a snapshot unless it is there, and links it to a run.
async fn link(
    connection: &mut SqliteConnection,
    run: i64,
    role: &str,
    ordinal: i64,
    snapshot: &Snapshot,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO snapshots (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING")
        .bind(&snapshot.hash)
        .bind(&snapshot.body)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT OR REPLACE INTO run_snapshots (run, role, ordinal, snapshot) \
         SELECT ?, ?, ?, seq FROM snapshots WHERE hash = ?",
    )
    .bind(run)
    .bind(role)
    .bind(ordinal)
    .bind(&snapshot.hash)
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn claim(
    connection: &mut SqliteConnection,
    path: &Path,
    id: &str,
) -> Result<OpenRun, StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    sqlx::query(BEGIN_FORCED)
        .execute(&mut *connection)
        .await
        .map_err(fail)?;
    let row = RunRow::fetch(connection, id)
        .await
        .map_err(fail)?
        .ok_or_else(|| StoreError::NotFound {
            what: "run",
            reference: id.to_owned(),
        })?;
    if let Liveness::Live { pid } = row.liveness()? {
        return Err(StoreError::RunIsLive {
            run: id.to_owned(),
            pid,
        });
    }
    let mut record = row.record()?;
    record.status = RunStatus::Running;
    record.ended_at = None;
    record.decision = None;
    record.integrity_error = None;
    record.error = None;
    let document = blob::encode(&record).map_err(|reason| StoreError::InvalidRun {
        run: id.to_owned(),
        reason,
    })?;
    let plan = read_plan(connection, row.seq).await.map_err(fail)?;
    let owner = Owner::current();
    let token: i64 = sqlx::query_scalar(
        "UPDATE runs SET status = 'running', ended_at = NULL, document = ?, lease_token = lease_token + 1, \
         lease_until = ?, owner_machine = ?, owner_pid = ?, owner_start = ? WHERE seq = ? RETURNING lease_token",
    )
    .bind(document)
    .bind(lease::lease_end())
    .bind(&owner.machine)
    .bind(i64::from(owner.pid))
    .bind(owner.started)
    .bind(row.seq)
    .fetch_one(&mut *connection)
    .await
    .map_err(fail)?;
    funnels::remove(connection, row.seq).await.map_err(fail)?;
    sqlx::query(COMMIT_FORCED)
        .execute(connection)
        .await
        .map_err(fail)?;
    Ok(OpenRun::new(id, row.seq, token, true, &plan))
}

/// Whether the owner goes on after an update.
pub(crate) enum Then {
    GoOn,
    /// The lease is given up; the run's roll-ups are stored with its end.
    End(Option<PreparedRollUps>),
}

pub(crate) async fn update(
    connection: &mut SqliteConnection,
    path: &Path,
    open: &OpenRun,
    run: PreparedRun,
    then: Then,
) -> Result<(), StoreError> {
    let lease_until = match then {
        Then::GoOn => lease::lease_end(),
        Then::End(_) => 0,
    };
    let transaction = async {
        sqlx::query(BEGIN_FORCED).execute(&mut *connection).await?;
        let updated = sqlx::query(
            "UPDATE runs SET status = ?, ended_at = ?, scripted = ?, document = ?, lease_until = ? \
             WHERE seq = ? AND lease_token = ?",
        )
        .bind(run.status.wire())
        .bind(run.ended_at)
        .bind(run.scripted)
        .bind(&run.document)
        .bind(lease_until)
        .bind(open.seq)
        .bind(open.token)
        .execute(&mut *connection)
        .await?
        .rows_affected();
        if updated == 0 {
            return Ok(false);
        }
        for (ordinal, tools) in (0_i64..).zip(&run.tools) {
            link(connection, open.seq, "tools", ordinal, tools).await?;
        }
        if let Then::End(roll_ups) = &then {
            if let Some(roll_ups) = roll_ups {
                funnels::put(connection, open.seq, roll_ups).await?;
            }
            // Who ran it matters only while it runs.
            sqlx::query("UPDATE runs SET owner_machine = '' WHERE seq = ?")
                .bind(open.seq)
                .execute(&mut *connection)
                .await?;
        }
        sqlx::query(COMMIT_FORCED).execute(&mut *connection).await?;
        Ok(true)
    };
    match transaction.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::RunLost {
            run: open.id.clone(),
        }),
        Err(error) => Err(StoreError::from_sqlx(path, &error)),
    }
}

/// Raises the number of trials of one planned case variant; it never falls.
pub(crate) async fn extend(
    connection: &mut SqliteConnection,
    path: &Path,
    open: &OpenRun,
    ordinal: i64,
    configured_trials: u32,
) -> Result<(), StoreError> {
    let updated = sqlx::query(
        "UPDATE planned_cases SET configured_trials = max(configured_trials, ?) \
         WHERE ordinal = ? AND run = (SELECT seq FROM runs WHERE seq = ? AND lease_token = ?)",
    )
    .bind(configured_trials)
    .bind(ordinal)
    .bind(open.seq)
    .bind(open.token)
    .execute(connection)
    .await
    .map_err(|error| StoreError::from_sqlx(path, &error))?
    .rows_affected();
    if updated == 0 {
        return Err(StoreError::RunLost {
            run: open.id.clone(),
        });
    }
    open.extend(ordinal, configured_trials);
    Ok(())
}

/// Renews a lease in a forced commit; false when it is no longer ours.
pub(crate) async fn renew(
    connection: &mut SqliteConnection,
    open: &OpenRun,
) -> Result<bool, sqlx::Error> {
    sqlx::query("PRAGMA synchronous = FULL")
        .execute(&mut *connection)
        .await?;
    let renewed = sqlx::query("UPDATE runs SET lease_until = ? WHERE seq = ? AND lease_token = ?")
        .bind(lease::lease_end())
        .bind(open.seq)
        .bind(open.token)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    sqlx::query("PRAGMA synchronous = NORMAL")
        .execute(connection)
        .await?;
    Ok(renewed > 0)
}

/// Ends a lease.
pub(crate) async fn release(
    connection: &mut SqliteConnection,
    open: &OpenRun,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE runs SET lease_until = 0 WHERE seq = ? AND lease_token = ?")
        .bind(open.seq)
        .bind(open.token)
        .execute(connection)
        .await?;
    Ok(())
}

/// Tells, inside a transaction, whether a run is being run.
pub(crate) async fn is_live(
    connection: &mut SqliteConnection,
    path: &Path,
    id: &str,
) -> Result<bool, StoreError> {
    let row = RunRow::fetch(connection, id)
        .await
        .map_err(|error| StoreError::from_sqlx(path, &error))?;
    match row {
        None => Ok(false),
        Some(row) => Ok(matches!(row.liveness()?, Liveness::Live { .. })),
    }
}

/// Refuses, inside a transaction, a run that is being run.
pub(crate) async fn refuse_live(
    connection: &mut SqliteConnection,
    path: &Path,
    id: &str,
) -> Result<(), StoreError> {
    let row = RunRow::fetch(connection, id)
        .await
        .map_err(|error| StoreError::from_sqlx(path, &error))?
        .ok_or_else(|| StoreError::NotFound {
            what: "run",
            reference: id.to_owned(),
        })?;
    match row.liveness()? {
        Liveness::Live { pid } => Err(StoreError::RunIsLive {
            run: id.to_owned(),
            pid,
        }),
        Liveness::Ended | Liveness::Dead { .. } => Ok(()),
    }
}
