//! What judges say replaces a trial whole, and what they said before stays.

use serde_json::json;
use strandline_contract::{
    judgement::{GOAL_KEY, JudgePass},
    run::{RunRecord, TrialRecord},
    words::TaskResult,
};
use strandline_store::{Frames, Store, StoreError, TrialFilter};

use crate::sample;

fn pass(trial: &TrialRecord, at: i64, score: Option<f64>) -> JudgePass {
    let mut pass = json!({"version": 1, "trialId": trial.id, "at": at, "calls": []});
    match score {
        Some(score) => {
            pass["goal"] = json!({
                "status": "scored", "verdict": "pass", "score": score, "threshold": 0.7,
                "partialFloor": 0.4, "scores": [score], "samples": 1, "aggregation": "median",
                "straddle": false, "role": "required", "model": "openai/judge",
                "judgeTemplateVersion": 4, "judgeTemplateHash": "0a", "generatedAt": at,
            });
        }
        None => {
            pass["metadataAttribution"] = json!({
                "status": "scored", "attributed": false, "votes": 0, "answered": 1, "samples": 1,
                "aggregation": "majority", "straddle": false, "model": "openai/judge",
                "judgeTemplateVersion": 1, "judgeTemplateHash": "0b", "generatedAt": at,
            });
        }
    }
    serde_json::from_value(pass).expect("a pass")
}

/// The trial as a judge leaves it: it failed, and says why.
fn judged(trial: &TrialRecord, score: f64) -> TrialRecord {
    let mut judged = trial.clone();
    judged.result = Some(TaskResult::Failed);
    judged
        .metadata
        .insert(GOAL_KEY.to_owned(), json!({"score": score}));
    judged
}

/// A finished run with one trial that passed.
async fn finished(store: &Store) -> (RunRecord, TrialRecord) {
    let run = sample::run("r1", 1);
    store.start_run(&run).await.expect("starts");
    let trial = sample::trial("r1", 0, TaskResult::Passed);
    store
        .save_trial(&trial, &sample::trace())
        .await
        .expect("saves");
    let run = sample::finished(run);
    store.finish_run(&run).await.expect("finishes");
    (run, trial)
}

#[tokio::test]
async fn a_pass_replaces_trial_and_decision_and_keeps_the_trace() {
    let (_directory, store) = crate::new_store().await;
    let (mut run, trial) = finished(&store).await;
    let failed = judged(&trial, 0.2);
    run.decision = Some(json!({"verdictPolicyVersion": 2, "verdict": "failed"}));
    let first = pass(&trial, 7, Some(0.2));
    store
        .save_judgement(&failed, &first, Some(&run))
        .await
        .expect("saves");
    assert_eq!(store.trial(&trial.id).await.expect("reads"), failed);
    let rows = store
        .trial_rows("r1", &TrialFilter::default(), None, 9)
        .await;
    assert_eq!(
        rows.expect("lists").items[0].result,
        Some(TaskResult::Failed)
    );
    assert_eq!(store.run("r1").await.expect("reads").record, run);
    let stored = store.trace(&trial.id, Frames::Load).await.expect("reads");
    assert_eq!(stored.expect("is kept").trace, sample::trace());
}

#[tokio::test]
async fn earlier_passes_stay_and_say_that_they_are_superseded() {
    let (_directory, store) = crate::new_store().await;
    let (_, trial) = finished(&store).await;
    assert_eq!(store.judge_passes(&trial.id).await.expect("reads"), []);
    for (at, score) in [(1, Some(0.2)), (2, None), (3, Some(0.9))] {
        let pass = pass(&trial, at, score);
        store
            .save_judgement(&judged(&trial, 0.5), &pass, None)
            .await
            .expect("saves");
    }
    let passes = store.judge_passes(&trial.id).await.expect("reads");
    let told: Vec<(u32, bool, i64)> = passes
        .iter()
        .map(|stored| (stored.number, stored.superseded, stored.pass.at))
        .collect();
    // The second one speaks of something that no later one speaks of.
    assert_eq!(told, [(1, true, 1), (2, false, 2), (3, false, 3)]);
    assert_eq!(passes[2].pass, pass(&trial, 3, Some(0.9)));
}

#[tokio::test]
async fn a_judgement_of_an_unknown_trial_changes_nothing() {
    let (_directory, store) = crate::new_store().await;
    let (run, trial) = finished(&store).await;
    let mut unknown = judged(&trial, 0.2);
    "elsewhere".clone_into(&mut unknown.id);
    let refused = store
        .save_judgement(&unknown, &pass(&unknown, 1, Some(0.2)), Some(&run))
        .await;
    assert!(
        matches!(refused, Err(StoreError::NotFound { what: "trial", .. })),
        "{refused:?}"
    );
    assert_eq!(store.trial(&trial.id).await.expect("reads"), trial);
    // The writer is in no broken transaction.
    store
        .save_judgement(&judged(&trial, 0.2), &pass(&trial, 1, Some(0.2)), None)
        .await
        .expect("saves");
}

#[tokio::test]
async fn the_process_that_runs_a_run_judges_it_and_no_other() {
    let (directory, store) = crate::new_store().await;
    let trial = crate::with_one_trial(&store).await;
    let pass = pass(&trial, 1, Some(0.2));
    store
        .save_judgement(&judged(&trial, 0.2), &pass, None)
        .await
        .expect("its own");
    // Another handle on the file has not opened the run.
    let path = directory.path().join(".strandline/strandline.db");
    let other = Store::open(&path).await.expect("opens");
    let refused = other.save_judgement(&trial, &pass, None).await;
    assert!(
        matches!(refused, Err(StoreError::RunIsLive { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn passes_go_with_their_run() {
    let (_directory, store) = crate::new_store().await;
    let (_, trial) = finished(&store).await;
    store
        .save_judgement(&judged(&trial, 0.2), &pass(&trial, 1, Some(0.2)), None)
        .await
        .expect("saves");
    store
        .delete_runs(vec!["r1".to_owned()])
        .await
        .expect("deletes");
    assert_eq!(store.judge_passes(&trial.id).await.expect("reads"), []);
}
