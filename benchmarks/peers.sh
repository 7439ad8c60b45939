#!/bin/sh
# Build .venv-peers, where pyDVL (which needs numpy < 2) and this checkout of leanset run in one process:
#     sh benchmarks/peers.sh && .venv-peers/bin/python -m benchmarks influence
set -eu
cd "$(dirname "$0")/.."
test -x .venv-peers/bin/python || "${PYTHON:-python3}" -m venv .venv-peers
echo '*' > .venv-peers/.gitignore
pip() { .venv-peers/bin/python -m pip install --quiet --constraint constraints.txt "$@"; }
# pyarrow 26 refuses to be imported beside numpy 1, but does not say so in its metadata.
pip torch "pyDVL[influence]" "pyarrow<26" .
# Once more without its dependencies: pip takes an equal version number for an equal package.
pip --force-reinstall --no-deps .
