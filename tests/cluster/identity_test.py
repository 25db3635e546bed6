#!/usr/bin/env python3
"""Who callers are is a question to their cluster's API server: tokens of accounts, node agents' pods, who may have Secrets, and
certificates by a signer of the cluster. One Fairlead beside two API servers with RBAC.

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from cluster_signer import COLLECTION, ClusterSigner
from fairlead_box import program
from grpc_calls import Calls, names_of, signing_request
from kube_api import KubeApi

SECURE, MONITORING = 15012, 15014
WEB = "spiffe://cluster.local/ns/shop/sa/web"
OK, UNAUTHENTICATED, INVALID, INTERNAL, UNAVAILABLE = 0, 16, 3, 13, 14
TOKENS = "/api/v1/namespaces/{}/serviceaccounts/{}/token"
PAIR = {"tls.crt": base64.b64encode(b"the-chain").decode(), "tls.key": base64.b64encode(b"the-key").decode(),
        "ca.crt": base64.b64encode(b"the-roots").decode()}


class Cluster:
    """An API server with accounts, pods and a Secret."""

    def __init__(self, number):
        self.server = ApiServer(authorization="RBAC", number=number)

    def __enter__(self):
        self.server.__enter__()
        self.api = self.server.api
        self.server.define(*crd_files())
        for name in ("istio-system", "shop", "kube-system"):
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, replace=True)
        for namespace, account in ("shop", "web"), ("shop", "gw"), ("kube-system", "agent"):
            self.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": namespace}})
        self.pods = {name: self.pod(namespace, name, account, node) for namespace, name, account, node in (
            ("shop", "web-0", "web", "n1"), ("kube-system", "agent-1", "agent", "n1"), ("kube-system", "agent-2", "agent", "n2"))}
        self.api.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pair", "namespace": "shop"}, "type": "kubernetes.io/tls",
                         "data": PAIR})
        return self

    def __exit__(self, *_):
        self.server.__exit__(None, None, None)

    def pod(self, namespace, name, account, node):
        return self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": {
            "serviceAccountName": account, "nodeName": node, "containers": [{"name": "app", "image": "app"}]}})

    def token(self, namespace, account, audience="istio-ca", pod=None, seconds=3600):
        spec = {"audiences": [audience], "expirationSeconds": seconds}
        if pod:
            spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        return self.api.call("POST", TOKENS.format(namespace, account), {"spec": spec})[1]["status"]["token"]

    def may_list_secrets(self, account):
        self.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "secrets", "namespace": "shop"},
                         "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "watch", "list"]}]}, replace=True)
        self.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": account, "namespace": "shop"},
                         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "secrets"},
                         "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "shop"}]})


class Fairlead:
    def __init__(self, kubeconfig, **env):
        self.kubeconfig, self.env, self.folder = kubeconfig, env, tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.folder.name, "log")

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [program(), "discovery", f"--kubeconfig={self.kubeconfig}", "--grpcAddr=", f"--secureGRPCAddr=127.0.0.1:{SECURE}", "--httpAddr=",
                 f"--monitoringAddr=127.0.0.1:{MONITORING}", "--ctrlz_port=0", "--httpsAddr=", f"--stateDir={self.folder.name}/state",
                 "--shutdownDuration=1s", "--meshConfig=", "--networksConfig="],
                env={**os.environ, "ISTIOD_CUSTOM_HOST": "localhost", "CLUSTER_ID": "main", "FAIRLEAD_CERTIFICATE_RATE": "0", **self.env},
                cwd=self.folder.name, stdout=log, stderr=log, preexec_fn=kubebox.end_with_parent)
        root = pathlib.Path(self.folder.name, "state", "root-cert.pem")
        kubebox.wait_until("Fairlead is ready", lambda: root.exists() and "ready after" in self.said(), 60)
        self.calls = Calls(SECURE, root)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Tests:
    """Checks, one after the other, in the network of their own."""

    def __init__(self, test, own, other):
        self.test, self.own, self.other = test, own, other

    def certificate(self, fairlead, token, identity=WEB, cluster="", **metadata):
        status, why, chain = fairlead.calls.certificate(signing_request(identity)[0], token, cluster, **metadata)
        return status, why, names_of(chain[0]) if status == OK else ""

    def tokens(self):
        """Accounts get certificates by tokens that their API server accepts."""
        test, own = self.test, self.own
        with Fairlead(own.server.kubeconfig) as fairlead:
            good = own.token("shop", "web", pod=own.pods["web-0"])
            status, why, names = self.certificate(fairlead, good)
            test.assertEqual((status, why), (OK, ""), fairlead.said()[-2000:])
            test.assertIn("URI:" + WEB, names)
            for bad in (own.token("shop", "web", audience="else"), good[:-6] + "AAAAAA", "secret", ""):
                test.assertEqual(self.certificate(fairlead, bad)[0], UNAUTHENTICATED, bad[:20])
            # Streams of xDS, too: the token of another account is no proof for this one.
            test.assertEqual(fairlead.calls.secrets(["configmap://shop/none-cacert"], "shop", good)[0], OK)
            test.assertNotEqual(fairlead.calls.secrets(["configmap://shop/none-cacert"], "kube-system", good, account="agent")[0], OK)
            test.assertEqual(fairlead.calls.secrets(["configmap://shop/none-cacert"], "shop", own.token("shop", "web", audience="else"))[0],
                             UNAUTHENTICATED)
            # The token of a pod that is gone ends with it, a moment later.
            pod = own.pod("shop", "web-1", "web", "n1")
            bound = own.token("shop", "web", pod=pod)
            test.assertEqual(self.certificate(fairlead, bound)[0], OK)
            own.api.delete(pod)
            kubebox.wait_until("the token ends", lambda: self.certificate(fairlead, bound)[0] == UNAUTHENTICATED, 60)
            # While the API server is away a verdict holds on for a moment, and there is none of others.
            other = own.token("shop", "gw")
            test.assertEqual(self.certificate(fairlead, good)[0], OK)
            own.server.pause()
            try:
                test.assertEqual(self.certificate(fairlead, good)[0], OK)
                test.assertEqual(self.certificate(fairlead, other, "spiffe://cluster.local/ns/shop/sa/gw")[0], UNAUTHENTICATED)
                test.assertIn("cannot be asked", fairlead.said())
            finally:
                own.server.pause(False)
            test.assertEqual(self.certificate(fairlead, other, "spiffe://cluster.local/ns/shop/sa/gw")[0], OK)

    def node_agents(self):
        """A node agent gets certificates of the workloads of its node alone."""
        test, own = self.test, self.own
        with Fairlead(own.server.kubeconfig, CA_TRUSTED_NODE_ACCOUNTS="kube-system/agent") as fairlead:
            first, second = (own.token("kube-system", "agent", pod=own.pods[name]) for name in ("agent-1", "agent-2"))
            status, why, names = self.certificate(fairlead, first, ImpersonatedIdentity=WEB)
            test.assertEqual((status, why), (OK, ""), fairlead.said()[-2000:])
            test.assertIn("URI:" + WEB, names)
            test.assertEqual(self.certificate(fairlead, second, ImpersonatedIdentity=WEB)[0], UNAUTHENTICATED)
            test.assertEqual(self.certificate(fairlead, own.token("kube-system", "agent"), ImpersonatedIdentity=WEB)[0], UNAUTHENTICATED)
            test.assertEqual(self.certificate(fairlead, own.token("shop", "web", pod=own.pods["web-0"]), ImpersonatedIdentity=WEB)[0],
                             UNAUTHENTICATED)

    def issuer_keys(self):
        """With TOKEN_ISSUER the API server's keys suffice."""
        test, own = self.test, self.own
        issuer = "https://kubernetes.default.svc.cluster.local"
        with Fairlead(own.server.kubeconfig, TOKEN_ISSUER=issuer) as fairlead:
            def without_a_review():
                before = self.reviews()
                test.assertEqual(self.certificate(fairlead, own.token("shop", "web"))[0], OK)
                return self.reviews() == before
            kubebox.wait_until("the keys", without_a_review, 30, pause=1)
            test.assertEqual(self.certificate(fairlead, self.other.token("shop", "web"))[0], UNAUTHENTICATED)

    @staticmethod
    def reviews():
        done = subprocess.run(["curl", "-sS", f"http://127.0.0.1:{MONITORING}/metrics"], capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if line.startswith('fairlead_token_reviews_total{verdict="asked"}')]

    def secrets(self):
        """Who may have Secrets is what RBAC says, of each cluster for its own proxies."""
        test, own, other = self.test, self.own, self.other
        own.may_list_secrets("gw")
        kubeconfig = pathlib.Path(other.server.kubeconfig).read_text()
        own.api.create({"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": "east", "namespace": "istio-system", "labels": {"istio/multiCluster": "true"}},
            "data": {"east": base64.b64encode(kubeconfig.encode()).decode()}})
        with Fairlead(own.server.kubeconfig) as fairlead:
            def has(account, name="kubernetes://pair", cluster=""):
                where = other if cluster == "east" else own
                status, why, body = fairlead.calls.secrets([name], "shop", where.token("shop", account), account, cluster, "router", cluster)
                test.assertEqual((status, why), (OK, ""), fairlead.said()[-2000:])
                return b"the-key" in body or b"the-roots" in body
            kubebox.wait_until("the gateway has it", lambda: has("gw"))
            kubebox.wait_until("the verdict", lambda: "shop/web may not have" in fairlead.said() or has("web"))
            test.assertFalse(has("web"))
            test.assertTrue(has("web", "kubernetes://pair-cacert"), "roots are public")
            # The other cluster has not granted it.
            kubebox.wait_until("the verdict", lambda: "shop/gw of cluster east may not have" in fairlead.said() or has("gw", cluster="east"))
            test.assertFalse(has("gw", cluster="east"))
            # A certificate by the other cluster's token.
            test.assertEqual(self.certificate(fairlead, other.token("shop", "web"), cluster="east")[0], OK, fairlead.said()[-1000:])
            test.assertEqual(self.certificate(fairlead, other.token("shop", "web"))[0], UNAUTHENTICATED)
            test.assertEqual(self.certificate(fairlead, other.token("shop", "web"), cluster="west")[0], UNAUTHENTICATED)
            # A role that comes is seen.
            own.may_list_secrets("web")
            kubebox.wait_until("the grant", lambda: has("web"), 90, pause=1)

    def cluster_signer(self):
        """Certificates by a signer of the cluster; requests are approved and deleted."""
        test, own = self.test, self.own
        with ClusterSigner(KubeApi(own.server.kubeconfig), "example.com/mesh") as signer:
            own.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"}, "data": {
                "mesh": json.dumps({"caCertificates": [{"pem": signer.root, "certSigners": ["example.com/mesh"]}]})}}, replace=True)
            with Fairlead(own.server.kubeconfig, EXTERNAL_CA="ISTIOD_RA_KUBERNETES_API", K8S_SIGNER="example.com/mesh",
                          CERT_SIGNER_DOMAIN="example.com") as fairlead:
                token = own.token("shop", "web")
                status, why, chain = fairlead.calls.certificate(signing_request(WEB)[0], token, seconds=3600)
                test.assertEqual((status, why), (OK, ""), fairlead.said()[-2000:])
                test.assertIn("URI:" + WEB, names_of(chain[0]))
                test.assertEqual("".join(chain[-1].split()), "".join(signer.root.split()))
                test.assertEqual(own.api.get(COLLECTION)["items"], [])
                test.assertEqual(self.certificate(fairlead, token, CertSigner="mesh")[0], OK)
                status, why, _ = self.certificate(fairlead, token, CertSigner="nobody")
                test.assertEqual(status, UNAVAILABLE, why)
                test.assertIn("example.com/nobody has not signed", why)
                status, why, _ = self.certificate(fairlead, token, identity="spiffe://cluster.local/ns/shop/sa/gw")
                test.assertEqual(status, INVALID, why)
                test.assertEqual(own.api.get(COLLECTION)["items"], [])
                test.assertEqual(signer.signed, 2)


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def test_identities(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Cluster(0) as own, Cluster(1) as other:
                    checks = Tests(self, own, other)
                    for check in (checks.tokens, checks.node_agents, checks.issuer_keys, checks.secrets, checks.cluster_signer):
                        if len(sys.argv) < 2 or check.__name__ in sys.argv:
                            check()
                            print(check.__name__, "ok", file=sys.stderr)
                    code = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(argv=sys.argv[:1], verbosity=2)
