#!/usr/bin/env python3
"""What becomes of connected proxies while the API server has faults: they keep their streams, nothing is sent again, and the next
change reaches them.

A real API server without nodes. Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import json
import pathlib
import sys
import time
import unittest

import kubebox
from api_server import ApiServer, own_network
from fairlead_client import free_port
from fairlead_process import FairleadProcess
from kubebox import wait_until
from mesh_objects import namespace, pod, service, slice_of
from storm import Storm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "registration"))
from xds_stream import CLUSTER, ENDPOINT, Stream  # noqa: E402

SERVICES, PROXIES, PODS, SLICE = 10, 20, 5000, 100
SLICES = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
CROWD = "outbound|80||crowd.crowd.svc.cluster.local"

server = None


def setUpModule():
    global server
    own_network()
    server = ApiServer().__enter__()
    unittest.addModuleCleanup(server.__exit__, None, None, None)
    for obj in (namespace("istio-system"), namespace("shop"), namespace("crowd"), service("crowd", None, ns="crowd")):
        server.api.create(obj)
    for n in range(SERVICES):
        for obj in (service(f"web-{n}", None), pod(f"web-{n}-0", f"10.20.{n}.1", f"web-{n}"),
                    slice_of(f"web-{n}", {f"web-{n}-0": f"10.20.{n}.1"})):
            server.api.create(obj)


def stored(obj, number, plural):
    """Key and value in etcd, for a crowd that no client need make one by one."""
    metadata = {**obj["metadata"], "uid": f"00000000-0000-4000-9000-{number:012}", "creationTimestamp": "2024-01-01T00:00:00Z"}
    return f"/registry/{plural}/{metadata['namespace']}/{metadata['name']}", json.dumps({**obj, "metadata": metadata})


class Faults(unittest.TestCase):
    def start(self, kubeconfig=None, proxies=PROXIES):
        self.grpc = free_port()
        self.fairlead = FairleadProcess(kubeconfig or server.kubeconfig, "--clusterID=main", grpc=self.grpc,
                                        env={"FAIRLEAD_CLUSTER_WRITES": "false"})
        self.fairlead.__enter__()
        self.addCleanup(self.fairlead.__exit__)
        self.fairlead.await_ready()
        self.streams = [self.connect(n) for n in range(proxies)]
        self.quiet()

    def connect(self, number):
        node = {"id": f"sidecar~10.9.0.{number + 1}~client-{number}.shop~shop.svc.cluster.local",
                "metadata": {"NAMESPACE": "shop", "CLUSTER_ID": "main"}}
        stream = Stream(self.grpc, node)
        self.addCleanup(stream.end)
        stream.ask(CLUSTER)
        stream.ask(ENDPOINT, *(f"outbound|80||web-{n}.shop.svc.cluster.local" for n in range(SERVICES)), CROWD)
        wait_until("both answers", lambda: stream.answers >= 2, 20)
        return stream

    def quiet(self):
        """The answers so far, once none comes any more."""
        before = None
        while (now := self.answers()) != before:
            before = now
            time.sleep(0.5)

    def answers(self):
        return [stream.answers for stream in self.streams]

    def change(self, address):
        """An endpoint more; each proxy is told once."""
        before = self.answers()
        path = SLICES.format("shop") + "/web-0-1"
        endpoints = slice_of("web-0", {"web-0-0": "10.20.0.1"})["endpoints"] + [{"addresses": [address], "conditions": {"ready": True}}]
        server.api.call("PATCH", path, {"endpoints": endpoints}, "application/merge-patch+json")
        return before

    def told_once(self, before, seconds):
        wait_until("every proxy is told", lambda: all(now > old for now, old in zip(self.answers(), before)), seconds)
        time.sleep(1)
        self.assertEqual(self.answers(), [old + 1 for old in before])
        self.assertFalse([s for s in self.streams if s.closed.is_set()], "a stream has ended")

    def test_the_servers_end_and_a_forgotten_history_send_nothing_again(self):
        self.start()
        before = self.answers()
        server.kill()
        server.etcd.compact()
        time.sleep(3)
        self.connect(PROXIES)  # who is new is served as before
        server.start()
        wait_until("there is news again", lambda: "unreachable-cluster" not in self.fairlead.diagnostics(), 40)
        time.sleep(1)
        self.assertEqual(self.answers(), before, "nothing has changed")
        self.told_once(self.change("10.20.0.7"), 20)

    def test_a_server_that_hangs_sends_nothing_again(self):
        self.start()
        before = self.answers()
        server.pause()
        try:
            time.sleep(3)
        finally:
            server.pause(False)
        server.api.close()
        self.assertEqual(self.answers(), before)
        self.told_once(self.change("10.20.0.8"), 20)

    def storm(self, status, retry_after):
        with Storm(server) as way:
            self.start(way.kubeconfig)
            before = self.answers()
            way.begin(status, retry_after)
            time.sleep(8)
            wait_until("it tries", lambda: way.refused > 5, 30)
            refused = way.refused
            way.end()
            self.assertEqual(self.answers(), before)
            self.assertLess(refused, 400, "it tries less and less")
            self.told_once(self.change(f"10.20.1.{status % 200}"), 45)

    def test_a_storm_of_429(self):
        self.storm(429, 1)

    def test_a_storm_of_500(self):
        self.storm(500, None)

    def test_a_namespace_of_many_pods_goes(self):
        addresses = [f"10.{40 + n // 62500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(PODS)]
        server.kill()  # what is put at one version of etcd is for lists alone
        server.etcd.put(dict(stored(pod(f"crowd-{n}", ip, "crowd", "crowd"), n, "pods") for n, ip in enumerate(addresses)))
        server.etcd.compact()
        server.start()
        for start in range(0, PODS, SLICE):
            part = slice_of("crowd", {f"crowd-{n}": addresses[n] for n in range(start, start + SLICE)}, ns="crowd")
            part["metadata"]["name"] = f"crowd-{start}"
            server.api.create(part)
        self.start(proxies=5)
        wait_until("all are endpoints", lambda: len(self.fairlead.endpoints(CROWD, network="")) == PODS, 60)
        self.quiet()
        before = self.answers()
        server.api.call("DELETE", SLICES.format("crowd"))
        server.api.call("DELETE", "/api/v1/namespaces/crowd/pods?gracePeriodSeconds=0")
        server.api.delete(namespace("crowd"))
        wait_until("none is left", lambda: not self.fairlead.endpoints(CROWD, network=""), 60)
        self.quiet()
        self.assertTrue(all(now > old for now, old in zip(self.answers(), before)))
        self.assertLess(max(now - old for now, old in zip(self.answers(), before)), 2 * PODS / SLICE + 10)
        self.assertFalse([s for s in self.streams if s.closed.is_set()])


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
