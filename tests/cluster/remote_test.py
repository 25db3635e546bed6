#!/usr/bin/env python3
"""Another cluster whose kubeconfig is in a Secret: its services and endpoints, and how it comes, goes and changes.

Two real API servers without nodes. Needs root and scripts/setup.sh cluster.
"""
import json
import threading
import time
import unittest

import kubebox
from api_server import OTHER_TOKEN, ApiServer, crd_files, own_network
from fairlead_client import free_port
from fairlead_process import FairleadProcess
from kubebox import wait_until
from mesh_objects import gateway, namespace, pod, remote_secret, service, slice_of

WEB = "outbound|80||web.shop.svc.cluster.local"
ALONE = "outbound|80||alone.shop.svc.cluster.local"
SECRET = remote_secret("remote", {})
OWN, EAST = "10.20.0.1:8080", "10.30.0.1:8080"
BOTH = [OWN, "192.0.2.2:15443"]  # for a proxy of the own network


def fill(server, network, address, pod_ip):
    for obj in (namespace("istio-system", **{"topology.istio.io/network": network}), namespace("shop"), gateway(network, address),
                service("web", None), pod("web-0", pod_ip, "web"), slice_of("web", {"web-0": pod_ip})):
        server.api.create(obj, replace=True)


def setUpModule():
    global own, east
    own_network()
    own, east = ApiServer(), ApiServer(number=1)
    for server in (own, east):
        server.__enter__()
        unittest.addModuleCleanup(server.__exit__, None, None, None)
        server.define(*crd_files())
    fill(own, "main-net", "192.0.2.1", "10.20.0.1")
    fill(east, "east-net", "192.0.2.2", "10.30.0.1")
    east.api.create(service("alone", None))
    east.api.create(slice_of("alone", {"web-0": "10.30.0.1"}))


