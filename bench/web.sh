#!/usr/bin/env bash
# How fast pages and API answer over a run of 100,000 trials.
#
#   bench/web.sh [TRIALS] [STORE]
#
# Fills a store, or uses the one at STORE again, and prints median and 95th
# percentile of every address; ends with 1 where one takes 200 ms or more.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --release --locked --quiet -p strandline-web --example large_run -- "$@"
