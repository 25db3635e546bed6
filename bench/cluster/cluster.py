#!/usr/bin/env python3
"""Measures a server that reads its mesh from a real kube-apiserver.

  cluster.py --fairlead BIN --tools DIR --work DIR [--only start-C,churn-C-50] [--server COMMAND] [--json FILE]

  start-C, start-E      from the start of the process to /ready, three times; memory, also of the same mesh from files
  idle-C                ten seconds without a change, 200 sidecars connected: CPU and how often threads woke
  latency-C             from the API server's answer about one endpoint to the message at a sidecar, with 200 connected
  churn-C-50, churn-C-148, churn-B-50
                        so many pods replaced a second for 30 s under 200 sidecars, each by four requests

C has 1,000 services and 5,000 pods, each namespace sees itself; B is the same without that; E has 10,000 services and 50,000
pods. A server by --server has {kubeconfig}, {mesh}, {port}, {http} and {state} in its command. Fails where a sidecar does not hold at
the end what a new one gets. Needs root and scripts/setup.sh cluster; runs in a network of its own.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("bench/scale", "tests/cluster", "tests/registration")]

import meshes  # noqa: E402
import run  # noqa: E402
from api_server import ApiServer, crd_files, own_network  # noqa: E402
from processes import FAIRLEAD, PORT, Server, Sidecars, cpu_seconds, wakes  # noqa: E402
from xds_stream import CLUSTER, ENDPOINT, Stream  # noqa: E402

ALL = ["start-C", "idle-C", "latency-C", "churn-C-50", "churn-C-148", "churn-B-50", "start-E"]
PROXIES, CHURN_SECONDS, REST = 200, 30, 5
# As a cluster's own API server stores them.
STORAGE = "--storage-media-type=application/vnd.kubernetes.protobuf"


class Bench:
    def __init__(self, options, api, folder, nodes):
        self.options, self.api, self.folder, self.nodes = options, api, folder, nodes
        self.work, self.binary = options.work, str(options.tools / "xdsload")

    def server(self):
        return Server(self.options.server, self.work, kubeconfig=self.api.kubeconfig)

    def sidecars(self, server, seconds):
        return Sidecars(self.binary, self.nodes, PROXIES, seconds, server.pid, self.work)

    def start(self):
        runs = []
        for _ in range(3):
            with self.server() as server:
                time.sleep(REST)
                rss, peak = run.memory(server.pid)
                runs.append({"ready_s": server.ready_seconds, "cpu_s": server.ready_cpu, "rss_mb": rss, "peak_mb": peak})
        result = {key: round(statistics.median(r[key] for r in runs), 3) for key in runs[0]}
        result["all_ready_s"] = [round(r["ready_s"], 3) for r in runs]
        if self.options.fairlead:
            with run.fairlead(self.options.fairlead, self.folder, self.work / "files.log") as server:
                time.sleep(REST)
                result["files_rss_mb"] = round(run.memory(server.pid)[0], 1)
            result["to_files"] = round(result["rss_mb"] / result["files_rss_mb"], 2)
        return result

    def idle(self):
        with self.server() as server, self.sidecars(server, 30):
            time.sleep(REST)
            cpu, before = cpu_seconds(server.pid), wakes(server.pid)
            time.sleep(10)
            after = wakes(server.pid)
            return {"cpu_s": round(cpu_seconds(server.pid) - cpu, 4),
                    "wakes": {name: after[name] - before.get(name, 0) for name in after if after[name] > before.get(name, 0)}}

    def latency(self):
        """Twenty changes, further apart than any that wait for each other."""
        namespace, name, slice_name, endpoints = self.one_slice()
        node = {"id": f"sidecar~10.250.0.1~watcher.{namespace}~{namespace}.svc.cluster.local",
                "metadata": {"NAMESPACE": namespace, "CLUSTER_ID": "Kubernetes"}}
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices/{slice_name}"
        times = []
        with self.server() as server, self.sidecars(server, 60), Stream(PORT, node) as stream:
            stream.ask(CLUSTER)
            stream.ask(ENDPOINT, *(f"outbound|{port}||{name}.{namespace}.svc.cluster.local" for port in (80, 8080, 9090)))
            time.sleep(REST)
            for number in range(20):
                before = stream.answers
                changed = [{**endpoints[0], "addresses": [f"10.251.0.{number + 1}"]}, *endpoints[1:]]
                self.api.api.call("PATCH", path, {"endpoints": changed}, "application/merge-patch+json")
                begun = time.monotonic()
                self.await_answer(stream, before)
                times.append((time.monotonic() - begun) * 1e3)
                time.sleep(0.8)
        self.api.api.call("PATCH", path, {"endpoints": endpoints}, "application/merge-patch+json")
        times.sort()
        return {"median_ms": round(statistics.median(times), 1), "most_ms": round(times[-1], 1), "changes": len(times)}

    @staticmethod
    def await_answer(stream, before):
        with stream.changed:
            if not stream.changed.wait_for(lambda: stream.answers > before, 10):
                raise RuntimeError("no message about a changed endpoint")

    def one_slice(self):
        for found in self.api.api.get("/apis/discovery.k8s.io/v1/endpointslices?limit=50")["items"]:
            service = found["metadata"].get("labels", {}).get("kubernetes.io/service-name")
            if service and service != "kubernetes" and found.get("endpoints"):
                return found["metadata"]["namespace"], service, found["metadata"]["name"], found["endpoints"]
        raise RuntimeError("the mesh has no EndpointSlice")

    def churn(self, rate):
        with self.server() as server, self.sidecars(server, 10 + CHURN_SECONDS + 15) as sidecars:
            time.sleep(10)
            before = cpu_seconds(server.pid)
            told = subprocess.run([self.options.tools / "podchurn", "-kubeconfig", self.api.kubeconfig, "-rate", rate, "-seconds",
                                   str(CHURN_SECONDS)], capture_output=True, text=True, check=True)
            time.sleep(3)
            used, (rss, peak) = cpu_seconds(server.pid) - before, run.memory(server.pid)
            report = sidecars.report()
        soak = report.get("soak") or {}
        return {"cpu_s": round(used, 3), "rss_mb": round(rss), "peak_mb": round(peak), "told": told.stdout.strip(),
                "responses": soak.get("responses", {}).get("all"), "differ": soak.get("differ"), "broken": report["reconnects"],
                "complaints": report["complaints"]}

    def measure(self, name):
        kind, _, *rate = name.split("-")
        return getattr(self, kind)(*rate)


def load(api, tools, folder):
    api.define(*crd_files())
    api.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "istio-system"}}, replace=True)
    begun = time.monotonic()
    subprocess.run([tools / "meshload", "-kubeconfig", api.kubeconfig, folder], check=True, stdout=subprocess.DEVNULL)
    print(f"loaded in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def run_mesh(options, mesh, names):
    """What is measured with one mesh in one API server."""
    results = {}
    folder, nodes = meshes.make(mesh, str(options.tools / "meshgen"), options.work)
    with ApiServer(STORAGE) as api:
        load(api, options.tools, folder)
        bench = Bench(options, api, folder, nodes)
        for name in names:
            results[name] = bench.measure(name)
            print(name, json.dumps(results[name]), flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fairlead")
    parser.add_argument("--server")
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--only", default=",".join(ALL))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    names = options.only.split(",")
    if not options.server and not options.fairlead:
        parser.error("--fairlead or --server")
    if unknown := set(names) - set(ALL):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    options.tools, options.work = options.tools.resolve(), options.work.resolve()
    if options.fairlead:
        options.fairlead = str(pathlib.Path(options.fairlead).resolve())
    options.server = options.server or FAIRLEAD.format(binary=options.fairlead)
    options.work.mkdir(parents=True, exist_ok=True)
    run.raise_file_limit()
    own_network()
    results = {}
    for mesh in dict.fromkeys(name.split("-")[1] for name in names):
        results |= run_mesh(options, mesh, [name for name in names if name.split("-")[1] == mesh])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if any(r.get("differ") or r.get("broken") or r.get("complaints") for r in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
