# Fairlead's build. Every target does the set-up it needs (scripts/setup.sh), so a fresh clone starts with any of them.
#
#   make build                  build/fairlead, the release build
#   make run                    the demo: a mesh of real Envoys; Ctrl-C stops all of it
#   make test                   builds with assertions and runs every test; PRESET=release tests the release build
#   make test-asan, test-tsan   the same under the sanitizers
#   make lint, format           clang-format, clang-tidy of the files changed since it passed, and the language of the documents
#   make bench                  the micro benchmarks and bench-scale, release build
#   make bench-scale [ONLY=A,C] whole meshes with simulated sidecars; see bench/scale/scale.py
#   make bench-cluster [ONLY=start-C,churn-C-50]   a mesh in a real API server: start, memory, pods replaced; bench/cluster/cluster.py
#   make bench-renewals         do pushes wait while 10,000 workloads renew their certificates
#   make bench-sources [ONLY=consul] [PEER=1]   Consul, Mesos and etcd as sources: start, changes, rest; bench/sources.py
#   make bench-injection [RATE=300]   how long injected pods wait for the webhook
#   make soak [SECONDS=60] [SOAK=asan]   random changes under 500 sidecars, 30 minutes; see bench/scale/soak.py
#   make conformance [AREA=destinations] [SHOW=3]   conformance cases against build/fairlead
#   make mcp-conformance [PROTOCOL=delta]           the cases through a second Fairlead, over MCP
#   make beyond [ONLY=dual46] [SHOW=20]             the cases as other proxies, with other settings and variables
#   make updates [AREA=...] [DELTA=1] [SEED=2]      one case becomes another under connected proxies, over gRPC
#   make stock-envoy [AREA=...]                     does the real Envoy accept what it is sent
#   make random-calls [AREA=...] [SEED=1]           does it decide as fairlead simulate does, on random calls
#   make validation                                 verdicts on objects, kind by kind, against Istio's
#   make status                                     statuses of Gateway API objects against Istio's
#   make iptables [CASES=DIR] [SHOW=3]              namespaces that `fairlead agent iptables` leaves behind, against istio-iptables'; root
#   make injection [CASES=DIR] [ONLY=NAME] [SHOW=5] injected pods against Istio's
#   make bootstrap [CASES=DIR] [SHOW=3]             Envoy's bootstrap and arguments against pilot-agent's; needs root
#   make gateway-api-conformance [ONLY=NAME,...] [SIDECARS=1]   the Gateway API's own suite, on files, with real Envoys
#   make gateway-conformance [ONLY=NAME,...]   the same suite in a Kubernetes on this machine, with Fairlead from its chart; a report
#   make cluster                a Kubernetes on this machine with Fairlead in it, and its kubeconfig; Ctrl-C ends it
#   make run-cluster            the demo in that Kubernetes: Fairlead from its chart, a shop with sidecars, a gateway; Ctrl-C ends it
#   make run-consul             the demo with services of a real Consul agent; Ctrl-C ends it
#   make cluster-conformance [CASES=DIR] [AREA=...] [SHOW=3] [ONE=1]   the cases through a real API server; ONE: without a restart
#   make cluster-status [SHOW=3]   the statuses that Fairlead writes into a real API server, against Istio's
#   make test-cluster           all tests in the cluster (docs/test-cluster.md)
#   make fuzz [TIME=60] [ONLY=stream_core]          libFuzzer on each parser and the protocol core, TIME seconds each
#   make install [PREFIX=/usr/local DESTDIR=]  the program, its manual page, completion and systemd unit
#   make deb                    a Debian package, build/fairlead_VERSION_ARCHITECTURE.deb
#   make tools                  the clients and generators of tools/, into build/tools

PRESET ?= dev
JOBS ?= $(shell nproc)
AREA ?=
SHOW ?= 0
SEED ?= 1
DELTA ?=
ONLY ?=
TIME ?= 60
SOAK ?= release
SECONDS ?= 1800
PREFIX ?= /usr/local
CASES ?= $(firstword $(wildcard ../shared/conformance) tests/conformance)
INJECTION_CASES = $(if $(filter file,$(origin CASES)),$(firstword $(wildcard ../shared/injection/cases) tests/injection/cases),$(CASES))
BOOTSTRAP_CASES := $(if $(filter command line environment,$(origin CASES)),$(CASES),$(firstword $(wildcard ../shared/bootstrap/cases) tests/bootstrap/cases))
STATUS_CASES := $(firstword $(wildcard ../shared/status/cases) tests/status/cases)
DEPS := $(or $(FAIRLEAD_DEPS),$(CURDIR)/.deps)
SERVER := build/fairlead discovery --configDir {config} --meshConfig {mesh} --networksConfig {networks} \
  --grpcAddr 127.0.0.1:{port} --httpAddr "" --httpsAddr "" --secureGRPCAddr "" --monitoringAddr "" --stateDir ""
