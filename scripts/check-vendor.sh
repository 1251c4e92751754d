#!/usr/bin/env bash
# Proves that every vendored file equals the one in its npm package: fetches
# the named version, checks the package's integrity, compares byte by byte.
set -euo pipefail
cd "$(dirname "$0")/../crates/report/assets/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for directory in */; do
  directory=${directory%/}
  field() { sed -n "s/^$1: //p" "$directory/VERSION"; }
  package="$(field package)@$(field version)"
  tarball=$(cd "$work" && npm pack --silent "$package")
  found="sha512-$(openssl dgst -sha512 -binary "$work/$tarball" | base64 -w 0)"
  [ "$found" = "$(field integrity)" ] || { echo "$package: the package's integrity is $found"; exit 1; }
  rm -rf "$work/package"
  tar -xzf "$work/$tarball" -C "$work"
  for file in "$directory"/*; do
    name=$(basename "$file")
    [ "$name" = VERSION ] && continue
    original=$(find "$work/package" -name "$name" -type f | head -n 1)
    [ -n "$original" ] || { echo "$package has no $name"; exit 1; }
    cmp "$original" "$file"
  done
  echo "$directory: equal to $package"
done
