"""The mesh of scenario G: routers that serve many hosts by HTTPS, and its changes of a certificate."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

import change
import run

ROOT = "istio-system"
SERVICE = f"istio-ingressgateway.{ROOT}.svc.cluster.local"
LABELS = {"istio": "ingressgateway"}
LISTENERS = 50  # of one Gateway of the Gateway API, which allows 64
CERTIFICATE_FILE = "change-certificate.json"
QUIET_S = 1.0


@dataclass(frozen=True)
class Mesh:
    routers: int = 20
    hosts: int = 500      # half of them Istio Gateways of their own, half listeners of the Gateway API
    routes: int = 2000    # VirtualServices and HTTPRoutes of these hosts, as many of each for every host
    services: int = 100


def to(api, kind, name, namespace=None, **rest):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | rest.pop("metadata", {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def workloads(name, namespace, labels, ports, first, count):
    """A service with its pods and their addresses."""
    service_ports = [{"name": n, "port": port, "targetPort": target, "protocol": "TCP"} for n, port, target in ports]
    yield to("v1", "Service", name, namespace, spec={"clusterIP": f"10.97.{first // 250}.{first % 250 + 1}", "selector": labels, "ports": service_ports})
    addresses = [f"10.{128 + (first * count + i) // 62500}.{(first * count + i) // 250 % 250}.{(first * count + i) % 250 + 1}" for i in range(count)]
    for i, address in enumerate(addresses):
        status = {"podIP": address, "podIPs": [{"ip": address}], "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        yield to("v1", "Pod", f"{name}-{i}", namespace, metadata={"labels": labels}, spec={"serviceAccountName": "default"}, status=status)
    targets = [{"addresses": [address], "conditions": {"ready": True}, "targetRef": {"kind": "Pod", "name": f"{name}-{i}", "namespace": namespace}}
               for i, address in enumerate(addresses)]
    yield to("discovery.k8s.io/v1", "EndpointSlice", name, namespace, metadata={"labels": {"kubernetes.io/service-name": name}}, addressType="IPv4",
             endpoints=targets, ports=[{"name": n, "port": target, "protocol": "TCP"} for n, _, target in ports])


def secret(name, pair):
    certificate, key = (base64.b64encode(pathlib.Path(p).read_bytes()).decode() for p in pair)
    return to("v1", "Secret", name, ROOT, type="kubernetes.io/tls", data={"tls.crt": certificate, "tls.key": key})


def issue(work, name):
    """A key and a certificate of its own, which nobody checks."""
    pair = work / f"{name}.crt", work / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-days", "3650", "-out", pair[0],
                    "-keyout", pair[1]], check=True, stderr=subprocess.DEVNULL)
    return pair


def is_listener(i):
    return i % 2 == 1


def gateways(mesh):
    """An Istio Gateway for each even host; the odd ones are listeners."""
    listeners = []
    for i in range(mesh.hosts):
        host, credential = f"host-{i}.example.com", f"cert-{i}"
        if is_listener(i):
            listeners.append({"name": f"https-{i}", "port": 443, "protocol": "HTTPS", "hostname": host, "allowedRoutes": {"namespaces": {"from": "All"}},
                              "tls": {"mode": "Terminate", "certificateRefs": [{"name": credential}]}})
            continue
        server = {"port": {"number": 443, "name": f"https-{i}", "protocol": "HTTPS"}, "hosts": [host], "tls": {"mode": "SIMPLE", "credentialName": credential}}
        yield to("networking.istio.io/v1", "Gateway", f"gateway-{i}", ROOT, spec={"selector": LABELS, "servers": [server]})
    for first in range(0, len(listeners), LISTENERS):
        spec = {"gatewayClassName": "istio", "addresses": [{"type": "Hostname", "value": SERVICE}], "listeners": listeners[first:first + LISTENERS]}
        yield to("gateway.networking.k8s.io/v1", "Gateway", f"listeners-{first // LISTENERS}", ROOT, spec=spec)


def route(mesh, i):
    host, path, service = i % mesh.hosts, f"/route-{i // mesh.hosts}", i % mesh.services
    if is_listener(host):
        listener = {"name": f"listeners-{host // 2 // LISTENERS}", "namespace": ROOT, "sectionName": f"https-{host}"}
        header = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [{"name": "x-marker", "value": "none"}]}}
        rule = {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "filters": [header], "backendRefs": [{"name": f"svc-{service}", "port": 80}]}
        return to("gateway.networking.k8s.io/v1", "HTTPRoute", f"route-{i}", "apps", spec={"parentRefs": [listener], "hostnames": [f"host-{host}.example.com"], "rules": [rule]})
    http = {"match": [{"uri": {"prefix": path}}], "headers": {"request": {"set": {"x-marker": "none"}}},
            "route": [{"destination": {"host": f"svc-{service}.apps.svc.cluster.local", "port": {"number": 80}}}]}
    return to("networking.istio.io/v1", "VirtualService", f"route-{i}", "apps",
              spec={"hosts": [f"host-{host}.example.com"], "gateways": [f"{ROOT}/gateway-{host}"], "http": [http]})


def write_all(path, objects):
    change.write(path, "\n---\n".join(json.dumps(one) for one in objects))


def nodes(mesh):
    for i in range(mesh.routers):
        metadata = {"NAMESPACE": ROOT, "LABELS": LABELS, "CLUSTER_ID": "Kubernetes", "ISTIO_VERSION": "1.32.0", "SERVICE_ACCOUNT": "default"}
        yield {"name": f"router-{i}", "id": f"router~10.128.0.{i + 1}~istio-ingressgateway-{i}.{ROOT}~{ROOT}.svc.cluster.local",
               "cluster": f"istio-ingressgateway.{ROOT}", "metadata": metadata}


def make(mesh, folder, node_file):
    """The mesh's folder, anew, and its list of nodes. route-0 and route-1 lie in the files that changes replace."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = [workloads("istio-ingressgateway", ROOT, LABELS, [("https", 443, 8443)], 0, mesh.routers)]
    parts += [workloads(f"svc-{i}", "apps", {"app": f"svc-{i}"}, [("http", 80, 8080)], i + 1, mesh.routers) for i in range(mesh.services)]
    write_all(folder / "workloads.yaml", [one for part in parts for one in part])
    known = [to("v1", "Namespace", n) for n in (ROOT, "apps")]
    known.append(to("gateway.networking.k8s.io/v1", "GatewayClass", "istio", spec={"controllerName": "istio.io/gateway-controller"}))
    write_all(folder / "gateways.yaml", [*known, *gateways(mesh)])
    first = issue(folder.parent, "first")
    write_all(folder / "secrets.yaml", [secret(f"cert-{i}", first) for i in range(1, mesh.hosts)])
    write_all(folder / CERTIFICATE_FILE, [secret("cert-0", first)])
    write_all(folder / "routes.yaml", [route(mesh, i) for i in range(2, mesh.routes)])
    write_all(folder / "change-gateway-route.yaml", [route(mesh, 0)])
    write_all(folder / "change-http-route.yaml", [route(mesh, 1)])
    node_file.write_text(json.dumps(list(nodes(mesh))))
    return folder, node_file


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def trigger(new, old, pid, note):
    """What xdsdump runs once all routers are configured."""
    pathlib.Path(note).write_text(json.dumps({"cpu": cpu_seconds(pid), "time": time.time()}))
    os.replace(new, old)


