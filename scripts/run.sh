#!/bin/sh
# The demo of `make run`: examples/demo.py says what it does. Needs root for its network namespaces.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make run: the demo makes network namespaces, which needs root" >&2; exit 1; }
exec python3 -u examples/demo.py </dev/null
