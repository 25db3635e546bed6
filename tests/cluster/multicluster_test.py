#!/usr/bin/env python3
"""The commands of docs/kubernetes/multicluster.md, with two API servers: Fairlead reads both, goes on with a renewed token, and lets the
other cluster go with its Secret.

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import json
import pathlib
import subprocess
import tempfile
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from fairlead_client import free_port
from fairlead_process import FairleadProcess
from installed import sections
from kubebox import PROGRAMS, ROOT, wait_until
from mesh_objects import gateway, namespace, pod, service, slice_of

PAGE, WEB = "multicluster", "outbound|80||web.shop.svc.cluster.local"
ADDRESSES = {"east": ("192.0.2.1", "10.20.0.1"), "west": ("192.0.2.2", "10.30.0.1")}  # of the network's gateway, and of the pod


class MultiCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        own_network()
        cls.servers = {"east": ApiServer(), "west": ApiServer(authorization="RBAC", number=1)}
        for server in cls.servers.values():
            server.__enter__()
            cls.addClassCleanup(server.__exit__, None, None, None)
        cls.servers["east"].define(*crd_files())
        folder = tempfile.TemporaryDirectory(prefix="fairlead-multicluster-")
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        cls.make_tools()

    @classmethod
    def make_tools(cls):
        """kubectl with a context for each cluster, and helm."""
        merged = {"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []}
        for name, server in cls.servers.items():
            one = json.loads(pathlib.Path(server.kubeconfig).read_text())
            merged["clusters"].append({**one["clusters"][0], "name": name})
            merged["users"].append({**one["users"][0], "name": name})
            merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
        (cls.work / "kubeconfig").write_text(json.dumps(merged))
        for name, command in ("kubectl", f'{PROGRAMS}/kube kubectl "$@"'), ("helm", f'{PROGRAMS}/helm "$3" "$5" "$7"'):
            (cls.work / name).write_text(f"#!/bin/sh\nexec {command}\n")
            (cls.work / name).chmod(0o755)
        (cls.work / "deploy").symlink_to(ROOT / "deploy")

    def run_page(self, heading):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", sections(PAGE)[heading]], cwd=self.work, capture_output=True, text=True, timeout=120,
                              env={"PATH": f"{self.work}:/usr/bin:/bin:/usr/sbin:/sbin", "KUBECONFIG": str(self.work / "kubeconfig")}, check=False)
        self.assertEqual(done.returncode, 0, f"{heading}: {done.stdout}{done.stderr}")

    def fill(self):
        for name, (address, ip) in ADDRESSES.items():
            for obj in (namespace("shop"), gateway(f"net-{name}", address), service("web", None), pod("web-0", ip, "web"), slice_of("web", {"web-0": ip})):
                self.servers[name].api.create(obj)

    def test_the_page(self):
        self.run_page("One authority")
        self.run_page("Networks")
        self.fill()
        fairlead = FairleadProcess(self.servers["east"].kubeconfig, "--clusterID", "east", secure=free_port(), env={"ENABLE_LEADER_ELECTION": "false"})
        with fairlead:
            fairlead.await_ready()
            self.one_root(fairlead)
            self.sees(fairlead, ["10.20.0.1:8080"])
            self.run_page("Reading another cluster")
            self.sees(fairlead, ["10.20.0.1:8080", "192.0.2.2:15443"])
            # The page's second commands have renewed the token already.
            wait_until("the renewed token is in use", lambda: fairlead.clusters()["west"] == ("istio-system/istio-remote-secret-west", "synced"))
            self.assertNotIn("forbidden", fairlead.log())
            self.run_page("Another cluster goes")
            self.sees(fairlead, ["10.20.0.1:8080"])
        self.run_page("Control planes")
        for name, server in self.servers.items():
            pods = server.api.get("/apis/apps/v1/namespaces/istio-system/deployments/istiod")["spec"]["template"]["spec"]
            self.assertIn({"name": "CLUSTER_ID", "value": name}, pods["containers"][0]["env"])

    def one_root(self, fairlead):
        """Fairlead's authority is the operator's, so that its root is in the namespaces."""
        root = (self.work / "root-cert.pem").read_text().strip()

        def written():
            found = self.servers["east"].api.call("GET", "/api/v1/namespaces/shop/configmaps/istio-ca-root-cert", also=(404,))
            return found[0] == 200 and root in found[1]["data"]["root-cert.pem"]
        wait_until("the root", written, 30)

    def sees(self, fairlead, expected):
        last = []

        def same():
            last[:] = fairlead.endpoints(WEB, cluster="east", network="net-east")
            return last == sorted(expected)
        try:
            wait_until("the endpoints", same, 30)
        except AssertionError:
            self.assertEqual(last, expected, fairlead.diagnostics() + fairlead.log()[-2000:])


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
