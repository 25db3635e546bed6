#!/usr/bin/env python3
"""Two replicas are replaced one after the other under connected sidecars: each sidecar finds the other replica and is sent what
changed and nothing else, and connections that end by age spread over both again.

A real API server without nodes; the sidecars are xdsload's, with incremental xDS. Needs root, build/fairlead, build/tools and
scripts/setup.sh cluster. ROLLING_PROXIES: another number of sidecars.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import kubebox
from api_server import ApiServer, own_network
from fairlead_client import free_port
from fairlead_process import FairleadProcess
from kubebox import end_with_parent, wait_until
from mesh_objects import namespace, pod, service, slice_of

XDSLOAD = pathlib.Path(os.environ.get("FAIRLEAD_TOOLS") or pathlib.Path(__file__).resolve().parents[2] / "build/tools") / "xdsload"
SERVICES, FEW, MANY = 20, 200, int(os.environ.get("ROLLING_PROXIES", "1000"))
AGE, GRACE = 6, 10  # seconds: of a connection, and until its streams end
SLICE = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-0-1"
# How streams end where a replica does, or a connection has its age; nobody is there for a moment between.
EXPECTED = re.compile(r"code = Unavailable")

server = None


def setUpModule():
    global server
    own_network()
    server = ApiServer().__enter__()
    unittest.addModuleCleanup(server.__exit__, None, None, None)
    for obj in (namespace("istio-system"), namespace("shop")):
        server.api.create(obj)
    for n in range(SERVICES):
        for obj in (service(f"web-{n}", None), pod(f"web-{n}-0", f"10.20.{n}.1", f"web-{n}"),
                    slice_of(f"web-{n}", {f"web-{n}-0": f"10.20.{n}.1"})):
            server.api.create(obj)


class Replica:
    """One of two, at an address that stays when the process is replaced."""

    def __init__(self, number, *flags):
        self.port, self.number, self.flags, self.process = free_port(), number, flags, None

    def start(self):
        self.process = FairleadProcess(server.kubeconfig, "--clusterID=main", *self.flags, grpc=self.port,
                                       env={"POD_NAME": f"istiod-{self.number}", "POD_NAMESPACE": "istio-system",
                                            "FAIRLEAD_MAX_CONNECTIONS_PER_ADDRESS": "0"})
        self.process.__enter__()
        self.process.await_ready(60)

    def stop(self):
        """As a Deployment does it: SIGTERM, and time to end."""
        if self.process:
            self.process.process.send_signal(signal.SIGTERM)
            self.process.process.wait(20)
            self.process.log_file.close()
        self.process = None

    def streams(self):
        text = self.process.get("/metrics", self.process.monitoring)[1]
        return int(sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("pilot_xds{")))


class Sidecars:
    def __init__(self, replicas, number, seconds, rate):
        self.number, self.work = number, tempfile.TemporaryDirectory(prefix="fairlead-rolling-")
        self.report_file, connected = pathlib.Path(self.work.name, "report"), pathlib.Path(self.work.name, "connected")
        addresses = ",".join(f"127.0.0.1:{r.port}" for r in replicas)
        words = [XDSLOAD, "-addr", addresses, "-proxies", number, "-namespaces", "1", "-streams-per-conn", "1", "-rate", rate, "-delta",
                 "-resume", "-pause", "100ms", "-quiet", "2s", "-timeout", "120s", "-soak", f"{seconds}s",
                 "-churn", f"sh -c 'touch {connected}; exec sleep 1000'"]
        with open(self.report_file, "wb") as out:
            self.process = subprocess.Popen([str(w) for w in words], stdout=out, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
        wait_until("all sidecars are configured", connected.exists, 120)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.work.cleanup()

    def report(self):
        """The soak's phase, and how streams ended; xdsload fails where a sidecar lacks what a new one gets."""
        complaints = self.process.stderr.read()
        self.process.wait()
        found = json.loads(self.report_file.read_text())
        if not found.get("soak") or found["soak"]["differ"]:
            raise AssertionError(complaints)
        return found["soak"], found.get("stream_errors", {}), found["reconnects"]


class Rolling(unittest.TestCase):
    def start(self, *flags):
        self.replicas = [Replica(number, *flags) for number in (1, 2)]
        for replica in self.replicas:
            self.addCleanup(replica.stop)
            replica.start()

    def connect(self, number, seconds, rate=200):
        sidecars = Sidecars(self.replicas, number, seconds, rate)
        self.addCleanup(sidecars.stop)
        return sidecars

    def replace(self, replica, all_sidecars):
        other = self.replicas[2 - replica.number]
        replica.stop()
        # By age, some are about to connect again at any time.
        wait_until("all are at the other replica", lambda: other.streams() > 0.95 * all_sidecars, 60)
        replica.start()

    def expected_ends(self, errors):
        self.assertEqual([text for text in errors if not EXPECTED.search(text)], [])

    def counts(self):
        return [replica.streams() for replica in self.replicas]

    def test_after_a_rolling_restart_the_load_is_even_and_no_byte_was_sent_again(self):
        self.start(f"--keepaliveMaxServerConnectionAge={AGE}s")
        sidecars = self.connect(FEW, 75)
        for replica in self.replicas:
            self.replace(replica, FEW)
        time.sleep(2 * AGE + GRACE)
        wait_until("the load is about even", lambda: sum(self.counts()) > 0.9 * FEW and min(self.counts()) > 0.35 * FEW, 30)
        soak, errors, reconnects = sidecars.report()
        self.expected_ends(errors)
        self.assertGreater(reconnects, FEW)
        self.assertEqual(soak["resources"]["all"], 0, "a sidecar that moves has all")

    def roll(self, number):
        """Both replicas are replaced, and meanwhile an endpoint comes."""
        self.start()
        sidecars = self.connect(number, 60)
        self.replace(self.replicas[0], number)
        endpoints = slice_of("web-0", {"web-0-0": "10.20.0.1"})["endpoints"]
        endpoints.append({"addresses": [f"10.20.1.{number // 10 % 200}"], "conditions": {"ready": True}})
        self.replicas[1].stop()
        server.api.call("PATCH", SLICE, {"endpoints": endpoints}, "application/merge-patch+json")
        wait_until("all are at the other replica", lambda: self.replicas[0].streams() == number, 60)
        self.replicas[1].start()
        soak, errors, reconnects = sidecars.report()
        print(f"{number} sidecars: {reconnects} streams ended, sent: {soak['resources']}, {soak['bytes']} bytes")
        self.expected_ends(errors)
        self.assertLess(reconnects, 3 * number)
        self.assertEqual(soak["resources"]["eds"], number, "the changed endpoints, once to each")
        self.assertEqual(soak["resources"]["all"], number, "nothing else")

    def test_a_rolling_update_sends_what_changed(self):
        self.roll(FEW)

    def test_a_rolling_update_of_many(self):
        self.roll(MANY)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
