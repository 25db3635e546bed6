#!/usr/bin/env python3
"""500 pods start while the API server answers Fairlead a second late: each gets its sidecar at once, agents get their certificates,
and all pods become endpoints.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import concurrent.futures
import os
import pathlib
import sys
import time
import unittest

import kubebox
from api_server import own_network
from fairlead_process import FairleadProcess
from grpc_calls import Calls, signing_request
from kube_api import KubeApi
from storm import Storm
from webhooks_test import Webhooks

PODS, AGENTS, CLIENTS, DELAY = 500, 100, 10, 1
TOKEN = "/api/v1/namespaces/market/serviceaccounts/web/token"


class Box(Webhooks):
    secure, http = "127.0.0.1:15012", "127.0.0.1:18080"
    env = {"FAIRLEAD_CERTIFICATE_RATE": "0"}  # all agents have one address here

    def way(self):
        self.storm = Storm(self.server).__enter__()
        return self.storm.kubeconfig

    def __exit__(self, *_):
        super().__exit__(*_)
        self.storm.__exit__(*_)


class Start:
    """What happens for each pod; each client has a connection of its own."""

    def __init__(self, box):
        self.box = box
        self.request = signing_request("spiffe://cluster.local/ns/market/sa/web")[0]
        self.calls = Calls(15012, pathlib.Path(box.folder.name, "state", "root-cert.pem"))

    def some(self, numbers):
        api = KubeApi(self.box.server.kubeconfig)
        try:
            return [self.one(api, number) for number in numbers]
        finally:
            api.close()

    def one(self, api, number):
        """(seconds until the pod was there, its sidecar's stamp, gRPC status of a certificate)."""
        began = time.monotonic()
        pod = api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{number}", "namespace": "market", "labels": {"app": "web"}},
                          "spec": {"serviceAccountName": "web", "containers": [{"name": "app", "image": "app"}]}})
        took = time.monotonic() - began
        ip = f"10.20.{number // 250}.{number % 250 + 1}"
        api.call("PATCH", f"/api/v1/namespaces/market/pods/web-{number}/status", {"status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]}},
                 "application/merge-patch+json")
        api.create({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                    "metadata": {"name": f"web-{number}", "namespace": "market", "labels": {"kubernetes.io/service-name": "web"}},
                    "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
                    "endpoints": [{"addresses": [ip], "conditions": {"ready": True}}]})
        status = self.certificate(api, pod) if number < AGENTS else 0
        return took, pod["metadata"].get("labels", {}).get("stamp"), status

    def certificate(self, api, pod):
        bound = {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        token = api.call("POST", TOKEN, {"spec": {"audiences": ["istio-ca"], "expirationSeconds": 3600, "boundObjectRef": bound}})[1]["status"]["token"]
        return self.calls.certificate(self.request, token)[0]


def check(test, box):
    box.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "market"}})
    box.api.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "market"},
                    "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}})
    box.register()
    kubebox.wait_until("the first sidecar", lambda: box.pod(f"first-{os.urandom(4).hex()}")["metadata"].get("labels", {}).get("stamp") == "one")
    box.storm.delay = DELAY
    start, began = Start(box), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        found = [one for part in pool.map(start.some, [range(n, PODS, CLIENTS) for n in range(CLIENTS)]) for one in part]
    times = sorted(took for took, _, _ in found)
    print(f"{PODS} pods and {AGENTS} certificates in {time.monotonic() - began:.1f} s; a pod {times[PODS // 2] * 1000:.0f} ms, "
          f"99 in 100 below {times[PODS * 99 // 100] * 1000:.0f} ms", file=sys.stderr)
    test.assertEqual({stamp for _, stamp, _ in found}, {"one"})
    test.assertEqual([status for _, _, status in found if status], [])
    test.assertLess(times[PODS // 2], DELAY, "no pod waits for the API server's answers to Fairlead")
    endpoints(box)


def endpoints(box):
    def all_there():
        return len(FairleadProcess.endpoints(Asked(), "outbound|80||web.market.svc.cluster.local", "Kubernetes", "")) == PODS
    kubebox.wait_until("all are endpoints", all_there, 60)


class Asked:
    """The Fairlead of the box, for FairleadProcess's questions."""
    port = 18080

    def resources(self, *words):
        return FairleadProcess.resources(self, *words, namespace="market")


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def test_pods_start(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Box() as box:
                    try:
                        check(self, box)
                        code = 0
                    finally:
                        if code:
                            print(box.said()[-3000:], file=sys.stderr)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
