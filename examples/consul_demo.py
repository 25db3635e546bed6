#!/usr/bin/env python3
"""The demo of `make run-consul`: services of a real Consul agent as services of the mesh, on examples/consul.

Workloads with a stock Envoy each are registered in Consul. Their tags are the subsets of a VirtualService, their checks decide about
requests, and mutual TLS is between all. Then the agent is killed, and requests go on. Ctrl-C ends it; --once ends it by itself.

Needs root, build/fairlead and scripts/setup.sh consul.
"""
import json
import os
import pathlib
import signal
import sys
import time
import urllib.request

from demo import Log, ROOT, say, shown, start_workload
from mesh import HUB, Mesh, in_namespace, wait_until

DEPS = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or ROOT / ".deps")
CONSUL = DEPS / "consul" / "consul"
AGENT = f"http://{HUB}:8500"
HOST = "reviews.service.consul:9080"
SKIPPED = 77
AWAY = 10  # seconds until an agent that was killed is started again


def put(mesh, path, document=None):
    def send():
        data = json.dumps(document).encode() if document is not None else b""
        with urllib.request.urlopen(urllib.request.Request(AGENT + path, data=data, method="PUT"), timeout=10) as answer:
            return answer.status
    return in_namespace(mesh.net.hub.namespace, send)


def get(mesh, path):
    def ask():
        with urllib.request.urlopen(AGENT + path, timeout=10) as answer:
            return answer.read().decode()
    return in_namespace(mesh.net.hub.namespace, ask)


def start_agent(mesh):
    mesh.agent = mesh.net.hub.start(
        [str(CONSUL), "agent", "-server", "-bootstrap-expect=1", f"-bind={HUB}", f"-client={HUB}", "-node=hub",
         f"-data-dir={mesh.folder}/consul", "-log-level=warn", "-hcl=performance { raft_multiplier = 1 }"], log=mesh.folder / "consul.log")
    wait_until("a leader of Consul", lambda: "8300" in get(mesh, "/v1/status/leader"))
    wait_until("the agent's own node", lambda: "serfHealth" in get(mesh, "/v1/health/state/any"))


def register(mesh, pod, version):
    """A sidecar's clients speak mutual TLS where a tag says so, as the label of a Kubernetes pod does. The agent keeps a check's status
    for its next start only where the check was told it, not from the registration."""
    put(mesh, "/v1/agent/service/register", {
        "Name": "reviews", "ID": pod.name, "Address": pod.address, "Port": 9080,
        "Tags": [f"version={version}", "protocol=http", "security.istio.io/tlsMode=istio"],
        "Check": {"CheckID": f"check-{pod.name}", "TTL": "24h"}})
    put(mesh, f"/v1/agent/check/pass/check-{pod.name}")


def workload(mesh, name, last):
    pod = mesh.pod(name, f"10.77.1.{last}", {"app": "reviews", "version": name.split("-")[1]}, namespace="consul")
    start_workload(mesh, pod)
    mesh.start_sidecar(pod)
    return pod


def reviews(mesh, client, count):
    return mesh.client(client, "get", f"http://{HOST}/", count, "@connect=10.77.100.1")


def split(mesh, client, count=200):
    return shown(reviews(mesh, client, count))


def until_split(mesh, client, what, holds):
    """Requests go on until the answers are as they should be; says how long that took at most."""
    began = time.monotonic()
    answers = wait_until(what, lambda: (lambda found: found if holds(found) else None)(reviews(mesh, client, 40)))
    say(f"{what}: {shown(answers)}, after {time.monotonic() - began:.1f} s at most")


def start(mesh):
    start_agent(mesh)
    mesh.server_flags = ["--configSource", f"consul://{HUB}:8500"]
    mesh.start_fairlead()
    client = mesh.pod("client", "10.77.1.10", {"app": "client"}, namespace="consul")
    mesh.start_sidecar(client)
    pods = [workload(mesh, "reviews-v1", 13), workload(mesh, "reviews-v2", 14)]
    for pod in pods:
        register(mesh, pod, pod.name.split("-")[1])
    mesh.wait_sidecars([client, *pods])
    wait_until("answers", lambda: set(reviews(mesh, client, 40)) == {"reviews-v1", "reviews-v2"})
    return client, pods


def show(mesh, client):
    say(f"1000 requests to reviews.service.consul: {split(mesh, client, 1000)}")
    put(mesh, "/v1/agent/check/fail/check-reviews-v2")
    until_split(mesh, client, "the check of reviews-v2 fails", lambda found: "reviews-v2" not in found)
    put(mesh, "/v1/agent/check/pass/check-reviews-v2")
    until_split(mesh, client, "it passes again", lambda found: set(found) == {"reviews-v1", "reviews-v2"})
    third = workload(mesh, "reviews-v2-b", 15)
    mesh.wait_sidecars([third])
    register(mesh, third, "v2")
    until_split(mesh, client, "another instance with the tag version=v2", lambda found: "reviews-v2-b" in found)
    mesh.net.hub.stop(mesh.agent, signal.SIGKILL)
    say(f"the agent is killed, and requests go on: {split(mesh, client)}")
    start_agent(mesh)
    until_split(mesh, client, "the agent is back", lambda found: set(found) == {"reviews-v1", "reviews-v2", "reviews-v2-b"})


def show_what_next(mesh):
    inside = f"ip netns exec {mesh.net.hub.namespace} {CONSUL}"
    print(f"""
Consul's agent and Fairlead run in a network namespace of this demo's own. Try next:
  {inside} maint -enable -service=reviews-v1 -http-addr={AGENT}       an instance in maintenance gets no requests; -disable
  {inside} services deregister -id=reviews-v2-b -http-addr={AGENT}    an instance is gone
  edit the weights in examples/consul/reviews-split.yaml and save; or make a mistake in it: this terminal says what is wrong
  kill -9 {mesh.agent.pid}      the agent: requests go on with the last view; it is back in {AWAY} s
  {mesh.log_file}      Fairlead's log
Ctrl-C stops everything.""", flush=True)


def watch(mesh, client):
    log, last, gone = Log(mesh), None, None
    while True:
        for text in log.news():
            say(text)
        if mesh.agent.poll() is not None:
            if gone is None:
                gone = time.monotonic()
                say("the agent has ended: the last view stays in effect")
            elif time.monotonic() - gone > AWAY:
                gone = None
                start_agent(mesh)
                say("the agent is back")
        answers = reviews(mesh, client, 100)
        share = {name: count / sum(answers.values()) for name, count in answers.items()}
        if last is None or any(abs(share.get(name, 0) - last.get(name, 0)) > 0.2 for name in {*share, *last}):
            say(shown(answers))
            last = share
        time.sleep(0.5)


def main():
    if not CONSUL.exists():
        print("skipped: no agent of Consul; scripts/setup.sh consul builds one")
        sys.exit(SKIPPED)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops in the same order as Ctrl-C
    print("starting Consul, Fairlead, and workloads with a stock Envoy each ...", flush=True)
    try:
        with Mesh(ROOT / "examples" / "consul") as mesh:
            client, _ = start(mesh)
            show(mesh, client)
            if "--once" not in sys.argv:
                show_what_next(mesh)
                watch(mesh, client)
    except KeyboardInterrupt:
        print("\nstopped")


if __name__ == "__main__":
    main()
