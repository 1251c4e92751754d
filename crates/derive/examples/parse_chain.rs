//! Times what `strandline derive chain` is made of, in CPU seconds of one
//! thread, on a file of `{"id", "input"}` lines: `cargo run --release --example parse_chain FILE`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measuring program reads its file and the clock, and prints its figures"
)]

use std::{env, fs, hint::black_box};

use serde::{Deserialize, de::IgnoredAny};
use strandline_contract::{chain_input::ChainInput, chain_json::write_chain, quick::read_envelope};
use strandline_derive::chain::derive_chain;

/// Rounds; the best of them is printed.
const ROUNDS: usize = 5;

#[derive(Deserialize)]
struct Line<T> {
    input: T,
}

fn main() {
    let path = env::args().nth(1).expect("a file of lines");
    let bytes = fs::read(path).expect("the file is readable");
    let text = std::str::from_utf8(&bytes).expect("the file is UTF-8");
    let megabytes = bytes.len() as f64 / 1e6;
    let best = |name: &str, once: &mut dyn FnMut(&str)| {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = cpu_seconds();
            for line in text.lines() {
                once(line);
            }
            best = best.min(cpu_seconds() - start);
        }
        println!("{name:22} {best:.3} s  {:.0} MB/s", megabytes / best);
    };

    best("split", &mut |line| {
        black_box(line);
    });
    best("skip", &mut |line| {
        black_box(parse::<IgnoredAny>(line).input);
    });
    best("parse", &mut |line| {
        black_box(parse::<ChainInput<'_>>(line).input);
    });
    best("parse, derive", &mut |line| {
        let input = parse::<ChainInput<'_>>(line).input;
        black_box(derive_chain(&input));
    });
    let mut out = Vec::new();
    best("parse, derive, write", &mut |line| {
        let input = parse::<ChainInput<'_>>(line).input;
        out.clear();
        serde_json::to_writer(&mut out, &derive_chain(&input)).expect("a chain is JSON");
        black_box(&out);
    });
    best("quick: parse", &mut |line| {
        black_box(quick(line));
    });
    best("quick: all", &mut |line| {
        let input = quick(line);
        out.clear();
        write_chain(&derive_chain(&input), &mut out);
        black_box(&out);
    });
}

/// Returns the time this thread has spent on a core, so that a busy machine
/// does not count (Linux).
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or(f64::NAN, |nanoseconds: f64| nanoseconds / 1e9)
}

fn quick(line: &str) -> ChainInput<'_> {
    read_envelope(line)
        .expect("the line holds nothing unusual")
        .1
}

fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Line<T> {
    serde_json::from_str(line).expect("the line is a chain input")
}
