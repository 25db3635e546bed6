#!/bin/sh
# A demo of examples/, which says what it does: demo of `make run`, consul_demo of `make run-consul`. Needs root for its network
# namespaces.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make run: the demo makes network namespaces, which needs root" >&2; exit 1; }
exec python3 -u "examples/${1:-demo}.py" </dev/null