class Remote(unittest.TestCase):
    def start(self, https=None, secure=None, **env):
        self.fairlead = FairleadProcess(own.kubeconfig, "--clusterID", "main", env=env, secure=secure)
        if https:
            self.fairlead.command[self.fairlead.command.index("--httpsAddr") + 1] = f"127.0.0.1:{https}"
        self.fairlead.__enter__()
        self.addCleanup(self.fairlead.__exit__)
        return self.fairlead

    def tearDown(self):
        if "kube-apiserver" not in east.processes:
            east.start()
        own.api.delete(SECRET)

    def put_secret(self, **kubeconfigs):
        obj = remote_secret("remote", kubeconfigs)
        if own.api.call("POST", own.api.path(obj, collection=True), obj, also=(409,))[0] == 409:
            own.api.call("PUT", own.api.path(obj), obj)

    def sees(self, expected, name=WEB, seconds=20, **client):
        last = []

        def same():
            last[:] = self.fairlead.endpoints(name, **client)
            return last == sorted(expected)
        try:
            wait_until("the endpoints", same, seconds)
        except AssertionError:
            self.assertEqual(last, sorted(expected), self.fairlead.diagnostics() + self.fairlead.log()[-2000:])

    def status(self, expected):
        wait_until(f"the cluster is {expected}", lambda: self.fairlead.clusters().get("east", ("", "none"))[1] == expected, 40)

    def test_services_endpoints_and_gateways_of_both(self):
        self.put_secret(east=east.kubeconfig)
        self.start().await_ready()
        self.assertEqual(self.fairlead.clusters(), {"main": ("", "synced"), "east": ("istio-system/remote", "synced")})
        self.sees(BOTH)
        self.sees(["192.0.2.1:15443", EAST], cluster="east", network="east-net")
        self.sees(["192.0.2.2:15443"], ALONE)
        self.assertEqual(self.fairlead.metric('istiod_managed_clusters{cluster_type="remote"}'), 1)
        self.assertEqual(self.fairlead.metric('istiod_managed_clusters{cluster_type="local"}'), 1)
        east.api.patch(namespace("istio-system"), {"metadata": {"labels": {"topology.istio.io/network": "main-net"}}})
        self.sees([OWN, EAST])
        east.api.patch(namespace("istio-system"), {"metadata": {"labels": {"topology.istio.io/network": "east-net"}}})
        self.sees(BOTH)

    def test_workload_entries_of_another_cluster_are_selected(self):
        entry = {"apiVersion": "networking.istio.io/v1", "kind": "WorkloadEntry", "metadata": {"name": "vm", "namespace": "shop"},
                 "spec": {"address": "10.30.0.9", "labels": {"app": "web"}}}
        east.api.create(entry)
        self.addCleanup(east.api.delete, entry)
        self.put_secret(east=east.kubeconfig)
        self.start().await_ready()
        self.sees([EAST, "10.30.0.9:8080", "192.0.2.1:15443"], cluster="east", network="east-net")
        east.api.delete(entry)
        self.sees([EAST, "192.0.2.1:15443"], cluster="east", network="east-net")
        east.api.create(entry)
        self.sees([EAST, "10.30.0.9:8080", "192.0.2.1:15443"], cluster="east", network="east-net")

    def test_endpoints_of_other_clusters_are_exported(self):
        """Kubernetes' Multicluster Services API, over two real API servers."""
        self.put_secret(east=east.kubeconfig)
        self.start(ENABLE_MCS_SERVICE_DISCOVERY="true", ENABLE_MCS_HOST="true", ENABLE_MCS_AUTO_EXPORT="true").await_ready()
        exported = self.mcs("ServiceExport")
        wait_until("the own cluster's Service is exported", lambda: own.api.call("GET", own.api.path(exported), also=(404,))[0] == 200)
        self.addCleanup(own.api.delete, exported)
        self.sees([OWN])
        self.sees([EAST, "192.0.2.1:15443"], cluster="east", network="east-net")
        east.api.create(exported)
        self.addCleanup(east.api.delete, exported)
        self.sees(BOTH)
        imports = [(server, self.mcs("ServiceImport", type="ClusterSetIP", ips=[address], ports=[{"port": 80}]))
                   for server, address in ((own, "10.200.0.1"), (east, "10.201.0.1"))]
        for server, obj in imports:
            server.api.create(obj)
            self.addCleanup(server.api.delete, obj)
        of_set = WEB.replace("cluster.local", "clusterset.local")
        self.sees(BOTH, of_set)
        self.sees([EAST, "192.0.2.1:15443"], of_set, cluster="east", network="east-net")
        shown = {(one["Cluster"], one["Name"]): (one["Exported"], one["Imported"], one["ClusterSetVIP"])
                 for one in self.fairlead.page("mcsz") if one["Name"] == "web"}
        self.assertEqual(shown, {("east", "web"): (True, True, "10.201.0.1"), ("main", "web"): (True, True, "10.200.0.1")})
        listeners = [one["name"] for one in self.fairlead.resources("listeners", [], cluster="east", network="east-net")[1]]
        self.assertNotIn("10.200.0.1_80", listeners)
        east.api.delete(exported)
        self.sees([OWN], of_set)
        for server, obj in imports:
            server.api.delete(obj)
        self.sees([], of_set)

    @staticmethod
    def mcs(kind, **spec):
        return {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": kind, "metadata": {"name": "web", "namespace": "shop"},
                **({"spec": spec} if spec else {})}

    def test_a_cluster_comes_and_goes_with_its_secret(self):
        self.start().await_ready()
        self.sees([OWN])
        self.put_secret(east=east.kubeconfig)
        self.sees(BOTH)
        own.api.delete(SECRET)
        self.sees([OWN])
        self.assertEqual(list(self.fairlead.clusters()), ["main"])

    def test_a_lost_cluster_keeps_what_it_said(self):
        self.put_secret(east=east.kubeconfig)
        self.start().await_ready()
        self.sees(BOTH)
        version = self.fairlead.resources("endpoints", [WEB])[0]
        east.kill()
        wait_until("it is said", lambda: "has no news" in self.fairlead.diagnostics(), 30)
        self.assertEqual(self.fairlead.endpoints(WEB), BOTH)
        self.assertEqual(self.fairlead.get("/ready")[0], 200)
        east.start()
        self.assertEqual(self.fairlead.resources("endpoints", [WEB])[0], version)
        east.api.create(pod("web-1", "10.30.0.2", "web"))
        east.api.create(slice_of("web", {"web-0": "10.30.0.1", "web-1": "10.30.0.2"}), replace=True)
        self.addCleanup(east.api.create, slice_of("web", {"web-0": "10.30.0.1"}), replace=True)
        self.sees(["10.30.0.2:8080", EAST, "192.0.2.1:15443"], seconds=60, cluster="east", network="east-net")
        wait_until("each kind has news", lambda: "has no news" not in self.fairlead.diagnostics(), 60)

    def test_credentials_are_rotated_without_a_gap(self):
        self.put_secret(east=east.kubeconfig)
        self.start().await_ready()
        self.sees(BOTH)
        lacking, done = [], threading.Event()

        def watch():
            while not done.is_set():
                found = self.fairlead.endpoints(WEB)
                if found != BOTH:
                    lacking.append(found)
                time.sleep(0.02)
        watcher = threading.Thread(target=watch)
        watcher.start()
        version = self.fairlead.resources("endpoints", [WEB])[0]
        self.put_secret(east=east.write_kubeconfig("rotated", {"token": OTHER_TOKEN}))
        wait_until("the next kubeconfig is read", lambda: self.fairlead.log().count("cluster east has synced") == 2)
        time.sleep(0.5)
        done.set()
        watcher.join()
        self.assertEqual(lacking, [])
        self.assertEqual(self.fairlead.resources("endpoints", [WEB])[0], version)
        self.put_secret(east=east.write_kubeconfig("wrong", {"token": "nobody"}))
        wait_until("the next one is tried", lambda: "401" in self.fairlead.diagnostics(), 20)
        self.assertEqual(self.fairlead.endpoints(WEB), BOTH)

    def test_a_kubeconfig_that_cannot_be_used_is_named(self):
        runs = {"exec": {"command": "/bin/touch", "args": ["/tmp/fairlead-was-here"], "apiVersion": "client.authentication.k8s.io/v1"}}
        self.put_secret(east=east.kubeconfig, west="current-context: none", north=east.write_kubeconfig("runs", runs))
        self.start().await_ready()
        self.sees(BOTH)
        said = self.fairlead.diagnostics()
        self.assertIn("data.west", said)
        self.assertIn("there is no context", said)
        self.assertIn("users[0].user.exec", said)
        self.assertNotIn("token", self.fairlead.log())

    def roots_in(self, server, ns="shop"):
        """The ConfigMap with the root certificates; None where there is none."""
        status, body = server.api.call("GET", f"/api/v1/namespaces/{ns}/configmaps/istio-ca-root-cert", also=(404,))
        return body["data"]["root-cert.pem"] if status == 200 else None

    def test_an_external_control_plane_writes_into_the_clusters_that_name_it(self):
        webhooks = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                    "metadata": {"name": "istio-sidecar-injector", "labels": {"istio.io/rev": "default"}},
                    "webhooks": [{"name": "rev.namespace.sidecar-injector.istio.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                                  "failurePolicy": "Ignore", "clientConfig": {"url": "https://127.0.0.1:1/inject"},
                                  "objectSelector": {"matchLabels": {"nobody": "has-it"}},
                                  "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]}]}
        east.api.create(webhooks)
        self.addCleanup(east.api.delete, webhooks)

        def name(clusters):
            east.api.patch(namespace("istio-system"),
                           {"metadata": {"annotations": {"topology.istio.io/controlPlaneClusters": clusters}}})
        name("west,main")
        self.addCleanup(name, None)
        self.put_secret(east=east.kubeconfig)
        self.start(https=free_port(), secure=free_port(), EXTERNAL_ISTIOD="true").await_ready()
        wait_until("the roots are there", lambda: self.roots_in(east) is not None and self.roots_in(own) == self.roots_in(east), 30)
        wait_until("its webhooks have the root", lambda: "caBundle" in east.api.get(
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/istio-sidecar-injector")["webhooks"][0]["clientConfig"], 30)
        lock = east.api.get("/api/v1/namespaces/istio-system/configmaps/istio-namespace-controller-election")
        self.assertIn('"holderKey":"^default"', lock["metadata"]["annotations"]["control-plane.alpha.kubernetes.io/leader"].replace(" ", ""))
        self.assertEqual(self.fairlead.metric('fairlead_leader{lock="istio-namespace-controller-election@east"}'), 1)
        roots = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio-ca-root-cert", "namespace": "shop"}}
        east.api.delete(roots)
        wait_until("they are repaired", lambda: self.roots_in(east) is not None, 30)
        name("west")
        wait_until("it lets go", lambda: "is controlled by others" in self.fairlead.log(), 20)
        east.api.delete(roots)
        time.sleep(3)
        self.assertIsNone(self.roots_in(east))

    def test_without_the_variable_other_clusters_are_not_written_to(self):
        east.api.patch(namespace("istio-system"), {"metadata": {"annotations": {"topology.istio.io/controlPlaneClusters": "*"}}})
        self.addCleanup(east.api.patch, namespace("istio-system"),
                        {"metadata": {"annotations": {"topology.istio.io/controlPlaneClusters": None}}})
        before = self.roots_in(east)
        self.put_secret(east=east.kubeconfig)
        self.start(secure=free_port()).await_ready()
        wait_until("the own roots", lambda: self.roots_in(own) is not None, 30)
        time.sleep(2)
        self.assertEqual(self.roots_in(east), before)

    def test_options_accept_programs_and_files_of_a_kubeconfig(self):
        plugin = own.dir / "credentials"
        plugin.write_text("#!/bin/sh\nprintf '%s' '" + json.dumps({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
                                                                 "status": {"token": OTHER_TOKEN}}) + "'\n")
        plugin.chmod(0o755)
        self.put_secret(east=east.write_kubeconfig("plugin", {"exec": {"command": str(plugin), "interactiveMode": "Never",
                                                                       "apiVersion": "client.authentication.k8s.io/v1"}}))
        self.start(PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS="tokenFile, exec").await_ready()
        self.sees(BOTH)
        token = own.dir / "token"
        token.write_text(OTHER_TOKEN)
        self.put_secret(east=east.write_kubeconfig("of-a-file", {"tokenFile": str(token)}))
        wait_until("the next kubeconfig is read", lambda: self.fairlead.log().count("cluster east has synced") == 2)
        self.put_secret(east=east.write_kubeconfig("key", {"client-certificate": "/etc/hostname", "client-key": "/etc/hostname"}))
        wait_until("what is not in the list is refused", lambda: "users[0].user.client-certificate" in self.fairlead.diagnostics(), 20)
        self.sees(BOTH)

    def test_a_cluster_that_is_not_there_holds_the_start_up_for_so_long(self):
        east.kill()
        self.put_secret(east=east.kubeconfig)
        self.start(PILOT_REMOTE_CLUSTER_TIMEOUT="3s")
        wait_until("it says what it waits for", lambda: "cluster east" in self.fairlead.get("/ready")[1], 10)
        self.fairlead.await_ready()
        self.status("timeout")
        self.assertEqual(self.fairlead.metric('remote_cluster_sync_timeouts_total{cluster="east"}'), 1)
        self.sees([OWN])
        east.start()
        self.sees(BOTH, seconds=60)
        self.status("synced")


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
