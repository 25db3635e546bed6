#!/usr/bin/env python3
"""The rights of docs/kubernetes/rbac.md: with all of them nothing is forbidden, each is used, and without one Fairlead goes on and
says what it lacks. The API server's own record of requests is the judge.

    rights_test.py [RESOURCE…]     tries these alone

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import kubebox
import yaml
from api_server import ApiServer, crd_files, own_network
from fairlead_box import MANIFEST, program
from grpc_calls import Calls, signing_request

SECURE, MONITORING, WEBHOOK = 15012, 15014, 15017
ACCOUNT = "system:serviceaccount:istio-system:fairlead"
RBAC = "rbac.authorization.k8s.io/v1"
# What needs a proxy that rejects its resources (docs/cluster-writes.md); the rights are like the others' of the group.
NEEDS_PROXIES = re.compile(r"^(?!serviceentries|gateways|gatewayclasses|httproutes|ingresses).*/status$")
ISTIOS_GATEWAYS = (["networking.istio.io"], "gateways/status")  # likewise; the Gateway API's are written without
# What needs files of the pod, a proxy that registers, or an object that only other flags bring.
NOT_HERE = {"clustertrustbundles", "inferencepools/status", "cacerts", "workloadentries"}
# What a run of seconds does not come to: repairs, renewals, and a lock that another revision holds.
NOT_YET = {("patch", "configmaps"), ("update", "configmaps"), ("patch", "ingresses/status"), ("update", "leases"),
           ("get", "mutatingwebhookconfigurations")}
# The deployments of Gateways need templates; cluster_install has them, with the chart's rights.
NOT_YET |= {(verb, resource) for verb in ("get", "create", "patch") for resource in
            ("deployments", "horizontalpodautoscalers", "poddisruptionbudgets", "services", "serviceaccounts")}
AUDIT = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["%s"]}
- {level: None}
""" % ACCOUNT


def parts():
    """(Kind, rule's number, resource) of each right of the manifest that a run can miss."""
    for role in roles():
        for number, rule in enumerate(role["rules"]):
            for resource in rule["resources"]:
                if NEEDS_PROXIES.match(resource) or (rule["apiGroups"], resource) == ISTIOS_GATEWAYS or resource in NOT_HERE or \
                        {(verb, resource) for verb in rule["verbs"]} <= NOT_YET:
                    continue
                yield role["kind"], number, resource


def roles():
    with open(MANIFEST, encoding="utf-8") as f:
        return [d for d in yaml.safe_load_all(f) if d and d["kind"] in ("Role", "ClusterRole")]


def without(kind, number, resource):
    """The roles without one right."""
    left = roles()
    for role in left:
        if role["kind"] == kind:
            rule = role["rules"][number]
            rule["resources"] = [one for one in rule["resources"] if one != resource]
            role["rules"] = [rule for rule in role["rules"] if rule["resources"]]
    return left


