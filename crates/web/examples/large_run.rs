//! How fast pages and API answer over a run of many trials.
//!
//! ```text
//! cargo run --release -p strandline-web --example large_run [TRIALS] [STORE]
//! ```
//!
//! Fills a store (kept where STORE names one, and used again), serves it on a
//! free port, asks every address over one connection at a time and prints
//! median and 95th percentile. Ends with 1 where an answer takes 200 ms.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use strandline_contract::{
    run::RunRecord,
    words::{IterationStatus, TaskResult},
};
use strandline_service::{project::Project, roll_ups};
use strandline_store::Store;
use strandline_web::{App, Hosts, Settings, Token, router, serve};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

#[path = "../../store/tests/store/sample.rs"]
#[expect(dead_code, reason = "the store's own tests use more of it")]
mod sample;

type Failure = Box<dyn std::error::Error>;

/// Trials of each case variant; the plan has at most 100.
const TRIALS_PER_CASE: u32 = 100;
/// Times that an address is asked.
const TIMES: usize = 40;
/// What an answer may take.
const BOUND: Duration = Duration::from_millis(200);
const RUN: &str = "r1";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let trials: u32 = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    let path = arguments.next().map_or_else(
        || directory.path().join(".strandline/strandline.db"),
        PathBuf::from,
    );
    let store = Store::open(&path).await?;
    if store.run_head(RUN).await.is_err() {
        fill(&store, trials).await?;
    }
    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    say(&format!("{trials} trials, {} MiB", bytes >> 20));
    measure(store, path.parent().unwrap_or(Path::new("."))).await
}

fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Stores a run in which one trial in fifty fails.
async fn fill(store: &Store, trials: u32) -> Result<(), Failure> {
    let started = Instant::now();
    let cases = trials.div_ceil(TRIALS_PER_CASE);
    let mut run = sample::run(RUN, TRIALS_PER_CASE);
    let planned = run.plan.remove(0);
    run.plan = (0..cases)
        .map(|case| {
            let mut planned = planned.clone();
            planned.case_id = format!("case-{case:04}");
            planned.title = format!("looks order {case} up");
            planned.configured_trials = TRIALS_PER_CASE.min(trials - case * TRIALS_PER_CASE);
            planned
        })
        .collect();
    store.start_run(&run).await?;
    let mut saved = Vec::new();
    let mut records = Vec::new();
    for number in 0..trials {
        let trial = trial(number);
        saved.push(tokio::spawn(store.save_trial(&trial, &sample::trace())));
        records.push(trial);
        if saved.len() == 64 {
            for one in saved.drain(..) {
                one.await??;
            }
        }
    }
    for one in saved {
        one.await??;
    }
    end(store, run, &records).await?;
    say(&format!("filled in {} s", started.elapsed().as_secs()));
    Ok(())
}

fn trial(number: u32) -> strandline_contract::run::TrialRecord {
    let (case, iteration) = (number / TRIALS_PER_CASE, number % TRIALS_PER_CASE);
    let result = if number % 50 == 7 {
        TaskResult::Failed
    } else {
        TaskResult::Passed
    };
    let mut trial = sample::trial(RUN, iteration, result);
    trial.id = format!("{RUN}-{number:06}");
    trial.case_id = format!("case-{case:04}");
    trial.title = format!("looks order {case} up");
    trial.status = IterationStatus::Completed;
    trial
}

async fn end(
    store: &Store,
    run: RunRecord,
    records: &[strandline_contract::run::TrialRecord],
) -> Result<(), Failure> {
    let mut run = sample::finished(run);
    run.decision = None;
    let counted = roll_ups::count(&run, records);
    store
        .finish_run_with_roll_ups(&run, &counted.funnel, &counted.overview)
        .await?;
    Ok(())
}

async fn measure(store: Store, project: &Path) -> Result<(), Failure> {
    let stopping = CancellationToken::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = App::new(
        Settings {
            store,
            launcher: None,
            project: Project::open(project)?,
            token: Token::random()?,
            reading_needs_token: false,
            hosts: Hosts::of(address, &[]),
        },
        stopping.clone(),
    );
    let serving = tokio::spawn(serve(listener, router(app), stopping.clone()));
    say(&format!(
        "{:>9} {:>9} {:>9}  address",
        "median", "p95", "KiB"
    ));
    let mut slow = 0;
    for target in TARGETS {
        let mut took = Vec::new();
        let mut length = 0;
        for _ in 0..TIMES {
            let started = Instant::now();
            length = ask(address, target).await?;
            took.push(started.elapsed());
        }
        took.sort_unstable();
        let (median, late) = (took[TIMES / 2], took[TIMES * 95 / 100]);
        let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        let mark = if late >= BOUND { "  SLOW" } else { "" };
        slow += usize::from(late >= BOUND);
        say(&format!(
            "{:>9} {:>9} {:>9}  {target}{mark}",
            shown(median),
            shown(late),
            length >> 10
        ));
    }
    stopping.cancel();
    serving.await??;
    if slow > 0 {
        return Err(format!("{slow} answers take {} ms or more", BOUND.as_millis()).into());
    }
    Ok(())
}

/// Asks for an address and returns the length of the answer.
async fn ask(address: std::net::SocketAddr, target: &str) -> Result<usize, Failure> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let request = format!("GET {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    if !line.starts_with("HTTP/1.1 200") {
        return Err(format!("{target}: {line}").into());
    }
    let mut body = Vec::new();
    Ok(stream.read_to_end(&mut body).await?)
}

const TARGETS: &[&str] = &[
    "/runs",
    "/runs/r1",
    "/runs/r1/trials",
    "/runs/r1/trials?notPassed=true",
    "/runs/r1/trials?stage=call&cursor=900.7",
    "/runs/r1/trials?stage=connection",
    "/runs/r1/trials?status=cancelled",
    "/runs/r1/trials?case=case-0777",
    "/runs/r1/funnel",
    "/runs/r1/funnel?by=model",
    "/trials/r1-050007",
    "/api/v1/runs",
    "/api/v1/runs/r1",
    "/api/v1/runs/r1?limit=200&notPassed=true",
    "/api/v1/runs/r1/diagnostics?limit=200&cursor=990.0",
    "/api/v1/runs/r1/trials?limit=200",
    "/api/v1/runs/r1/trials?limit=200&cursor=990.0",
    "/api/v1/runs/r1/trials?category=arguments&cursor=900.7",
    "/api/v1/runs/r1/trials?category=setup",
    "/api/v1/runs/r1/analytics",
    "/api/v1/runs/r1/friction?limit=200",
    "/api/v1/runs/r1/record",
    "/api/v1/runs/r1/events",
    "/api/v1/trials/r1-050007",
    "/api/v1/trials/r1-050007/trace?frames=true",
    "/api/v1/suites/orders/trend",
];
