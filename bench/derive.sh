#!/usr/bin/env bash
# Speed of `strandline derive chain` against Node.js.
#
# Yardstick: what Node.js takes for a bare JSON.parse and JSON.stringify of the
# same lines, reading and start-up left out. Product: the whole process, from
# file to /dev/null. Both alternate in one run; the medians of the rounds and
# their ratios are printed, beside what a bare typed parse and the parts of the
# derivation take in one thread.
#
# Usage: bench/derive.sh [ROUNDS [LINES]]
# STRANDLINE_BIN names a binary that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-7}
lines=${2:-60000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
file=$folder/chain.jsonl

binary=${STRANDLINE_BIN:-}
if [ -z "$binary" ]; then
  cargo build --release --quiet -p strandline
  binary=$(cargo metadata --format-version 1 --no-deps | node -e '
    let text = ""; process.stdin.on("data", (part) => (text += part));
    process.stdin.on("end", () => console.log(JSON.parse(text).target_directory))')/release/strandline
fi
node bench/derive/generate.mjs "$lines" 2026 "$file"
echo "$lines lines, $(stat -c %s "$file") bytes, $(nproc) cores, node $(node --version), $("$binary" --version)"

TIMEFORMAT='%3R %3U %3S'
product() { # jobs -> "wall cpu", seconds
  { time "$binary" derive chain --jobs "$1" "$file" >/dev/null; } 2>&1 | awk '{ print $1, $2 + $3 }'
}
memory() { # jobs -> MiB
  /usr/bin/time -f '%M' "$binary" derive chain --jobs "$1" "$file" 2>&1 >/dev/null | awk '{ printf "%.1f", $1 / 1024 }'
}

for _ in $(seq "$rounds"); do
  node bench/derive/yardstick.mjs "$file" >>"$folder/yardstick"
  product 1 >>"$folder/one"
  product 2 >>"$folder/two"
done

median() { # file column
  sort -g -k "$2" "$folder/$1" | awk -v column="$2" '{ value[NR] = $column } END { print value[int((NR + 1) / 2)] }'
}
row() { # name file
  wall=$(median "$2" 1)
  cpu=$(median "$2" 2)
  awk -v name="$1" -v wall="$wall" -v cpu="$cpu" -v base="$(median yardstick 1)" -v base_cpu="$(median yardstick 2)" \
    'BEGIN { printf "%-26s wall %.3f s (%.1fx)   CPU %.3f s (%.1fx)\n", name, wall, base / wall, cpu, base_cpu / cpu }'
}
row 'node parse + stringify' yardstick
row 'derive chain --jobs 1' one
row 'derive chain --jobs 2' two
echo "peak memory: $(memory 1) MiB with one job, $(memory 2) MiB with two"
echo 'in one thread, CPU seconds, best of five:'
cargo run --release --quiet -p strandline-derive --example parse_chain "$file"