class Rights:
    def __init__(self, test):
        self.test, self.folder, self.tries = test, tempfile.TemporaryDirectory(), 0

    def __enter__(self):
        policy, self.audit = pathlib.Path(self.folder.name, "policy"), pathlib.Path(self.folder.name, "audit")
        policy.write_text(AUDIT)
        self.server = ApiServer(f"--audit-policy-file={policy}", f"--audit-log-path={self.audit}", authorization="RBAC").__enter__()
        self.api = self.server.api
        self.server.define(*crd_files())
        for name in ("istio-system", "shop"):
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for name, namespace in ("fairlead", "istio-system"), ("web", "shop"):
            self.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}})
        for role in roles():
            self.api.create({"apiVersion": RBAC, "kind": role["kind"] + "Binding", "metadata": role["metadata"],
                             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": "fairlead"},
                             "subjects": [{"kind": "ServiceAccount", "name": "fairlead", "namespace": "istio-system"}]})
        token = self.token("istio-system", "fairlead")
        self.kubeconfig = self.server.write_kubeconfig("fairlead", {"token": token})
        self.api.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "istio"},
                         "spec": {"controllerName": "istio.io/gateway-controller"}})
        return self

    def __exit__(self, *_):
        self.server.__exit__(None, None, None)
        self.folder.cleanup()

    def token(self, namespace, account, **spec):
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return self.api.call("POST", path, {"spec": {"expirationSeconds": 7200, **spec}})[1]["status"]["token"]

    def grant(self, given):
        for role in given:
            self.api.create(role, replace=True)

    def remove_locks(self):
        self.api.call("DELETE", "/apis/coordination.k8s.io/v1/namespaces/istio-system/leases")
        for name in "istio-ip-autoallocate", "istio-leader", "istio-namespace-controller-election":
            self.api.call("DELETE", f"/api/v1/namespaces/istio-system/configmaps/{name}", also=(404,))

    def renew_objects(self):
        """Objects that are new in each try, so that there is something to write of them."""
        n = self.tries
        self.api.call("DELETE", "/api/v1/namespaces/istio-system/secrets/istio-ca-secret", also=(404,))
        self.remove_locks()
        self.api.call("DELETE", "/apis/gateway.networking.k8s.io/v1/gatewayclasses/istio-remote", also=(404,))
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"space-{n}"}})
        gateway = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": f"edge-{n}", "namespace": "shop"},
                   "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}
        self.api.create(gateway)
        self.api.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": f"route-{n}", "namespace": "shop"},
                         "spec": {"parentRefs": [{"name": f"edge-{n}"}], "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]}})
        self.api.create({"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": {"name": f"entry-{n}", "namespace": "shop"},
                         "spec": {"hosts": [f"entry-{n}.example"], "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}], "resolution": "DNS"}})
        self.api.patch({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "istio"}},
                       {"spec": {"description": f"try {n}"}})
        rules = [{"operations": ["CREATE"], "apiGroups": ["networking.istio.io"], "apiVersions": ["*"], "resources": ["gateways"]}]
        for kind, name in ("Mutating", "rev.sidecar-injector.istio.io"), ("Validating", "rev.validation.istio.io"):
            which = {"Mutating": "istio-sidecar-injector", "Validating": "istio-validator-istio-system"}[kind]
            self.api.call("DELETE", f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations/{which}", also=(404,))
            path = {"Mutating": "/inject", "Validating": "/validate"}[kind]
            self.api.create({"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
                             "metadata": {"name": which, "labels": {"istio.io/rev": "default"}}, "webhooks": [{
                                 "name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
                                 "clientConfig": {"url": f"https://localhost:{WEBHOOK}{path}"},
                                 "rules": rules if kind == "Validating" else [{**rules[0], "apiGroups": [""], "resources": ["pods"]}],
                                 "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "istio-system"}}}]})

    def attempt(self, enough, seconds):
        """Runs Fairlead until `enough` of its requests and its log holds; these."""
        self.tries += 1
        self.renew_objects()
        begin = self.audit.stat().st_size if self.audit.exists() else 0
        with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [program(), "discovery", f"--kubeconfig={self.kubeconfig}", "--grpcAddr=", f"--secureGRPCAddr=127.0.0.1:{SECURE}", "--httpAddr=",
                 f"--monitoringAddr=127.0.0.1:{MONITORING}", "--ctrlz_port=0", f"--httpsAddr=127.0.0.1:{WEBHOOK}", f"--stateDir={folder}/state",
                 "--shutdownDuration=100ms", "--meshConfig=", "--networksConfig="], stdout=log, stderr=log, cwd=folder,
                env={**os.environ, "ISTIOD_CUSTOM_HOST": "localhost", "POD_NAME": "fairlead-0"}, preexec_fn=kubebox.end_with_parent)
            try:
                end = time.monotonic() + seconds
                while True:
                    self.ask(folder)
                    requests, said = self.requests(begin), pathlib.Path(folder, "log").read_text()
                    if enough(requests, said) or time.monotonic() > end or process.poll() is not None:
                        return requests, said
                    time.sleep(0.2)
            finally:
                process.terminate()
                process.wait()

    def ask(self, folder):
        """As an agent does: for a certificate and a Secret."""
        root = pathlib.Path(folder, "state", "root-cert.pem")
        if not root.exists():
            return
        calls, token = Calls(SECURE, root), self.token("shop", "web", audiences=["istio-ca"])
        try:
            calls.certificate(signing_request("spiffe://cluster.local/ns/shop/sa/web")[0], token)
            calls.secrets(["kubernetes://pair"], "shop", token)
        except OSError:
            pass  # not listening yet

    def requests(self, begin):
        """(verb, resource, status code) of Fairlead's requests since then."""
        if not self.audit.exists():
            return set()
        with open(self.audit, encoding="utf-8") as f:
            f.seek(begin)
            events = [json.loads(line) for line in f if line.endswith("\n")]
        found = set()
        for event in events:
            ref = event.get("objectRef", {})
            resource = ref.get("resource", "") + ("/" + ref["subresource"] if "subresource" in ref else "")
            found.add((event["verb"], resource, event.get("responseStatus", {}).get("code", 0)))
        return found


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def all_of_them(self, rights):
        """Nothing is forbidden, and each right is used."""
        rights.grant(roles())
        wanted = {"gateways/status", "httproutes/status", "serviceentries/status", "tokenreviews", "subjectaccessreviews", "leases",
                  "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "configmaps"}

        def enough(requests, said):
            return wanted <= {resource for _, resource, _ in requests} and "validation fails closed" in said
        requests, said = rights.attempt(enough, 30)
        self.assertEqual({one for one in requests if one[2] == 403}, set(), said[-3000:])
        self.assertTrue(enough(requests, said), said[-3000:] + str(sorted(requests)))
        used = {(verb, resource) for verb, resource, _ in requests}
        unused = set()
        for role in roles():
            for rule in role["rules"]:
                for resource in rule["resources"]:
                    if resource == "*" or NEEDS_PROXIES.match(resource) or resource in NOT_HERE:
                        continue
                    for verb in rule["verbs"]:
                        names = rule.get("resourceNames", [""])
                        if (verb, resource) not in used | NOT_YET and not set(names) & NOT_HERE:
                            unused.add((verb, resource))
        print("rights without a use in this run:", sorted(unused), file=sys.stderr)
        return unused

    def one_is_missing(self, rights, kind, number, resource):
        rights.grant(without(kind, number, resource))
        group = {"*": ""}.get(resource, resource)

        def enough(requests, said):
            return any(code == 403 and (not group or group == found) for _, found, code in requests) and "forbidden" in said
        requests, said = rights.attempt(enough, 20)
        if enough(requests, said):
            return ""
        return f"{kind} {number} {resource}: " + ("it is not missed" if not any(code == 403 for *_, code in requests) else f"nothing is said: {said[-600:]}")

    def test_rights(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Rights(self) as rights:
                    only = sys.argv[1:]
                    if not only:
                        self.assertEqual(self.all_of_them(rights), set())
                    wrong = []
                    for kind, number, resource in parts():
                        if only and resource not in only:
                            continue
                        why = self.one_is_missing(rights, kind, number, resource)
                        print(f"{kind} {number} {resource}:", why or "missed, and said", file=sys.stderr, flush=True)
                        if why:
                            wrong.append(why)
                    self.assertEqual(wrong, [])
                    code = 0
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(argv=sys.argv[:1], verbosity=2)