CLUSTER_SERVER := build/fairlead discovery --kubeconfig {kubeconfig} --meshConfig {mesh} --networksConfig {networks} \
  --grpcAddr 127.0.0.1:{port} --httpAddr 127.0.0.1:{http} --httpsAddr "" --secureGRPCAddr "" --monitoringAddr "" --stateDir ""
# The cases are what istiod reads: nobody makes EndpointSlices of their Pods. Their proxies are who they say they are.
CASE_ENV := FAIRLEAD_ENDPOINTS_FROM_PODS=false FAIRLEAD_PLAINTEXT_IDENTITY=node
SOURCES = $(shell git ls-files --cached --others --exclude-standard 'src/*.cc' 'src/*.h' 'cmd/*.cc' 'cmd/*.h' 'tests/*.cc' 'tests/*.h')

.PHONY: all setup setup-cluster build run run-cluster run-consul test test-cluster cluster cluster-conformance cluster-status test-asan test-tsan lint format bench bench-cluster bench-renewals bench-injection bench-scale bench-sources soak tools conformance mcp-conformance beyond updates stock-envoy random-calls validation status bootstrap iptables injection gateway-api-conformance gateway-conformance fuzz install deb clean
.DELETE_ON_ERROR:
all: build

setup:
	@scripts/setup.sh

# The Kubernetes that tests run in; nobody else needs it.
setup-cluster: | setup
	@scripts/setup.sh cluster

# Configures once and again when asked to by ninja itself; a preset that changed is seen by its time stamp.
build/%/build.ninja: CMakePresets.json | setup
	@cmake --preset $* >build-$*.log 2>&1 || { cat build-$*.log; rm -f build-$*.log; exit 1; }
	@rm -f build-$*.log
	@touch $@

build: build/release/build.ninja
	ninja -C build/release -j$(JOBS) fairlead fairlead_templates
	@ln -sfn release/bin/fairlead build/fairlead
	@ln -sfn release/bin/fairlead-templates build/fairlead-templates

install: build
	DESTDIR=$(DESTDIR) sh packaging/install.sh build/fairlead $(PREFIX)

deb: build
	@sh packaging/deb.sh build/fairlead build

run: build
	@scripts/run.sh

# The first time an agent is built, with 6 minutes of CPU.
run-consul: build
	@scripts/setup.sh consul
	@scripts/run.sh consul_demo

test: build/$(PRESET)/build.ninja tools setup-cluster
	ninja -C build/$(PRESET) -j$(JOBS)
	FAIRLEAD_NEEDS_CLUSTER=1 ctest --test-dir build/$(PRESET) -j$(JOBS) --output-on-failure

test-cluster: build/$(PRESET)/build.ninja tools setup-cluster
	cd tests/cluster/box && GOTOOLCHAIN=local GOFLAGS="-mod=readonly -buildvcs=false" go test ./internal/...
	ninja -C build/$(PRESET) -j$(JOBS) fairlead
	FAIRLEAD_NEEDS_CLUSTER=1 ctest --test-dir build/$(PRESET) -C cluster -L cluster --output-on-failure

cluster: build setup-cluster
	@python3 -B tests/cluster/run.py build/fairlead

run-cluster: build setup-cluster
	@python3 -B tests/cluster/demo.py

cluster-conformance: build tools setup-cluster
	$(CASE_ENV) python3 -B tests/cluster/cluster_conformance.py --cases $(CASES) --xdsdump build/tools/xdsdump \
	  --server '$(CLUSTER_SERVER)' --filter '$(if $(AREA),/$(AREA)/)' --show $(SHOW) $(if $(ONE),--one-server)

cluster-status: build setup-cluster
	rm -rf build/cluster-status
	FAIRLEAD_ENABLE_UDP_ROUTES=false python3 -B tests/cluster/cluster_conformance.py --cases $(STATUS_CASES) --statuses build/cluster-status --server '$(CLUSTER_SERVER)'
	python3 -B tools/status.py --cases $(STATUS_CASES) --show $(or $(filter-out 0,$(SHOW)),5) \
	  --status 'cat build/cluster-status/{case}/status.json'

test-asan test-tsan: test-%:
	@scripts/setup.sh clang
	@$(MAKE) --no-print-directory test PRESET=$*

lint: build/dev/build.ninja
	@python3 -B scripts/check_prose.py .
	@scripts/setup.sh clang
	clang-format-16 --dry-run -Werror $(SOURCES)
	ninja -C build/dev -j$(JOBS) fairlead_gen_headers batches
	scripts/tidy.py -j$(JOBS) build/dev

