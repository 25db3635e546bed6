#!/usr/bin/env python3
"""Do pushes wait while all workloads of a mesh renew their certificates?

  renewals.py --fairlead BIN --tools DIR --work DIR [--count 10000] [--repeats 5]

A server with an authority serves 200 sidecars of mesh A. Changes are measured twice: while nothing else happens, and while
certload asks for certificates over TLS, one key and one signature each, as fast as it is answered; it begins anew for as long
as changes are measured. What is compared shares the machine with the load itself: both lines name how busy it was.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import meshes
import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "e2e"))
from issuer import Issuer  # noqa: E402

PROXIES = 200


class Renewals:
    """Runs certload again and again in a thread of its own until it is left."""

    def __init__(self, words):
        self.words, self.reports, self.stopping = words, [], False
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.stopping:
            done = subprocess.run(self.words, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            self.reports.append(json.loads(done.stdout))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.thread.join()


def serve(options, folder, issuer, authority):
    port, secure = run.free_port(), 0
    with run.socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        secure = probe.getsockname()[1]
    os.environ.update({"TOKEN_ISSUER": issuer.name, "FAIRLEAD_TOKEN_KEYS": str(issuer.public_key), "FAIRLEAD_CA_DIR": str(authority),
                       "ROOT_CA_DIR": str(authority / "none"),
                       # One account on one machine stands for all workloads: it is no peer that asks too often.
                       "FAIRLEAD_CERTIFICATE_RATE": "0", "FAIRLEAD_CERTIFICATE_QUEUE": "10000"})
    words = [options.fairlead, "discovery", "--configDir", str(folder), "--grpcAddr", f"127.0.0.1:{port}", "--httpAddr", "", "--stateDir=",
             "--httpsAddr", "", "--secureGRPCAddr", f"127.0.0.1:{secure}", "--monitoringAddr", ""]
    return run.Server(words, port, options.work / "renewals.log"), secure


def measure(options, server, nodes, folder):
    """The median time until all sidecars have a change, by the change's name, in ms; and how busy the machine was."""
    report = run.xdsload(str(options.tools / "xdsload"), f"127.0.0.1:{server.port}", nodes, PROXIES, options.work, pid=server.pid,
                         plan_text=run.plan(("endpoint", "route"), "all", folder), repeats=options.repeats)
    if report["complaints"]:
        raise RuntimeError(report["complaints"])
    times = {c["name"]: (c["median"]["p50_ms"], c["median"]["max_ms"]) for c in report["changes"]}
    return times, report["changes"][-1]["runs"][-1]["loadavg"].split()[0]


def show(what, measured):
    times, load = measured
    text = ", ".join(f"{name} {p50:.0f} ms, the last {most:.0f} ms" for name, (p50, most) in times.items())
    print(f"{what}: {text} (load {load})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    run.raise_file_limit()
    folder, nodes = meshes.make("A", str(options.tools / "meshgen"), options.work)
    keys, authority = options.work / "issuer", options.work / "authority"
    for old in (keys, authority):
        shutil.rmtree(old, ignore_errors=True)
    issuer = Issuer(keys)
    (keys / "token").write_text(issuer.workload_token("ns-0", "default"))
    server, secure = serve(options, folder, issuer, authority)
    words = [str(options.tools / "certload"), "-addr", f"127.0.0.1:{secure}", "-roots", str(authority / "root-cert.pem"), "-token",
             str(keys / "token"), "-count", str(options.count)]
    with server:
        show("changes alone", measure(options, server, nodes, folder))
        with Renewals(words) as renewals:
            show("while certificates are renewed", measure(options, server, nodes, folder))
    for report in renewals.reports:
        print(f"{report['issued']} certificates in {report['seconds']:.1f} s, {report['issued'] / report['seconds']:.0f} a second, "
              f"median {report['p50_ms']:.0f} ms, 99% in {report['p99_ms']:.0f} ms, {report['failed']} failed {report['error']}")
    return 1 if any(report["failed"] for report in renewals.reports) else 0


if __name__ == "__main__":
    sys.exit(main())
