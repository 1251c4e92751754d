//! What LLM judges said: a pass replaces its trial in one transaction, and the
//! passes before it stay.

use std::path::Path;

use sqlx::SqliteConnection;
use strandline_contract::{
    judgement::JudgePass,
    run::{RunRecord, TrialRecord},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};

use crate::{
    Store, blob,
    error::StoreError,
    runs::{self, PreparedRun},
    writer::Alone,
};

/// One pass as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredJudgePass {
    /// Ordinal among the trial's passes, from 1.
    pub number: u32,
    /// A later pass speaks of everything that this one speaks of.
    pub superseded: bool,
    /// What was asked and answered.
    pub pass: JudgePass,
}

/// A judged trial, serialized by the caller.
pub(crate) struct PreparedJudgement {
    trial_id: String,
    run_id: String,
    /// Of the run, when this process has it open.
    token: Option<i64>,
    status: IterationStatus,
    result: Option<TaskResult>,
    evaluator_error: bool,
    first_failed_stage: Option<Stage>,
    failure_category: Option<FailureCategory>,
    document: Vec<u8>,
    at: i64,
    pass: Vec<u8>,
    run: Option<PreparedRun>,
}

impl Store {
    /// Stores a pass over a trial: the pass is added, the trial's record takes
    /// the place of the one before, and so does the run's, where one is given,
    /// all in one transaction.
    ///
    /// The trial must be stored; its trace stays. A run that another process is
    /// running is not touched.
    ///
    /// # Errors
    ///
    /// When the trial is not stored, its run is being run elsewhere, or the
    /// file cannot be written. Nothing is then changed.
    pub async fn save_judgement(
        &self,
        trial: &TrialRecord,
        pass: &JudgePass,
        run: Option<&RunRecord>,
    ) -> Result<(), StoreError> {
        let invalid = |reason| StoreError::InvalidTrial {
            trial: trial.id.clone(),
            reason,
        };
        let prepared = PreparedJudgement {
            trial_id: trial.id.clone(),
            run_id: trial.run_id.clone(),
            token: self.open_run(&trial.run_id).ok().map(|open| open.token),
            status: trial.status,
            result: trial.result,
            evaluator_error: trial.evaluator_error,
            first_failed_stage: trial.chain.first_failed_stage,
            failure_category: trial.chain.failure_category,
            document: blob::encode(trial).map_err(invalid)?,
            at: pass.at,
            pass: blob::encode(pass).map_err(invalid)?,
            run: run.map(PreparedRun::new).transpose()?,
        };
        self.ask(|reply| Alone::Judge(Box::new(prepared), reply))
            .await
    }

    /// Lists the passes over a trial, the first one first.
    ///
    /// # Errors
    ///
    /// When a pass cannot be read. A trial that nobody judged, or that is not
    /// stored, has none.
    pub async fn judge_passes(&self, trial_id: &str) -> Result<Vec<StoredJudgePass>, StoreError> {
        let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(
            "SELECT j.pass, j.document FROM judge_passes j JOIN trials t ON t.seq = j.trial \
             WHERE t.id = ? ORDER BY j.pass",
        )
        .bind(trial_id)
        .fetch_all(&self.readers)
        .await
        .map_err(self.failure())?;
        let mut passes = Vec::with_capacity(rows.len());
        for (number, document) in rows {
            let pass: JudgePass =
                blob::decode(&document).map_err(|detail| StoreError::UnreadableDocument {
                    what: format!("judge pass {number} of trial `{trial_id}`"),
                    detail,
                })?;
            passes.push(StoredJudgePass {
                number: u32::try_from(number).unwrap_or(u32::MAX),
                superseded: false,
                pass,
            });
        }
        mark_superseded(&mut passes);
        Ok(passes)
    }
}

/// A pass is superseded when later ones speak of everything it speaks of.
fn mark_superseded(passes: &mut [StoredJudgePass]) {
    let speaks = |pass: &JudgePass| {
        [
            pass.goal.is_some(),
            pass.metadata_attribution.is_some(),
            pass.suspected_condition.is_some(),
        ]
    };
    let mut later = [false; 3];
    for stored in passes.iter_mut().rev() {
        let own = speaks(&stored.pass);
        stored.superseded = own.iter().zip(later).all(|(own, later)| !own || later);
        for (later, own) in later.iter_mut().zip(own) {
            *later |= own;
        }
    }
}

pub(crate) async fn save(
    connection: &mut SqliteConnection,
    path: &Path,
    judgement: &PreparedJudgement,
) -> Result<(), StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut *connection)
        .await
        .map_err(fail)?;
    match judgement.token {
        // Ours: the lease must still be.
        Some(token) => {
            let held: Option<i64> =
                sqlx::query_scalar("SELECT seq FROM runs WHERE id = ? AND lease_token = ?")
                    .bind(&judgement.run_id)
                    .bind(token)
                    .fetch_optional(&mut *connection)
                    .await
                    .map_err(fail)?;
            if held.is_none() {
                return Err(StoreError::RunLost {
                    run: judgement.run_id.clone(),
                });
            }
        }
        None => runs::refuse_live(connection, path, &judgement.run_id).await?,
    }
    let trial: Option<i64> = sqlx::query_scalar(
        "UPDATE trials SET status = ?, result = ?, evaluator_error = ?, first_failed_stage = ?, \
         failure_category = ?, document = ? WHERE id = ? RETURNING seq",
    )
    .bind(judgement.status.wire())
    .bind(judgement.result.map(Vocabulary::wire))
    .bind(judgement.evaluator_error)
    .bind(judgement.first_failed_stage.map(Vocabulary::wire))
    .bind(judgement.failure_category.map(Vocabulary::wire))
    .bind(&judgement.document)
    .bind(&judgement.trial_id)
    .fetch_optional(&mut *connection)
    .await
    .map_err(fail)?;
    let trial = trial.ok_or_else(|| StoreError::NotFound {
        what: "trial",
        reference: judgement.trial_id.clone(),
    })?;
    sqlx::query(
        "INSERT INTO judge_passes (trial, pass, at, document) \
         SELECT ?1, 1 + coalesce((SELECT max(pass) FROM judge_passes WHERE trial = ?1), 0), ?2, ?3",
    )
    .bind(trial)
    .bind(judgement.at)
    .bind(&judgement.pass)
    .execute(&mut *connection)
    .await
    .map_err(fail)?;
    if let Some(run) = &judgement.run {
        sqlx::query("UPDATE runs SET document = ? WHERE id = ?")
            .bind(run.document())
            .bind(&judgement.run_id)
            .execute(&mut *connection)
            .await
            .map_err(fail)?;
    }
    sqlx::query("COMMIT")
        .execute(connection)
        .await
        .map_err(fail)?;
    Ok(())
}
