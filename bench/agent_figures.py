#!/usr/bin/env python3
"""Figures of the node agent beside a real Envoy with many clusters: resident memory at rest, time until Envoy is started, time
until a killed Envoy runs again. In a network namespace of its own, which needs root.

  agent_figures.py FAIRLEAD ENVOY [SERVICES]
"""
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
from mesh import enter_own_network, fetch, wait_until  # noqa: E402

STARTS = 9
PLAINTEXT = """apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: istio-system}
spec: {mtls: {mode: DISABLE}}
"""
SERVICE = """apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: s{n}, namespace: shop}}
spec: {{hosts: [s{n}.example], ports: [{{number: 80, name: http, protocol: HTTP}}], resolution: STATIC, endpoints: [{{address: 10.{a}.{b}.1}}]}}
"""


def resident(process):
    """KiB: all, and what is this process's alone."""
    text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    number = lambda name: int(re.search(rf"^{name}: +(\d+)", text, re.M)[1])
    return number("Rss"), number("Private_Clean") + number("Private_Dirty")


def main(fairlead, envoy, services):
    enter_own_network()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "mesh").mkdir()
        (folder / "mesh/services.yaml").write_text("---\n".join(
            [PLAINTEXT] + [SERVICE.format(n=n, a=n // 200, b=n % 200) for n in range(services)]))
        # Envoy in between notes when it is started.
        (folder / "envoy").write_text(f"#!/bin/sh\ndate +%s%N >> {folder}/started\nexec {envoy} \"$@\"\n")
        (folder / "envoy").chmod(0o755)
        log = open(folder / "log", "w")
        plane = subprocess.Popen([fairlead, "discovery", "--configDir", folder / "mesh", "--grpcAddr", "127.0.0.1:15010", "--httpAddr",
                                  "127.0.0.1:8080", "--monitoringAddr", "", "--httpsAddr", "", "--secureGRPCAddr", "", "--stateDir="],
                                 stdout=log, stderr=log)
        agent = None
        started = lambda: [int(line) for line in (folder / "started").read_text().split()] if (folder / "started").exists() else []

        def start():
            (folder / "started").unlink(missing_ok=True)
            begin = time.time_ns()
            process = subprocess.Popen(
                [fairlead, "agent", "sidecar", "--discoveryAddress", "127.0.0.1:15010", "--configPath", folder / "proxy", "--binaryPath",
                 folder / "envoy", "--concurrency", "1"], cwd=folder, stdout=log, stderr=log,
                env={"PATH": os.environ["PATH"], "POD_NAME": "a", "POD_NAMESPACE": "shop", "INSTANCE_IP": "127.0.0.1", "CLOUD_PLATFORM": "none"})
            wait_until("Envoy is started", started)
            return process, (started()[0] - begin) / 1e6

        try:
            wait_until("Fairlead is ready", lambda: fetch("http://127.0.0.1:8080/ready") is not None)
            times = []
            for _ in range(STARTS):
                if agent:
                    agent.kill()
                    agent.wait()
                    time.sleep(0.3)
                agent, took = start()
                times.append(took)
            print(f"from the agent's start to Envoy's: {statistics.median(times):.1f} ms, at best {min(times):.1f} ms")
            wait_until("Envoy is ready", lambda: fetch("http://127.0.0.1:15000/ready"))
            clusters = lambda: int(re.search(r"active_clusters: (\d+)", fetch("http://127.0.0.1:15000/stats?filter=active_clusters"))[1])
            wait_until("all clusters are there", lambda: clusters() >= services, 120)
            time.sleep(15)
            whole, own = resident(agent.pid)
            print(f"resident at rest with {clusters()} clusters: {whole / 1024:.1f} MiB, {own / 1024:.1f} MiB of it alone")
            child = int(pathlib.Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()[0])
            kills = []
            for _ in range(3):
                before, begin = len(started()), time.time_ns()
                os.kill(child, signal.SIGKILL)
                wait_until("Envoy is started again", lambda: len(started()) > before)
                kills.append((started()[-1] - begin) / 1e6)
                begin_live = time.monotonic()
                wait_until("it is live", lambda: fetch("http://127.0.0.1:15000/ready"))
                child = int(pathlib.Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()[0])
                print(f"a killed Envoy is started again after {kills[-1]:.0f} ms, and live {1000 * (time.monotonic() - begin_live):.0f} ms later")
        finally:
            for process in (agent, plane):
                if process:
                    process.terminate()
                    process.wait(20)
            log.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000)
