#!/usr/bin/env python3
"""Two replicas of Fairlead register proxies in one API server: each proxy has one WorkloadEntry, wherever it is connected.

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import contextlib
import pathlib
import signal
import sys
import time
import unittest

import kubebox
import replicas_test
from api_server import ApiServer, crd_files, own_network
from kubebox import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "registration"))
from xds_stream import CLUSTER, Stream, proxy  # noqa: E402

GRACE, PROXIES = 2, 100
ENTRIES = "/apis/networking.istio.io/v1/namespaces/shop/workloadentries"
GROUP = {"apiVersion": "networking.istio.io/v1", "kind": "WorkloadGroup", "metadata": {"name": "vms", "namespace": "shop"},
         "spec": {"metadata": {"labels": {"app": "db"}}, "template": {"serviceAccount": "vm", "ports": {"tcp": 5432}}}}

server = None


def setUpModule():
    global server
    own_network()
    stack = contextlib.ExitStack()
    server = replicas_test.server = stack.enter_context(ApiServer())
    unittest.addModuleCleanup(stack.close)
    server.define(*crd_files())
    for name in ("istio-system", "shop"):
        server.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    server.api.create(GROUP)


class Replica(replicas_test.Replica):
    environment = {"PILOT_WORKLOAD_ENTRY_GRACE_PERIOD": f"{GRACE}s"}

    @property
    def grpc(self):
        return 18280 + int(self.name.rsplit("-", 1)[1])


def entries():
    return {e["metadata"]["name"]: e for e in server.api.get(ENTRIES)["items"]}


def annotations(name):
    entry = entries().get(name)
    return entry["metadata"]["annotations"] if entry else {}


class Registration(unittest.TestCase):
    def setUp(self):
        self.replicas = [Replica(number) for number in (1, 2)]
        for replica in self.replicas:
            self.addCleanup(replica.stop)
        for replica in self.replicas:
            replica.wait_ready()

    def tearDown(self):
        server.api.call("DELETE", ENTRIES)

    def connect(self, replica, address="10.0.0.7"):
        stream = Stream(replica.grpc, proxy("vms", address))
        self.addCleanup(stream.end)
        stream.ask(CLUSTER)
        stream.wait_answer()
        return stream

    def held(self, replica, name="vms-10.0.0.7"):
        known = annotations(name)
        return known.get("istio.io/workloadController") == replica.name and "istio.io/connectedAt" in known

    def test_a_proxy_has_one_entry_with_its_health_until_it_stays_away(self):
        first, _ = self.replicas
        stream = self.connect(first)
        entry = entries()["vms-10.0.0.7"]
        self.assertEqual(entry["spec"]["address"], "10.0.0.7")
        self.assertEqual(entry["metadata"]["ownerReferences"][0]["name"], "vms")
        self.assertEqual(entry["metadata"]["labels"]["app"], "db")
        self.assertTrue(self.held(first))

        def health():
            conditions = entries()["vms-10.0.0.7"].get("status", {}).get("conditions", [])
            return {c["type"]: (c["status"], c.get("message", "")) for c in conditions}.get("Healthy")
        stream.say_health("connection refused")
        wait_until("unhealthy", lambda: health() == ("False", "connection refused"), 10)
        stream.say_health()
        wait_until("healthy", lambda: health() == ("True", ""), 10)
        stream.end()
        left = time.monotonic()
        wait_until("disconnected", lambda: "istio.io/disconnectedAt" in annotations("vms-10.0.0.7"), 5)
        wait_until("deleted", lambda: not entries(), GRACE + 10)
        self.assertGreater(time.monotonic() - left, GRACE * 0.8)

    def test_a_proxy_that_moves_keeps_its_entry(self):
        first, second = self.replicas
        for source, target in ((first, second), (second, first), (first, second)):
            old = self.connect(source)
            wait_until("held", lambda: self.held(source), 10)
            self.connect(target)
            old.end()
            wait_until("moved", lambda: self.held(target), 10)
        time.sleep(2 * GRACE)
        self.assertTrue(self.held(second))

    def test_many_proxies_whose_replica_is_killed_keep_their_entries(self):
        first, second = self.replicas
        addresses = [f"10.0.1.{n}" for n in range(1, PROXIES + 1)]
        for address in addresses:
            self.connect(first, address)
        self.assertEqual(len(entries()), PROXIES)
        uids = {name: e["metadata"]["uid"] for name, e in entries().items()}
        first.kill()
        moved = [self.connect(second, address) for address in addresses]
        wait_until("moved", lambda: all(self.held(second, name) for name in uids), 30)
        time.sleep(2 * GRACE)
        self.assertEqual({name: e["metadata"]["uid"] for name, e in entries().items()}, uids)
        for stream in moved:
            stream.end()
        wait_until("deleted", lambda: not entries(), GRACE + 30)

    def test_what_a_replica_left_behind_is_cleaned_up_by_another(self):
        first, _ = self.replicas
        stream = self.connect(first)
        stream.end()
        wait_until("disconnected", lambda: "istio.io/disconnectedAt" in annotations("vms-10.0.0.7"), 5)
        first.kill()
        wait_until("deleted", lambda: not entries(), 12 * GRACE + 10)

    def test_an_api_server_that_is_away_disconnects_nobody(self):
        first, _ = self.replicas
        stream = self.connect(first)
        wait_until("known", lambda: first.metric("auto_registration_success_total") == 1, 5)
        time.sleep(1)
        api = server.processes["kube-apiserver"]
        api.send_signal(signal.SIGSTOP)
        try:
            again = self.connect(first)  # the same proxy, once more
        finally:
            api.send_signal(signal.SIGCONT)
        stream.end()
        time.sleep(2 * GRACE)
        self.assertFalse(again.closed.is_set())
        wait_until("held", lambda: self.held(first), 40)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
