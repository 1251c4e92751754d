#!/usr/bin/env bash
# Installs what the tests need and runs them.
#
#   scripts/test.sh          set-up, then the tests
#   scripts/test.sh --all    the same, then format, lints, docs, licences, vendored files
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$1"; }

step "set-up"
scripts/setup-tests.sh
source scripts/tools.sh cargo-nextest

if [[ "${1:-}" == "--all" ]]; then
  step "format"
  cargo fmt --all --check
  step "lints"
  cargo clippy --workspace --all-targets --locked -- -D warnings
fi

step "tests"
cargo nextest run --workspace --locked ${CI:+--profile ci}

step "pages in a browser"
npm test --prefix tests/browser --silent

if [[ "${1:-}" == "--all" ]]; then
  step "docs"
  RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --locked --quiet
  step "licences, sources, duplicates"
  scripts/deny.sh
  step "vendored files"
  scripts/check-vendor.sh
fi
