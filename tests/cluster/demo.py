#!/usr/bin/env python3
"""The demo of `make run-cluster`: a Kubernetes on this machine, Fairlead from the chart, a shop whose pods get sidecars, mutual TLS,
an edit by kubectl that shows in the traffic, and a replica that is killed. Ctrl-C ends it; --once ends it by itself.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import collections
import json
import sys
import time

import kubebox
from installed import InstalledBox

FRONT = "http://front-istio.shop.svc.cluster.local/"
SECOND = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-v2, namespace: shop}
spec:
  selector: {matchLabels: {app: web, version: v2}}
  template:
    metadata: {labels: {app: web, version: v2}}
    spec:
      serviceAccountName: web
      containers:
      - {name: web, image: fairlead/example, env: [{name: POD_NAME, value: v2}], readinessProbe: {httpGet: {path: /, port: 3000}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {name: web-v2, namespace: shop}
spec: {selector: {app: web, version: v2}, ports: [{name: http, port: 80, targetPort: 3000}]}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: front}]
  rules: [{backendRefs: [{name: web-v2, port: 80}]}]
"""


def say(text):
    print(f"{time.strftime('%T')}  {text}", flush=True)


def ask(box):
    """One request through the gateway: the answer, or None."""
    code, said = box.exec("curl", "-sS", "-m", "5", FRONT)
    return json.loads(said) if code == 0 and said.startswith("{") else None


def versions(box, count=20):
    """How many of so many requests each version answered."""
    return dict(collections.Counter((ask(box) or {"pod": "no answer"})["pod"] or "v1 or v2" for _ in range(count)))


def show(box):
    for heading in ("Definitions", "The control plane", "Sidecars", "Gateways"):
        began = time.monotonic()
        box.run_section(heading)
        say(f"{heading}: as docs/kubernetes/install.md says, {time.monotonic() - began:.0f} s")
    first = kubebox.wait_until("an answer", lambda: ask(box), 60)
    caller = {name.lower(): value for name, value in first["headers"].items()}["x-forwarded-client-cert"]
    say(f"a request through the gateway; the sidecar of web saw the caller {caller.split('URI=')[1].split(';')[0]}")
    box.apply(SECOND)
    box.wait("deployment/web-v2", "condition=available", "-n", "shop")
    box.apply(ROUTE)
    began = time.monotonic()
    kubebox.wait_until("the other version", lambda: (ask(box) or {}).get("pod") == "v2", 30, pause=0)
    say(f"kubectl apply of the HTTPRoute: web-v2 answers after {time.monotonic() - began:.1f} s; of 20 requests {versions(box)}")
    box.kubectl("scale", "deployment/istiod", "-n", "istio-system", "--replicas=2")
    box.kubectl("patch", "hpa/istiod", "-n", "istio-system", "--type=merge", "-p", '{"spec": {"minReplicas": 2}}')
    box.kubectl("rollout", "status", "deployment/istiod", "-n", "istio-system", "--timeout=60s")
    pod = box.get("pods", "-n", "istio-system", "-l", "app=istiod")["items"][0]["metadata"]["name"]
    box.kubectl("delete", "pod", pod, "-n", "istio-system", "--grace-period=0", "--force")
    say(f"one of two replicas is killed ({pod}): of 20 requests {versions(box)}")
    box.kubectl("scale", "deployment/web-v2", "-n", "shop", "--replicas=3")
    box.kubectl("rollout", "status", "deployment/web-v2", "-n", "shop", "--timeout=120s")
    say(f"two more pods of web-v2 got their sidecars meanwhile: of 20 requests {versions(box)}")


def main():
    kubebox.require()
    with InstalledBox() as box:
        try:
            show(box)
            if "--once" not in sys.argv:
                print(f"\nexport KUBECONFIG={box.kubeconfig}\n{box.dir}/bin/kubectl get pods -A\nCtrl-C ends all of it.", flush=True)
                box.process.wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
