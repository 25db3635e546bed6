#!/usr/bin/env python3
"""Changes a mesh of files at random until it is told to stop: objects of every kind come, change and go.

  churn.py FOLDER MESH_CONFIG [--seed N] [--rate CHANGES_A_SECOND]

Each change is one file written or removed atomically. Some files are broken on purpose: what they held stays as it was.
"""
import argparse
import pathlib
import random
import signal
import sys
import time

import change

NAMESPACES = 5  # of the soak's mesh
SLOTS = 12      # objects of a kind at a time


def service(r, name, ns):
    ip = f"10.{r.randrange(100, 110)}.{r.randrange(256)}.{r.randrange(1, 255)}"
    cluster_ip = r.choice([ip, ip, "None"])
    extra = r.choice(["", "", "  externalTrafficPolicy: Local\n  type: NodePort\n"]) if cluster_ip != "None" else ""
    return f"""apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {ns}, labels: {{app: {name}, round: r{r.randrange(100)}}}}}
spec:
  clusterIP: {cluster_ip}
  selector: {{app: svc-{r.randrange(100)}}}
{extra}  ports:
  - {{name: {r.choice(["http", "grpc", "tcp", "http2"])}, port: {r.choice([80, 8080, 9090])}, targetPort: 8080, protocol: TCP}}
"""


def endpoint_slice(r, name, ns):
    addresses = [f"10.20.{r.randrange(256)}.{r.randrange(1, 255)}" for _ in range(r.randrange(6))]
    endpoints = "".join(f"- addresses: [{a}]\n  conditions: {{ready: {r.choice(['true', 'true', 'false'])}}}\n" for a in addresses)
    number = r.randrange(100)
    return f"""apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: {name}, namespace: ns-{number % NAMESPACES}, labels: {{kubernetes.io/service-name: svc-{number}}}}}
addressType: IPv4
ports:
- {{name: http, port: 8080, protocol: TCP}}
- {{name: grpc, port: 9090, protocol: TCP}}
endpoints: {"[]" if not endpoints else ""}
{endpoints}"""


def pod(r, name, ns):
    return f"""apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {ns}, labels: {{app: svc-{r.randrange(100)}, version: v{r.randrange(1, 4)}}}}}
spec:
  serviceAccountName: {r.choice(["default", "other"])}
  nodeName: node-{r.randrange(3)}
  containers: [{{name: app, image: app}}]
status: {{podIP: 10.20.{r.randrange(256)}.{r.randrange(1, 255)}, phase: Running, conditions: [{{type: Ready, status: "True"}}]}}
"""


def node(r, name, _):
    return f"""apiVersion: v1
kind: Node
metadata: {{name: node-{r.randrange(3)}, labels: {{topology.kubernetes.io/region: r{r.randrange(2)}, topology.kubernetes.io/zone: z{r.randrange(3)}}}}}
"""


def virtual_service(r, name, ns):
    host = f"svc-{r.randrange(100)}"
    number = int(host.split("-")[1])
    return f"""apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: {name}, namespace: ns-{number % NAMESPACES}}}
spec:
  hosts: [{host}]
  exportTo: ["{r.choice(["*", "."])}"]
  http:
  - match: [{{uri: {{prefix: /r{r.randrange(100)}}}}}]
    timeout: {r.randrange(1, 30)}s
    route: [{{destination: {{host: svc-{r.randrange(100)}.ns-{r.randrange(NAMESPACES)}.svc.cluster.local}}}}]
  - route: [{{destination: {{host: {host}}}}}]
"""


def destination_rule(r, name, ns):
    number = r.randrange(100)
    tls = r.choice(["", "    tls: {mode: ISTIO_MUTUAL}\n", "    tls: {mode: DISABLE}\n"])
    outlier = r.choice(["", "    outlierDetection: {consecutive5xxErrors: 5}\n"])
    return f"""apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: {name}, namespace: ns-{number % NAMESPACES}}}
spec:
  host: svc-{number}
  trafficPolicy:
    connectionPool: {{tcp: {{maxConnections: {r.randrange(1, 1000)}}}}}
{tls}{outlier}  subsets: [{{name: v1, labels: {{version: v1}}}}, {{name: v2, labels: {{version: v2}}}}]
"""


def sidecar(r, name, ns):
    hosts = r.choice(['"./*"', '"*/*"', f'"./*", "ns-{r.randrange(NAMESPACES)}/*"'])
    selector = r.choice(["", f"  workloadSelector: {{labels: {{app: svc-{r.randrange(100)}}}}}\n"])
    return f"""apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: {name}, namespace: {ns}}}
spec:
{selector}  egress: [{{hosts: [{hosts}]}}]
"""


def service_entry(r, name, ns):
    resolution = r.choice(["STATIC", "DNS", "NONE"])
    endpoints = "  endpoints: [{address: 10.30.0.%d}]\n" % r.randrange(1, 255) if resolution == "STATIC" else ""
    return f"""apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: {name}, namespace: {ns}}}
spec:
  hosts: [{name}.example.com]
  addresses: [10.40.0.{r.randrange(1, 255)}]
  ports: [{{number: {r.choice([80, 443, 5432])}, name: {r.choice(["http", "tcp"])}, protocol: {r.choice(["HTTP", "TCP"])}}}]
  resolution: {resolution}
  location: {r.choice(["MESH_EXTERNAL", "MESH_INTERNAL"])}
{endpoints}"""


def workload_entry(r, name, ns):
    return f"""apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: {name}, namespace: {ns}, labels: {{app: svc-{r.randrange(100)}}}}}
spec: {{address: 10.50.{r.randrange(256)}.{r.randrange(1, 255)}, labels: {{app: svc-{r.randrange(100)}, version: v1}}}}
"""


def peer_authentication(r, name, ns):
    return f"""apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {{name: {name}, namespace: {r.choice([ns, ns, "istio-system"])}}}
spec: {{mtls: {{mode: {r.choice(["STRICT", "PERMISSIVE", "DISABLE"])}}}}}
"""


def telemetry(r, name, ns):
    return f"""apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {{name: {name}, namespace: {ns}}}
spec: {{tracing: [{{randomSamplingPercentage: {r.randrange(100)}}}]}}
"""


def broken(r, name, ns):
    return f"kind: Service\nmetadata: {{name: {name}, namespace: {ns}\nspec: {r.randrange(100)}\n"


def mesh_config(r):
    return f"""accessLogFile: {r.choice(['""', "/dev/stdout"])}
enableAutoMtls: {r.choice(["true", "true", "false"])}
outboundTrafficPolicy: {{mode: {r.choice(["ALLOW_ANY", "REGISTRY_ONLY"])}}}
"""


KINDS = [endpoint_slice, endpoint_slice, endpoint_slice, service, pod, node, virtual_service, destination_rule, sidecar,
         service_entry, workload_entry, peer_authentication, telemetry, broken]


def step(r, folder, config):
    if r.random() < 0.02:
        return change.write(config, mesh_config(r))
    kind = r.choice(KINDS)
    name = f"churn-{kind.__name__.replace('_', '-')}-{r.randrange(SLOTS)}"
    path = folder / f"{name}.yaml"
    if r.random() < 0.3:
        return path.unlink(missing_ok=True)
    return change.write(path, kind(r, name, f"ns-{r.randrange(NAMESPACES)}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=10)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    r = random.Random(options.seed)
    while True:
        step(r, options.folder, options.config)
        time.sleep(r.expovariate(options.rate))


if __name__ == "__main__":
    main()