def holds(dump, certificate):
    """Whether the router has the certificate, and no other Secret has it."""
    found = [s["name"] for s in json.loads(dump.read_text())["secrets"] if certificate in json.dumps(s)]
    return found == ["kubernetes://cert-0"]


def change_certificate(xdsdump, address, node_file, folder, pid, work):
    """One Secret's certificate is replaced while all routers are connected; a row of the table. A router that does not get it is an error."""
    second = issue(work, "second")
    new, note, out = work / "certificate.new", work / "certificate.note", work / "certificate-routers"
    write_all(new, [secret("cert-0", second)])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    words = [sys.executable, "-B", str(pathlib.Path(__file__).resolve()), str(new), str(folder / CERTIFICATE_FILE), str(pid), str(note)]
    subprocess.run([xdsdump, "-addr", address, "-proxies", str(node_file), "-out", str(out), "-wait", "120s", "-quiet", f"{QUIET_S}s",
                    "-then", " ".join(words)], check=True, stdout=subprocess.DEVNULL)
    before = json.loads(note.read_text())
    text = base64.b64encode(pathlib.Path(second[0]).read_bytes()).decode()
    dumps = sorted(out.glob("*.json"))
    if not dumps or not all(holds(dump, text) for dump in dumps):
        raise RuntimeError("a router has not got the certificate that was replaced")
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    return {"what": "certificate", "proxies": len(dumps), "cpu": cpu_seconds(pid) - before["cpu"], "rss": run.memory(pid)[0], "load": load}


if __name__ == "__main__":
    trigger(*sys.argv[1:3], int(sys.argv[3]), sys.argv[4])
