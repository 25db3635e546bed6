#!/usr/bin/env python3
"""The chart: its plain rendering is the one in the tree, its values are checked, and its templates make the pods that they should.

Needs build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import yaml

import chart
import kubebox

FAIRLEAD = os.environ.get("FAIRLEAD") or str(kubebox.ROOT / "build" / "fairlead")
POD = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "shop", "namespace": "market", "labels": {"app": "shop", "version": "v2"}},
       "spec": {"containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 8080}],
                                "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}}}]}}


def find(objects, kind, name):
    return next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name))


def inject(objects, pod, *flags, name="istio-sidecar-injector"):
    """The pod with what the chart's injector adds."""
    data = find(objects, "ConfigMap", name)["data"]
    mesh = find(objects, "ConfigMap", "istio")["data"]["mesh"] if not flags else ""
    with tempfile.TemporaryDirectory() as folder:
        files = {"config": data["config"], "values": data["values"], "mesh": mesh, "pod": json.dumps(pod)}
        for file, text in files.items():
            pathlib.Path(folder, file).write_text(text)
        done = subprocess.run([FAIRLEAD, "inject", "-f", f"{folder}/pod", "--injectConfigFile", f"{folder}/config", "--valuesFile",
                               f"{folder}/values", "--meshConfigFile", f"{folder}/mesh", *flags], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
    return next(o for o in yaml.safe_load_all(done.stdout) if o)


def named(containers, name):
    return next(c for c in containers if c["name"] == name)


class Chart(unittest.TestCase):
    def test_the_plain_rendering_is_the_charts(self):
        self.assertEqual(chart.PLAIN.read_text(), chart.plain(), "run scripts/render_chart.py")

    def test_wrong_values_are_refused(self):
        for values, said in (({"replicas": 0}, "replicas"), ({"replica": 2}, "replica"), ({"injection": {"proxy": "own"}}, "proxy"),
                             ({"gateways": {"classDefaults": {"istio": {"secret": {}}}}}, "secret"), ({"revision": "A_b"}, "revision"),
                             ({"defaultRevision": "A_b"}, "defaultRevision")):
            with self.subTest(values=values), self.assertRaisesRegex(ValueError, said):
                chart.text(values)

    def test_a_revision_is_apart(self):
        plain, canary = (set((o["kind"], o["metadata"]["name"]) for o in chart.render({"revision": revision}))
                         for revision in ("", "canary"))
        self.assertEqual(plain & canary, set())
        leases = next(r["resourceNames"] for r in find(chart.render({"revision": "canary"}), "Role", "istiod-canary")["rules"]
                      if "leases" in r["resources"] and "resourceNames" in r)
        self.assertLessEqual({"istio-gateway-deployment-canary", "istio-gateway-status-leader-canary"}, set(leases))
        hooks = find(chart.render({"revision": "canary"}), "MutatingWebhookConfiguration", "istio-sidecar-injector-canary")["webhooks"]
        self.assertEqual([h["name"].split(".")[0:2] for h in hooks], [["rev", "namespace"], ["rev", "object"]])

    def test_tags_point_to_their_revision(self):
        objects = chart.render({"revision": "canary", "revisionTags": ["prod", "default", "canary"]})
        tags = {o["metadata"]["name"]: o for o in objects if "istio.io/tag" in o["metadata"].get("labels", {})}
        self.assertEqual(set(tags), {"istio-revision-tag-prod", "istio-revision-tag-default"})
        for tag in ("prod", "default"):
            labels = tags[f"istio-revision-tag-{tag}"]["metadata"]["labels"]
            self.assertEqual((labels["istio.io/tag"], labels["istio.io/rev"]), (tag, "canary"))
        names = {tag: [".".join(h["name"].split(".")[:2]) for h in hook["webhooks"]] for tag, hook in tags.items()}
        self.assertEqual(names["istio-revision-tag-prod"], ["rev.namespace", "rev.object"])
        self.assertEqual(names["istio-revision-tag-default"], ["rev.namespace", "rev.object", "namespace.sidecar-injector", "object.sidecar-injector"])
        selector = tags["istio-revision-tag-prod"]["webhooks"][0]["namespaceSelector"]["matchExpressions"][0]
        self.assertEqual(selector, {"key": "istio.io/rev", "operator": "In", "values": ["prod"]})
        rules = find(objects, "ClusterRole", "fairlead-canary-istio-system")["rules"]
        hooks = next(r["resourceNames"] for r in rules if r["resources"] == ["mutatingwebhookconfigurations"])
        self.assertLessEqual({"istio-revision-tag-prod", "istio-revision-tag-default", "istio-sidecar-injector-canary"}, set(hooks))

    def test_the_default_revision_checks_objects_without_a_label(self):
        """As Istio's chart `base` has it, whose object another installation may find there."""
        for revision, default, made in (("", "default", True), ("default", "default", True), ("canary", "canary", True), ("canary", "default", False),
                                        ("", "canary", False), ("", "", False)):
            with self.subTest(revision=revision, default=default):
                self.check_validators(chart.render({"revision": revision, "defaultRevision": default}), revision or "default", made)
        self.assertEqual(self.validators(chart.render({"validation": {"enabled": False}})), {})

    @staticmethod
    def validators(objects):
        return {o["metadata"]["name"]: o for o in objects if o["kind"] == "ValidatingWebhookConfiguration"}

    def check_validators(self, objects, revision, made):
        end = "" if revision == "default" else f"-{revision}"
        validators = self.validators(objects)
        self.assertEqual(set(validators), {f"istio-validator{end}-istio-system"} | ({"istiod-default-validator"} if made else set()))
        for name, validator in validators.items():
            # By this label Fairlead finds what it writes the caBundle into, and the default revision.
            self.assertEqual(validator["metadata"]["labels"]["istio.io/rev"], revision)
            hook, = validator["webhooks"]
            self.assertEqual(hook["clientConfig"]["service"], {"name": f"istiod{end}", "namespace": "istio-system", "path": "/validate", "port": 443})
            self.assertEqual((hook["failurePolicy"], hook["rules"][0]["resources"]), ("Ignore", ["*"]))
            labelled = {"matchExpressions": [{"key": "istio.io/rev", "operator": "In", "values": [revision]}]}
            self.assertEqual((hook["name"], hook.get("objectSelector")), ("validation.istio.io", None) if name == "istiod-default-validator" else
                             ("rev.validation.istio.io", labelled))
        role = next(o for o in objects if o["kind"] == "ClusterRole" and not o["metadata"]["name"].endswith("-gateways"))
        patched = next(r["resourceNames"] for r in role["rules"] if r["resources"] == ["validatingwebhookconfigurations"])
        self.assertLessEqual(set(validators), set(patched))

    def test_exports_need_rights(self):
        objects = chart.render({"env": {"ENABLE_MCS_AUTO_EXPORT": "true"}})
        self.assertIn("serviceexport", json.dumps(find(objects, "Role", "istiod")))
        self.assertTrue(any(r["verbs"] == ["create"] and r["resources"] == ["serviceexports"]
                            for r in find(objects, "ClusterRole", "fairlead-istio-system")["rules"]))
        self.assertNotIn("serviceexport-controller", json.dumps(find(chart.render(), "Role", "istiod")))

    def test_parts_can_be_left_out(self):
        kinds = {o["kind"] for o in chart.render({"injection": {"enabled": False}, "validation": {"enabled": False},
                                                  "autoscaling": {"enabled": False}, "podDisruptionBudget": {"enabled": False}})}
        self.assertFalse(kinds & {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "HorizontalPodAutoscaler",
                                  "PodDisruptionBudget"})
        rules = json.dumps([o for o in chart.render({"gateways": {"deploy": False}}) if o["kind"] == "ClusterRole"])
        self.assertNotIn("deployments", rules)

    def test_nothing_more_than_it_needs(self):
        for obj in chart.render():
            if obj["kind"] not in ("ClusterRole", "Role"):
                continue
            for rule in obj["rules"]:
                self.assertNotIn("*", rule["verbs"] + rule["apiGroups"])
                given = set(rule["verbs"]) - ({"delete"} if rule["resources"] == ["workloadentries"] else set())
                self.assertFalse(given & {"delete", "deletecollection", "escalate", "bind", "impersonate"}, rule)
        pod = find(chart.render(), "Deployment", "istiod")["spec"]["template"]["spec"]
        security = pod["containers"][0]["securityContext"]
        self.assertTrue(pod["securityContext"]["runAsNonRoot"] and security["readOnlyRootFilesystem"])
        self.assertEqual(security["capabilities"], {"drop": ["ALL"]})

    def test_istioctl_finds_what_it_reads(self):
        """`istioctl analyze` ends with a panic where this value is no boolean."""
        values = json.loads(find(chart.render(), "ConfigMap", "istio-sidecar-injector")["data"]["values"])
        self.assertIs(values["sidecarInjectorWebhook"]["enableNamespacesByDefault"], False)

    def test_sidecars(self):
        for proxy, command in (("stock", ["/usr/local/bin/fairlead", "agent"]), ("istio", None)):
            for native in (False, True):
                with self.subTest(proxy=proxy, native=native):
                    self.check_sidecar(chart.render({"injection": {"proxy": proxy}}), command, native)

    def check_sidecar(self, objects, command, native):
        pod = inject(objects, POD, *(["--nativeSidecars"] if native else []))
        labels = pod["metadata"]["labels"]
        self.assertEqual((labels["security.istio.io/tlsMode"], labels["service.istio.io/canonical-revision"]), ("istio", "v2"))
        spec = pod["spec"]
        init = named(spec["initContainers"], "istio-init")
        self.assertEqual(init["args"][:3], ["istio-iptables", "-p", "15001"])
        self.assertEqual(init["args"][init["args"].index("-d") + 1], "15090,15021,15020")
        sidecar = named(spec["initContainers" if native else "containers"], "istio-proxy")
        self.assertEqual((sidecar.get("command"), init.get("command")), (command, command))
        self.assertEqual(sidecar.get("restartPolicy"), "Always" if native else None)
        self.assertEqual(sidecar["image"], "fairlead/proxy:0.1.0")
        variables = {v["name"]: v.get("value") for v in sidecar["env"]}
        self.assertEqual(variables["CA_ADDR"], "istiod.istio-system.svc:15012")
        self.assertEqual(json.loads(variables["ISTIO_META_POD_PORTS"])[0]["containerPort"], 8080)
        self.assertEqual(variables["ISTIO_META_APP_CONTAINERS"], "app")
        self.assertTrue(json.loads(variables["PROXY_CONFIG"]) is not None)
        self.assertTrue(sidecar["securityContext"]["readOnlyRootFilesystem"] and sidecar["securityContext"]["runAsNonRoot"])
        self.assertLessEqual({m["name"] for m in sidecar["volumeMounts"]}, {v["name"] for v in spec["volumes"]})
        self.assertEqual(sidecar["resources"]["requests"]["cpu"], "100m")
        if native:
            self.assertEqual(sidecar["lifecycle"]["preStop"]["exec"]["command"][-2:], ["POST", "drain"])

    def test_annotations_of_pods(self):
        annotations = {"sidecar.istio.io/proxyCPU": "2", "sidecar.istio.io/interceptionMode": "NONE",
                       "sidecar.istio.io/proxyImage": "own/image:1", "sidecar.istio.io/userVolume": '{"more": {"emptyDir": {}}}',
                       "sidecar.istio.io/userVolumeMount": '{"more": {"mountPath": "/more"}}'}
        spec = inject(chart.render(), {**POD, "metadata": {**POD["metadata"], "annotations": annotations}})["spec"]
        sidecar = named(spec["containers"], "istio-proxy")
        self.assertEqual([c["name"] for c in spec.get("initContainers", [])], [])
        self.assertEqual((sidecar["image"], sidecar["resources"]["requests"]), ("own/image:1", {"cpu": "2"}))
        self.assertIn({"name": "more", "mountPath": "/more"}, sidecar["volumeMounts"])
        self.assertIn({"name": "more", "emptyDir": {}}, spec["volumes"])

    def test_gateways_of_users(self):
        pod = inject(chart.render(), {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "edge", "namespace": "market", "annotations": {"inject.istio.io/templates": "gateway"}},
            "spec": {"containers": [{"name": "istio-proxy", "image": "auto", "ports": [{"containerPort": 8443}]}]}})
        proxy = named(pod["spec"]["containers"], "istio-proxy")
        self.assertEqual((proxy["image"], proxy["args"][:2]), ("fairlead/proxy:0.1.0", ["proxy", "router"]))
        self.assertIn(8443, [p["containerPort"] for p in proxy["ports"]])


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
