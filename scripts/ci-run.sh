#!/usr/bin/env bash
# Runs suites in CI: annotations in the log, a summary on the run's page, JUnit
# files beside it. What the action calls; works in any CI.
#
#   STRANDLINE_SUITES   suite files, separated by white space (required)
#   STRANDLINE_ARGS     more arguments for `strandline run`, one a line
#   STRANDLINE_REPORTS  directory of the JUnit files (default strandline-reports)
#   STRANDLINE_BIN      a binary to use
#   STRANDLINE_SOURCE   a checkout to build the binary from, when there is none
set -euo pipefail

say() { echo "strandline: $1" >&2; }

read -r -d '' -a suites <<<"${STRANDLINE_SUITES:-}" || true
if [ ${#suites[@]} -eq 0 ]; then
    say "name suite files in STRANDLINE_SUITES"
    exit 2
fi
more=()
while IFS= read -r line; do
    if [ -n "$line" ]; then more+=("$line"); fi
done <<<"${STRANDLINE_ARGS:-}"

binary=${STRANDLINE_BIN:-}
if [ -z "$binary" ]; then
    if command -v strandline >/dev/null; then
        binary=strandline
    elif [ -n "${STRANDLINE_SOURCE:-}" ]; then
        cargo build --release --locked --quiet --manifest-path "$STRANDLINE_SOURCE/Cargo.toml" --package strandline
        binary=${CARGO_TARGET_DIR:-$STRANDLINE_SOURCE/target}/release/strandline
    else
        say "there is no \`strandline\` on PATH; set STRANDLINE_BIN or STRANDLINE_SOURCE"
        exit 4
    fi
fi

reports=${STRANDLINE_REPORTS:-strandline-reports}
mkdir -p "$reports"
summaries=$(mktemp -d)
trap 'rm -rf "$summaries"' EXIT

arguments=(--reporter "junit=$reports/{suite}.xml" --reporter "markdown=$summaries/{suite}.md")
if [ -n "${GITHUB_ACTIONS:-}" ]; then arguments+=(--reporter github); fi

code=0
"$binary" run "${suites[@]}" "${arguments[@]}" ${more[@]+"${more[@]}"} || code=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    for summary in "$summaries"/*.md; do
        if [ -e "$summary" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
    done
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "exit-code=$code" >>"$GITHUB_OUTPUT"; fi
exit "$code"
