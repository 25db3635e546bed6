#!/usr/bin/env python3
"""The demo: Fairlead on examples/bookinfo, real workloads with a stock Envoy sidecar each, and a client; mutual TLS between
them with certificates that Fairlead gives.

Sends requests to `reviews`, prints how they were split, then goes on with a trickle of them and prints the split whenever
it changes, so that an edit of examples/bookinfo/reviews-split.yaml shows at once; and why an edit was refused. What is
killed is started again after a while, so that one sees what it does to requests. Ctrl-C stops all that it started.
"""
import collections
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from mesh import ADMIN, HTTP, HUB, MONITORING, XDS, Mesh  # noqa: E402

WORKLOADS = {"productpage-v1": 11, "details-v1": 12, "reviews-v1": 13, "reviews-v2": 14, "ratings-v1": 15}
WINDOW = 200   # requests that a printed split is made of
TRICKLE = 50   # requests per round while it stays up
AWAY = 10      # seconds until what was killed is started again


def say(text):
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def start_workload(mesh, pod):
    mesh.app(pod, "http", 9080, pod.name)
    pod.workload = pod.processes[-1]


def start(mesh):
    mesh.start_fairlead()
    client = mesh.pod("client", "10.77.1.10", {"app": "client", "version": "v1"})
    pods = [client]
    for name, last in WORKLOADS.items():
        app, version = name.split("-")
        pods.append(mesh.pod(name, f"10.77.1.{last}", {"app": app, "version": version}))
        start_workload(mesh, pods[-1])
    publisher = mesh.pod("publisher", "10.77.1.20", {}, sidecar=False)
    mesh.app(publisher, "http", 8080, "publisher")
    for pod in pods:
        mesh.start_sidecar(pod)
    mesh.wait_sidecars(pods)
    return client, pods[1:], publisher


def reviews(mesh, client, count, *headers):
    return mesh.client(client, "get", "http://reviews:9080/", count, "@connect=10.77.100.13", *headers)


def shown(answers):
    total = sum(answers.values())
    return ", ".join(f"{name} {100 * n / total:.0f}%" for name, n in sorted(answers.items()))


def show_traffic(mesh, client, outsider):
    print(f"1000 requests to reviews:             {shown(reviews(mesh, client, 1000))}")
    print(f"100 of a tester (x-tester: yes):      {shown(reviews(mesh, client, 100, 'x-tester=yes'))}")
    outside = mesh.client(client, "get", "http://publisher.example.com/", 20, "@connect=10.77.200.20")
    print(f"20 to publisher.example.com:          {shown(outside)}")
    plain = mesh.client(outsider, "get", "http://reviews:9080/", 20, "@connect=10.77.1.13")
    refused = sum(n for answer, n in plain.items() if answer.startswith("!"))
    print(f"20 to reviews from outside, plaintext: {refused} refused, as the mesh wants mutual TLS")


def simulate(mesh):
    """What `fairlead simulate` says of the requests above, from the manifests alone."""
    words = ["simulate", "--configDir", str(mesh.config), "--proxy", "client.bookshop", "http://reviews:9080/"]
    said = subprocess.run([mesh.fairlead_binary, *words], capture_output=True, text=True).stdout
    end = next((line.removeprefix("end").strip() for line in said.splitlines() if line.startswith("end ")), said)
    print(f"fairlead simulate says beforehand:    {end}\n  {mesh.fairlead_binary} {' '.join(words)}")


