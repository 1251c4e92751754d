#!/usr/bin/env bash
# The single-file report of a made-up long run: bytes and time to write it, and
# time in a browser until it is painted, filtered and a trial is open.
#
#   bench/file.sh [TRIALS]        (100,000 by default)
#
# Needs node and a Chromium (CHROMIUM=/path/to/it); fetches playwright-core into
# a temporary directory.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-save --prefix "$work" playwright-core@1.65.1
cargo run --quiet --release -p strandline-report --example file_report "${1:-100000}" "$work/run.html"
echo '{}' > "$work/package.json"
PLAYWRIGHT_FROM="$work" node bench/file.mjs "$work/run.html"
