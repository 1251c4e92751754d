#!/usr/bin/env bash
# Checks licences, sources and duplicate crates.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/tools.sh cargo-deny
cargo deny --log-level error check licenses bans sources