def show_what_next(mesh, client, pods):
    victim = next(pod for pod in pods if pod.name == "reviews-v2")
    inside = f"ip netns exec {mesh.net.hub.namespace}"
    print(f"""
Fairlead serves xDS and certificates over TLS on {HUB}:{XDS}, /ready on {HUB}:{HTTP}, /metrics on {HUB}:{MONITORING}, in network namespaces of this demo's own:
  {inside} python3 -c "import urllib.request as u; print(u.urlopen('http://{HUB}:{MONITORING}/metrics').read().decode())"
  ip netns exec {client.namespace} ...      the client's pod; its Envoy's administration port is 127.0.0.1:{ADMIN} there
  {inside} python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:{MONITORING}/debug/syncz?pretty').read().decode())"
  {mesh.log_file}      Fairlead's log; each sidecar's is beside it
Try next:
  edit the weights in examples/bookinfo/reviews-split.yaml and save; or make a mistake in it: this terminal says what is wrong
  kill -9 {mesh.control_plane.pid}      Fairlead: requests go on, edits wait until it is back in {AWAY} s
  kill -9 {victim.workload.pid}      the workload of reviews-v2: its share of the requests fails until it is back
  kill -9 {client.sidecar.pid}      the agent of the client's sidecar: its Envoy ends with it, and no request gets through until it is back
Ctrl-C stops everything.""", flush=True)


class Log:
    """What Fairlead has logged since the last look about objects: what is wrong, and what is no longer."""
    def __init__(self, mesh):
        self.mesh = mesh
        self.seen = len(mesh.log())

    def news(self):
        text = self.mesh.log()
        start, self.seen = self.seen, text.rfind("\n") + 1  # a line that is not whole yet is for the next look
        for line in text[start:self.seen].splitlines():
            level, scope, said = (line.split("\t", 3) + ["", "", ""])[1:4]
            if scope == "config" and (level in ("error", "warn") or said.startswith("no longer:")):
                yield said


def parts(mesh, client, pods):
    """All that can be killed: name, process, what that does, and how it is started again."""
    yield "Fairlead", mesh.control_plane, "sidecars go on with what they have", mesh.start_fairlead
    for pod in pods:
        yield f"the workload of {pod.name}", pod.workload, "its sidecar answers 503 for it", lambda p=pod: start_workload(mesh, p)
    for pod in [client, *pods]:
        yield f"the agent of {pod.name}", pod.sidecar, "its Envoy with it, so that nothing gets in or out there", \
            lambda p=pod: mesh.start_sidecar(p)


def bring_back(mesh, client, pods, gone):
    """Says what was killed, and starts it again when it was away for some time."""
    for name, process, effect, start_again in parts(mesh, client, pods):
        if process.poll() is None:
            continue
        if name not in gone:
            gone[name] = time.monotonic()
            say(f"{name} has ended: {effect}")
        elif time.monotonic() - gone[name] > AWAY:
            del gone[name]
            start_again()
            say(f"{name} is back")


def watch(mesh, client, pods):
    """Prints the split of reviews each time that it is clearly another one than was last printed, and other news."""
    last = None
    log, gone = Log(mesh), {}
    window = collections.deque(maxlen=WINDOW // TRICKLE)
    while True:
        for text in log.news():
            say(text)
        bring_back(mesh, client, pods, gone)
        window.append(reviews(mesh, client, TRICKLE))
        newest = window[-1]
        total = collections.Counter()
        for part in window:
            total.update(part)
        share = {n: total[n] / sum(total.values()) for n in total}
        here = {n: newest[n] / sum(newest.values()) for n in newest}
        if any(abs(here.get(n, 0) - share.get(n, 0)) > 0.35 for n in {*here, *share}):
            window.clear()  # a new split: count anew
        elif len(window) == window.maxlen and (
                last is None or any(abs(share.get(n, 0) - last.get(n, 0)) > 0.15 for n in {*share, *last})):
            say(shown(total))
            last = share
        time.sleep(0.5)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops in the same order as Ctrl-C
    print("starting Fairlead, six workloads with a stock Envoy each, and a host outside of the mesh ...", flush=True)
    try:
        with Mesh(ROOT / "examples" / "bookinfo") as mesh:
            client, pods, outsider = start(mesh)
            show_traffic(mesh, client, outsider)
            simulate(mesh)
            show_what_next(mesh, client, pods)
            watch(mesh, client, pods)
    except KeyboardInterrupt:
        print("\nstopped")


if __name__ == "__main__":
    main()