format:
	@scripts/setup.sh clang
	clang-format-16 -i $(SOURCES)

bench: build/release/build.ninja
	ninja -C build/release -j$(JOBS) benches
	@for bench in build/release/bin/*_bench; do echo "== $$bench"; $$bench || exit 1; done
	@$(MAKE) --no-print-directory bench-scale bench-renewals

soak: build/$(SOAK)/build.ninja tools
	ninja -C build/$(SOAK) -j$(JOBS) fairlead
	python3 -B bench/scale/soak.py --fairlead build/$(SOAK)/bin/fairlead --tools build/tools --work build/soak \
	  --seconds $(SECONDS) $(if $(filter release,$(SOAK)),,--any-memory --shadow --proxies 200)

bench-renewals: build tools
	python3 -B bench/scale/renewals.py --fairlead build/fairlead --tools build/tools --work build/scale

bench-scale: build tools build/tools/replay
	python3 -B bench/scale/scale.py --fairlead build/fairlead --tools build/tools --work build/scale \
	  --json build/scale.json $(if $(ONLY),--only $(ONLY))

# A mesh in a kube-apiserver of its own; root.
bench-cluster: build tools setup-cluster
	python3 -B bench/cluster/cluster.py --fairlead build/fairlead --tools build/tools --work build/bench-cluster \
	  --json build/bench-cluster.json $(if $(ONLY),--only $(ONLY)) $(if $(SERVER_COMMAND),--server '$(SERVER_COMMAND)')

tools: $(addprefix build/tools/,xdsdump xdsload meshgen meshload podchurn certload injectload) | setup

build/tools/xdsdump: $(wildcard tools/xdsdump/*)
build/tools/xdsload: $(wildcard tools/xdsload/*)
build/tools/meshgen: $(wildcard tools/meshgen/*)
build/tools/certload: $(wildcard tools/certload/*)
build/tools/injectload: $(wildcard tools/injectload/*)
build/tools/xdsdump build/tools/xdsload build/tools/meshgen build/tools/certload build/tools/injectload: build/tools/%: | setup
	@mkdir -p build/tools
	cd tools/$* && GOTOOLCHAIN=local GOFLAGS="-mod=mod -buildvcs=false" go build -o $(CURDIR)/$@ .
build/tools/meshload build/tools/podchurn: build/tools/%: tools/meshgen/%/main.go tools/meshgen/go.mod | setup
	@mkdir -p build/tools
	cd tools/meshgen && GOTOOLCHAIN=local GOFLAGS="-mod=mod -buildvcs=false" go build -o $(CURDIR)/$@ ./$*
build/tools/replay: tools/replay/replay.cc | setup
	@mkdir -p build/tools
	$(CXX) -std=c++20 -O2 $< -o $@ $$(pkg-config --cflags --libs grpc++)

conformance: build tools
	$(CASE_ENV) python3 -B tools/conformance.py --cases $(CASES) --xdsdump build/tools/xdsdump --server '$(SERVER)' \
	  --filter '$(if $(AREA),/$(AREA)/)' --show $(SHOW)

mcp-conformance: build tools
	$(CASE_ENV) python3 -B tools/conformance.py --cases $(CASES) --xdsdump build/tools/xdsdump --filter '$(if $(AREA),/$(AREA)/)' --show $(SHOW) \
	  --server 'python3 -B tests/sources/through_mcp.py build/fairlead {config} {port} --protocol=$(or $(PROTOCOL),sotw) --meshConfig {mesh} --networksConfig {networks}'

beyond: build tools
	$(CASE_ENV) python3 -B tools/beyond.py $(or $(wildcard ../shared/beyond/*.json.gz),$(wildcard tests/beyond/*.json.gz)) --cases $(CASES) \
	  --xdsdump build/tools/xdsdump --server '$(SERVER)' --filter '$(if $(AREA),$(AREA)/)' --only '$(ONLY)' --show $(or $(filter-out 0,$(SHOW)),20)

updates: build tools
	$(CASE_ENV) python3 -B tools/updates.py --cases $(CASES) --xdsdump build/tools/xdsdump --server '$(SERVER)' \
	  --filter '$(if $(AREA),/$(AREA)/)' --show $(SHOW) --wait 15 --quiet 1500ms --seed $(SEED) $(if $(DELTA),--delta)

stock-envoy: build tools
	$(CASE_ENV) python3 -B tools/envoy_accepts.py --cases $(CASES) --xdsdump build/tools/xdsdump --envoy $(DEPS)/envoy \
	  --server '$(SERVER)' --filter '$(if $(AREA),/$(AREA)/)' --show $(SHOW)

random-calls: build/dev/build.ninja
	ninja -C build/dev -j$(JOBS) simulation_feed
	unshare --net python3 -B tests/simulation/random_calls.py --cases $(CASES) --filter '$(if $(AREA),/$(AREA)/)' --seed $(or $(SEED),1)

validation: build
	python3 -B tools/validation.py --cases $(firstword $(wildcard ../shared/validation) tests/validation) \
	  --validate 'build/fairlead validate -o json -f {file}' --show $(SHOW)

status: build
	python3 -B tools/status.py --cases $(STATUS_CASES) \
	  --known tests/status/known-failures.txt --show $(or $(filter-out 0,$(SHOW)),5) \
	  --status 'build/fairlead status -o json -f {config} --meshConfig {mesh}'

iptables: build
	@python3 -B tools/iptables.py --cases $(if $(filter-out file,$(origin CASES)),$(CASES),$(firstword $(wildcard ../shared/iptables/cases) tests/iptables/cases)) \
	  --command 'build/fairlead agent iptables' --show $(SHOW)
# Peers of Consul and Mesos, Debian's etcd.
bench-sources: build setup-cluster
	@for platform in $$(echo $(or $(ONLY),consul mesos etcd) | tr , ' '); do \
	  python3 -B bench/sources.py --fairlead build/fairlead $(if $(PEER),,$(addprefix --agent ,$(wildcard $(DEPS)/consul/consul))) $$platform || exit 1; done

# 300 pods a second for ten seconds, of which 99 in 100 must be answered within 20 ms.
bench-injection: build tools
	python3 -B bench/injection.py --fairlead build/fairlead --load build/tools/injectload $(if $(RATE),--rate $(RATE))

injection: build
	python3 -B tools/injection.py --cases $(INJECTION_CASES) $(if $(ONLY),--only '$(ONLY)') --diff $(or $(filter-out 0,$(SHOW)),5) \
	  --inject 'build/fairlead inject --case {dir} -o json'

bootstrap: build
	python3 -B tools/bootstrap.py --cases $(BOOTSTRAP_CASES) --known tests/bootstrap/known-differences.txt \
	  --show $(or $(filter-out 0,$(SHOW)),5) --command '$(CURDIR)/build/fairlead agent {role}'

# The programs of the Gateway API's suite are built of the Go modules that tests/gatewayapi/go.sum pins.
GATEWAY_API_BUILD = mkdir -p build/gateway-api && cd tests/gatewayapi && export GOTOOLCHAIN=local GOFLAGS="-mod=readonly -buildvcs=false" && \
  go build -o $(CURDIR)/build/gateway-api/meshclient ./meshclient && \
  go build -o $(CURDIR)/build/gateway-api/echo sigs.k8s.io/gateway-api/conformance/echo-basic

gateway-api-conformance: build
	$(GATEWAY_API_BUILD) && go test ./cluster && go test -c -o $(CURDIR)/build/gateway-api/suite-on-files .
	python3 -B tests/gatewayapi/conformance.py --fairlead build/fairlead --suite build/gateway-api/suite-on-files \
	  --echo build/gateway-api/echo --client build/gateway-api/meshclient --log build/gateway-api/suite.log \
	  --definitions $$(cd tests/gatewayapi && go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd/experimental \
	  --table build/gateway-api/results.md --only '$(ONLY)' $(if $(SIDECARS),--sidecars)

gateway-conformance: build setup-cluster
	$(GATEWAY_API_BUILD) && go test -c -o $(CURDIR)/build/gateway-api/suite sigs.k8s.io/gateway-api/conformance
	python3 -B tests/cluster/gateway_conformance.py --programs build/gateway-api --only '$(ONLY)' --report build/gateway-api/report.yaml \
	  --table build/gateway-api/cluster-results.md --log build/gateway-api/cluster.log --server-log build/gateway-api/fairlead.log

# Each fuzzer goes on from what it found before (build/fuzz/corpus).
fuzz:
	@scripts/setup.sh clang
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	ninja -C build/fuzz -j$(JOBS) $(or $(ONLY:%=%_fuzz),fuzzers)
	@for name in $(or $(ONLY),$(notdir $(wildcard tests/fuzz/seeds/*))); do \
	  echo "== $$name"; mkdir -p build/fuzz/corpus/$$name; \
	  build/fuzz/bin/$${name}_fuzz -max_total_time=$(TIME) -timeout=5 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=build/fuzz/$$name- build/fuzz/corpus/$$name tests/fuzz/seeds/$$name || exit 1; \
	done

clean:
	rm -rf build
