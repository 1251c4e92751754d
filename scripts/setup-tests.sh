#!/usr/bin/env bash
# Installs what the tests talk to and what drives the browser: npm packages
# below tests/{servers,browser}/node_modules, Python packages below
# .cache/python. Does nothing when they are up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
    command -v "$1" >/dev/null || {
        echo "setup-tests: \`$1\` is needed to install the test servers; install $2 and run this again" >&2
        exit 1
    }
}

# stamp FILE... : what an installation was made from
stamp() { cat "$@" | sha256sum | cut -d' ' -f1; }

for packages in tests/servers tests/browser; do
    node_stamp=$packages/node_modules/.stamp
    node_wanted=$(stamp "$packages/package.json" "$packages/package-lock.json")
    if [ "$(cat "$node_stamp" 2>/dev/null)" != "$node_wanted" ]; then
        need npm "Node.js 20 or newer"
        echo "setup-tests: installing npm packages of $packages" >&2
        npm ci --prefix "$packages" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
        echo "$node_wanted" >"$node_stamp"
    fi
done

python_stamp=.cache/python/.stamp
python_wanted=$(stamp tests/servers/requirements.txt)
if [ "$(cat "$python_stamp" 2>/dev/null)" != "$python_wanted" ]; then
    need python3 "Python 3.10 or newer"
    echo "setup-tests: installing Python servers" >&2
    rm -rf .cache/python
    python3 -m venv .cache/python
    .cache/python/bin/pip install --quiet --disable-pip-version-check --no-input \
        --requirement tests/servers/requirements.txt >&2
    echo "$python_wanted" >"$python_stamp"
fi
