#!/usr/bin/env bash
# Whole runs against a fake model endpoint and an echo server, both on loopback.
#
#   bench/run.sh            builds what it needs in release mode, then measures
#
# Prints: start time of the binary; our own CPU per one-call trial (two model
# requests, one tool call, graded and stored); trials per second at concurrency
# 8; efficiency against the ideal at 200 ms model latency and concurrency 200.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet -p strandline -p strandline-testkit --bins
exec python3 bench/run.py "${CARGO_TARGET_DIR:-target}/release"
