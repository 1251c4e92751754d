//! What storing a trial costs: CPU and wall time per trial, bytes per trial.
//!
//! `cargo run --release -p strandline-store --example save_trial [TRIALS]`

#[path = "../tests/store/sample.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod sample;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use strandline_contract::words::TaskResult;
use strandline_store::Store;

/// The binary's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trials: u32 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 5_000,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{trials} trials each, {} bytes of JSON a trial",
        json_size()
    )?;
    for concurrency in [1, 8, 64] {
        let line = runtime.block_on(measure(trials, concurrency))?;
        writeln!(out, "{line}")?;
    }
    Ok(())
}

async fn measure(trials: u32, concurrency: usize) -> Result<String, Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("strandline.db");
    let store = Store::open(&path).await?;
    store.start_run(&sample::run("r1", trials)).await?;
    let trace = sample::trace();
    let records: Vec<_> = (0..trials)
        .map(|iteration| sample::trial("r1", iteration, TaskResult::Passed))
        .collect();
    let (cpu, wall) = (cpu_time()?, Instant::now());
    let mut saves = stream::iter(&records)
        .map(|record| store.save_trial(record, &trace))
        .buffer_unordered(concurrency);
    while let Some(saved) = saves.next().await {
        saved?;
    }
    drop(saves);
    let (cpu, wall) = (cpu_time()? - cpu, wall.elapsed());
    store.close().await?;
    let bytes = std::fs::metadata(&path)?.len();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(trials);
    Ok(format!(
        "concurrency {concurrency:>3}: {:>6.1} us CPU, {:>6.1} us wall a trial, {:>7.0} trials/s, {:>5} bytes a trial",
        each(cpu),
        each(wall),
        f64::from(trials) / wall.as_secs_f64(),
        bytes / u64::from(trials),
    ))
}

fn json_size() -> usize {
    let size = |value: serde_json::Result<Vec<u8>>| value.map_or(0, |json| json.len());
    size(serde_json::to_vec(&sample::trial(
        "r1",
        0,
        TaskResult::Passed,
    ))) + size(serde_json::to_vec(&sample::trace()))
}

/// User and system time of this process, all threads.
fn cpu_time() -> Result<Duration, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .ok_or("no process name")?
        .1
        .split_whitespace()
        .collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // Linux reports clock ticks of 10 ms to every program.
    Ok(Duration::from_millis(ticks * 10))
}
