#!/usr/bin/env python3
"""Two replicas of Fairlead on one API server: one writes, both serve the same, and the other goes on where a killed leader was.

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from fairlead_box import program
from kubebox import end_with_parent, wait_until

ROUTES, MORE, LEASES = 30, 60, "/apis/coordination.k8s.io/v1/namespaces/istio-system/leases"
MAPS, LEADER = "/api/v1/namespaces/istio-system/configmaps", "control-plane.alpha.kubernetes.io/leader"
ROUTE_PATH = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes"
LEASE_SECONDS, RETRY_SECONDS = 30, 16.5
IN_LEASES = {"istio-gateway-status-leader-default", "istio-status-leader", "istio-gateway-deployment-default"}
IN_MAPS = {"istio-leader", "istio-ip-autoallocate", "istio-namespace-controller-election"}  # as istiod has them
LOCKS = IN_LEASES | IN_MAPS
NODE = {"id": "sidecar~10.0.0.1~web.shop~shop.svc.cluster.local", "metadata": {"NAMESPACE": "shop", "CLUSTER_ID": "Kubernetes"}}

server = None


def setUpModule():
    global server
    own_network()
    stack = contextlib.ExitStack()
    server = stack.enter_context(ApiServer())
    unittest.addModuleCleanup(stack.close)
    server.define(*crd_files())
    for name in ("istio-system", "shop"):
        server.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def gateway(name):
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}


def route(name):
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"parentRefs": [{"name": "edge"}], "hostnames": [f"{name}.example.com"],
                     "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]}}


class Replica:
    environment, kubeconfig = {}, None  # None: the server's own

    def __init__(self, number):
        self.name, self.http, self.monitoring, base = f"istiod-{number}", 18080 + number, 18180 + number, 18280
        self.home = tempfile.TemporaryDirectory(prefix="fairlead-replica-")
        self.log = open(pathlib.Path(self.home.name, "log"), "w+")
        self.process = subprocess.Popen(
            [str(program()), "discovery", "--kubeconfig", self.kubeconfig or server.kubeconfig, f"--grpcAddr=127.0.0.1:{base + number}",
             f"--secureGRPCAddr=127.0.0.1:{base + 100 + number}", f"--httpAddr=127.0.0.1:{self.http}", "--httpsAddr=",
             f"--monitoringAddr=127.0.0.1:{self.monitoring}", f"--stateDir={self.home.name}/state", "--ctrlz_port=0"],
            stdout=self.log, stderr=self.log, preexec_fn=end_with_parent, cwd=self.home.name,
            env={**os.environ, "POD_NAME": self.name, "POD_NAMESPACE": "istio-system", "FAIRLEAD_PLAINTEXT_IDENTITY": "node",
                 **self.environment})

    def ask(self, port, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait_ready(self):
        try:
            wait_until(self.name, lambda: self.ask(self.http, "GET", "/ready")[0] == 200, 30)
        except AssertionError as error:
            self.log.seek(0)
            raise AssertionError(f"{error}: {self.log.read()[-800:]}") from error

    def metric(self, name):
        text = self.ask(self.monitoring, "GET", "/metrics")[1].decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line))

    def resources(self, kind):
        status, body = self.ask(self.http, "POST", f"/v3/discovery:{kind}", json.dumps({"node": NODE}))
        if status != 200:
            raise AssertionError(f"{kind}: {status} {body[:300]}")
        return body

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        self.log.close()
        self.home.cleanup()


def accepted(name):
    parents = server.api.get(f"{ROUTE_PATH}/{name}").get("status", {}).get("parents", [])
    return any(c["type"] == "Accepted" for p in parents for c in p["conditions"])


def versions(written=False):
    """Of the routes; with written of those alone that have a status."""
    return {r["metadata"]["name"]: r["metadata"]["resourceVersion"] for r in server.api.get(ROUTE_PATH)["items"]
            if not written or r.get("status", {}).get("parents")}


def holders():
    """Who holds each lock."""
    maps = {map["metadata"]["name"]: map["metadata"].get("annotations", {}).get(LEADER) for map in server.api.get(MAPS)["items"]}
    found = {name: json.loads(record)["holderIdentity"] for name, record in maps.items() if record}
    return found | {lease["metadata"]["name"]: lease["spec"].get("holderIdentity", "") for lease in server.api.get(LEASES)["items"]}


class Server(unittest.TestCase):
    """What Fairlead relies on in an API server, beyond what the fake of its unit tests does."""

    def setUp(self):
        self.path = f"{ROUTE_PATH}/checked"
        self.version = server.api.create(route("checked"))["metadata"]["resourceVersion"]
        self.addCleanup(server.api.call, "DELETE", self.path)

    def patch(self, body, content_type, path="", also=()):
        status, answer = server.api.call("PATCH", self.path + path, body, f"application/{content_type}-patch+json", also)
        return status, answer

    def test_a_patch_of_an_older_version_is_a_conflict(self):
        def write(version, also=()):
            return self.patch([{"op": "add", "path": "/metadata/resourceVersion", "value": version},
                               {"op": "add", "path": "/status", "value": {"parents": []}}], "json", "/status", also)
        self.patch({"metadata": {"labels": {"a": "b"}}}, "merge")
        self.assertEqual(write(self.version, (409,))[0], 409)
        now = server.api.get(self.path)["metadata"]["resourceVersion"]
        status, answer = write(now)
        self.assertEqual((status, answer["status"]), (200, {"parents": []}))
        self.assertNotEqual(answer["metadata"]["resourceVersion"], now)
        stale = {"metadata": {"resourceVersion": self.version}, "status": {"parents": []}}
        self.assertEqual(self.patch(stale, "merge", "/status", (409,))[0], 409)

    def test_what_is_written_again_changes_nothing(self):
        again = {"status": {"parents": []}}
        version = self.patch(again, "merge", "/status")[1]["metadata"]["resourceVersion"]
        self.assertEqual(self.patch(again, "merge", "/status")[1]["metadata"]["resourceVersion"], version)

    def test_a_name_is_given_once(self):
        status, answer = server.api.call("POST", ROUTE_PATH, route("checked"), also=(409,))
        self.assertEqual((status, answer["reason"]), (409, "AlreadyExists"))


class Replicas(unittest.TestCase):
    def start(self, *numbers):
        replicas = [Replica(number) for number in numbers]
        for replica in replicas:
            self.addCleanup(replica.stop)
        for replica in replicas:
            replica.wait_ready()
        return replicas

    def setUp(self):
        api = server.api
        api.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "istio"},
                    "spec": {"controllerName": "istio.io/gateway-controller"}}, replace=True)
        api.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
                    "spec": {"ports": [{"name": "http", "port": 80}]}}, replace=True)
        api.create(gateway("edge"), replace=True)
        for number in range(ROUTES):
            api.create(route(f"route-{number}"), replace=True)

    def test_one_writes_both_serve_the_same_and_the_other_goes_on(self):
        replicas = self.start(1, 2)
        wait_until("the statuses", lambda: all(accepted(f"route-{n}") for n in range(ROUTES)), 20)
        wait_until("the leaders", lambda: {n for n, h in holders().items() if h} >= LOCKS, 20)
        self.check_one_authority(replicas)
        self.check_same_resources(replicas)
        leads = holders()["istio-gateway-status-leader-default"]
        leader, other = replicas if leads == replicas[0].name else replicas[::-1]
        self.assertEqual(other.metric("fairlead_leader") + leader.metric("fairlead_leader"), len(LOCKS))
        self.check_written_once(replicas)
        self.check_takeover(leader, other)

    def check_one_authority(self, replicas):
        """One Secret, whose root is in each namespace, and both replicas sign with it."""
        secret = server.api.get("/api/v1/namespaces/istio-system/secrets/istio-ca-secret")
        root = base64.b64decode(secret["data"]["ca-cert.pem"]).decode()
        def distributed():
            return all(server.api.get(f"/api/v1/namespaces/{ns}/configmaps/istio-ca-root-cert")["data"]["root-cert.pem"] == root
                       for ns in ("default", "istio-system", "shop"))
        wait_until("the root certificates", lambda: server.api.call(
            "GET", "/api/v1/namespaces/shop/configmaps/istio-ca-root-cert", also=(404,))[0] == 200 and distributed(), 20)
        for replica in replicas:
            self.assertEqual(pathlib.Path(replica.home.name, "state", "root-cert.pem").read_text(), root, replica.name)
        path = "/api/v1/namespaces/shop/configmaps/istio-ca-root-cert"
        server.api.call("PATCH", path, {"data": {"root-cert.pem": "edited"}}, "application/merge-patch+json")
        wait_until("the repair", distributed, 10)

    def check_same_resources(self, replicas):
        for kind in ("clusters", "listeners"):
            one, two = (replica.resources(kind) for replica in replicas)
            self.assertEqual(one, two, kind)
            self.assertTrue(json.loads(one)["versionInfo"])

    def check_written_once(self, replicas):
        """A status for each route, the Gateway and the class; the Gateway's counts routes, so a few more of that."""
        time.sleep(2)
        total = [replica.metric("fairlead_cluster_status_writes_total") for replica in replicas]
        self.assertGreaterEqual(sum(total), ROUTES + 2)
        self.assertLessEqual(sum(total), ROUTES + 8)
        before = versions()
        time.sleep(2)
        self.assertEqual(versions(), before)

    def check_takeover(self, leader, other):
        for number in range(MORE):
            server.api.create(route(f"more-{number}"))
        leader.kill()  # while it writes
        killed = time.monotonic()
        before = versions(written=True)
        self.assertGreaterEqual(len(before), ROUTES)
        server.api.create(route("late"))
        wait_until("the other leader", lambda: accepted("late"), LEASE_SECONDS + RETRY_SECONDS + 10)
        took = time.monotonic() - killed
        self.assertGreater(took, LEASE_SECONDS / 3)
        self.assertLess(took, LEASE_SECONDS + RETRY_SECONDS + 5)
        wait_until("the rest", lambda: len(versions(written=True)) == ROUTES + MORE + 1, 20)
        after = versions(written=True)
        self.assertEqual({name: after[name] for name in before}, before, "nothing is written twice")
        self.assertEqual(holders()["istio-gateway-status-leader-default"], other.name)
        self.check_properly_ended(other)

    def check_properly_ended(self, last):
        """A leader that ends gives its Leases back, and the next one need not wait."""
        next_one, = self.start(3)
        last.process.terminate()
        last.process.wait(20)
        wait_until("the next leader", lambda: holders()["istio-gateway-status-leader-default"] == next_one.name, RETRY_SECONDS + 3)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
