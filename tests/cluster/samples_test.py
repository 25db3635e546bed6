#!/usr/bin/env python3
"""Istio's samples as their pages say, with unmodified manifests: bookinfo, helloworld, httpbin, curl and sleep get sidecars, answer, and
follow the samples' routes. Local programs that answer alike stand in for the images.

    ISTIO_SAMPLES=DIR samples_test.py      the folder `samples` of Istio's sources; without it the test is skipped

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import collections
import os
import pathlib
import sys
import unittest

import kubebox
from installed import InstalledBox

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = os.environ.get("ISTIO_SAMPLES", "")
RELEASE = "registry.istio.io/release/examples-"


def images():
    def app(name, port):
        return {"path": str(HERE / "sample_apps.py"), "entrypoint": ["/usr/bin/python3", "/sample_apps.py", name, str(port)], "user": "1000"}
    found = {f"{RELEASE}bookinfo-{name}": app(name, 9080) for name in ("reviews-v1", "reviews-v2", "reviews-v3")}
    found |= {f"{RELEASE}bookinfo-{name}-v1": app(name, 9080) for name in ("productpage", "details", "ratings")}
    found |= {f"{RELEASE}{name}": app(name, 5000) for name in ("helloworld-v1", "helloworld-v2")}
    return found | {"docker.io/mccutchen/go-httpbin": app("httpbin", 8080), "docker.io/curlimages/curl": {"path": "/usr/bin/curl"}}


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = box = InstalledBox(images=images())
        box.__enter__()
        cls.addClassCleanup(box.__exit__, None, None, None)
        (box.work / "samples").symlink_to(pathlib.Path(SAMPLES).resolve())
        box.run_section("Definitions")
        box.run_section("The control plane")
        box.run_shell("kubectl label namespace default istio-injection=enabled")

    def sh(self, shell):
        return self.box.run_shell(shell)

    def rolled_out(self):
        self.sh("for d in $(kubectl get deployments -o name); do kubectl rollout status $d --timeout=120s; done")
        for pod in self.box.get("pods", "-n", "default")["items"]:
            spec = pod["spec"]
            self.assertIn("istio-proxy", [c["name"] for c in spec["containers"] + spec.get("initContainers", [])], pod["metadata"]["name"])

    def from_ratings(self, *headers):
        words = " ".join(f"-H '{one}'" for one in headers)
        pod = "$(kubectl get pod -l app=ratings -o 'jsonpath={.items[0].metadata.name}')"
        return self.sh(f'kubectl exec "{pod}" -c ratings -- curl -sS {words} productpage:9080/productpage')

    def until(self, what, probe):
        try:
            kubebox.wait_until(what, probe, 40, pause=0.5)
        except AssertionError as error:
            self.fail(f"{error}{self.box.state()}")

    def colours(self, count=30):
        """How many answers had which stars."""
        pages = [self.from_ratings() for _ in range(count)]
        return collections.Counter("red" if '"red"' in page else "black" if '"black"' in page else "none" for page in pages)

    def through_gateway(self, name, path, *words):
        return self.box.exec("curl", "-sS", "-m", "8", *words, f"http://{name}-istio.default.svc.cluster.local{path}")[1]

    def test_bookinfo(self):
        self.sh("kubectl apply -f samples/bookinfo/platform/kube/bookinfo.yaml -f samples/bookinfo/platform/kube/bookinfo-versions.yaml")
        self.rolled_out()
        self.until("the page", lambda: "<title>Simple Bookstore App</title>" in self.from_ratings())
        self.assertEqual(set(self.colours()), {"none", "black", "red"}, "all versions are asked")
        self.sh("kubectl apply -f samples/bookinfo/gateway-api/bookinfo-gateway.yaml")
        self.sh("kubectl wait --for=condition=programmed gtw bookinfo-gateway --timeout=60s")
        self.until("the page through the gateway", lambda: "Simple Bookstore App" in self.through_gateway("bookinfo-gateway", "/productpage"))
        self.sh("kubectl apply -f samples/bookinfo/gateway-api/route-reviews-v1.yaml")
        self.until("version 1 alone", lambda: set(self.colours(8)) == {"none"})
        self.sh("kubectl apply -f samples/bookinfo/gateway-api/route-reviews-50-v3.yaml")
        self.until("version 1 and 3", lambda: set(self.colours(12)) == {"none", "red"})
        self.sh("kubectl delete httproute reviews")
        self.sh("kubectl apply -f samples/bookinfo/networking/destination-rule-all.yaml -f samples/bookinfo/networking/virtual-service-all-v1.yaml")
        self.until("version 1 by Istio's own API", lambda: set(self.colours(8)) == {"none"})
        self.sh("kubectl apply -f samples/bookinfo/networking/virtual-service-reviews-test-v2.yaml")
        self.until("jason sees version 2", lambda: '"black"' in self.from_ratings("end-user: jason"))
        self.assertEqual(set(self.colours(4)), {"none"}, "nobody else does")
        self.sh("kubectl apply -f samples/bookinfo/networking/virtual-service-ratings-test-abort.yaml")
        self.until("jason's ratings fail", lambda: "Ratings service is currently unavailable" in self.from_ratings("end-user: jason"))
        self.assertIn("Simple Bookstore App", self.from_ratings())

    def test_helloworld(self):
        self.sh("kubectl apply -f samples/helloworld/helloworld.yaml -f samples/helloworld/gateway-api/helloworld-gateway.yaml "
                "-f samples/helloworld/gateway-api/helloworld-versions.yaml")
        self.rolled_out()
        self.until("an answer", lambda: "Hello version" in self.through_gateway("helloworld-gateway", "/hello"))
        self.until("both versions", lambda: len({self.through_gateway("helloworld-gateway", "/hello")[:17] for _ in range(12)}) == 2)
        self.sh("kubectl apply -f samples/helloworld/gateway-api/helloworld-route.yaml")
        counts = collections.Counter()

        def split():
            counts.clear()
            counts.update(self.through_gateway("helloworld-gateway", "/hello")[:17] for _ in range(40))
            return counts["Hello version: v1"] > counts["Hello version: v2"] > 0
        self.until("90 to 10", split)

    def test_httpbin_curl_and_sleep(self):
        self.sh("kubectl apply -f samples/httpbin/httpbin.yaml -f samples/curl/curl.yaml -f samples/sleep/sleep.yaml")
        self.rolled_out()
        self.until("headers", lambda: "X-Forwarded-Client-Cert" in self.sh(
            "kubectl exec deploy/curl -c curl -- curl -sS http://httpbin:8000/headers").title())
        self.assertIn("HTTP/1.1 500", self.sh("kubectl exec deploy/sleep -c sleep -- curl -sS --head http://httpbin:8000/status/500"))
        self.sh("kubectl apply -f samples/httpbin/gateway-api/httpbin-gateway.yaml")
        self.until("the gateway", lambda: "200" in self.through_gateway("httpbin-gateway", "/status/200", "-w", "%{http_code}", "-H", "Host: httpbin.example.com"))


if __name__ == "__main__":
    kubebox.require()
    if not SAMPLES:
        print("ISTIO_SAMPLES names no folder", file=sys.stderr)
        sys.exit(kubebox.SKIPPED)
    unittest.main(verbosity=2)
