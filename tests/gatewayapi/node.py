"""The machine of a cluster that is not there: runs what the objects of a folder ask for, in network namespaces, and tells
the server what came of it."""
import base64
import datetime
import json
import os
import pathlib
import socket
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import controllers
from controllers import key, meta, of_kind
from mesh import APPS, in_namespace, replace_atomically

PATHS = {"Pod": "api/v1", "Service": "api/v1", "ServiceAccount": "api/v1", "EndpointSlice": "apis/discovery.k8s.io/v1"}
# Ports of the suite's echo server: its own, and those that a Pod of the mesh has.
PLAIN_PORT, MESH_PORT, MESH_GRPC_PORT, UDP_PORT, DNS_PORT = 3000, 8080, 7070, 8080, 53


class Objects:
    """The objects of a folder, a file each, as they are now."""

    def __init__(self, folder):
        self.folder, self.files = pathlib.Path(folder), {}

    def read(self):
        there = {}
        for entry in os.scandir(self.folder):
            if entry.name.startswith("."):
                continue
            try:
                stamp = entry.stat().st_mtime_ns
                known = self.files.get(entry.name)
                there[entry.name] = known if known and known[0] == stamp else (
                    stamp, json.loads(pathlib.Path(entry.path).read_text()))
            except FileNotFoundError:
                continue
        self.files = there
        return [o for _, o in there.values()]


def listens(address, port):
    with socket.socket() as s:
        s.settimeout(0.5)
        return s.connect_ex((address, port)) == 0


# A question for the address of a.b, and any text.
DNS_PROBE, ECHO_PROBE = b"\0\1\1\0\0\1\0\0\0\0\0\0\1a\1b\0\0\1\0\1", b"ready?"


def answers_datagrams(address, port, probe):
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        s.connect((address, port))
        try:
            s.send(probe)
            return bool(s.recv(4096))
        except OSError:
            return False


class Node:
    """Use `step` again and again, from one thread. `sidecars`: every Pod gets one, not those of the mesh's tests alone."""

    def __init__(self, mesh, objects, api, echo, logs, networks, sidecars):
        self.mesh, self.objects, self.api, self.echo = mesh, Objects(objects), api, echo
        self.logs, self.networks, self.sidecars = logs, networks, sidecars
        self.running = {}  # key of a Pod: what runs
        self.ready = set()
        self.made = {}  # key: the object as it was written last
        self.addresses = 0

    def step(self):
        objects = self.objects.read()
        gateways = list(controllers.managed_gateways(objects))
        pods = list(controllers.deployment_pods(objects, self.gets_sidecar)) + list(map(controllers.gateway_pod, gateways))
        self.stop_others({key(p) for p in pods})
        wanted = []
        for p in pods:
            if self.run(p, objects):
                wanted.append({**p, "status": controllers.status_of_pod(self.running[key(p)].address, self.is_ready(p))})
        for gateway in gateways:
            address = self.running[key(controllers.gateway_pod(gateway))].address
            wanted += controllers.gateway_service(gateway, objects, address)
        services = {key(s): s for s in [*of_kind(objects, "Service"), *of_kind(wanted, "Service")]}
        wanted += controllers.slices(services.values(), of_kind(wanted, "Pod"))
        self.resolve(list(services.values()))
        self.write({key(o): o for o in wanted})

    # Processes

    def run(self, p, objects):
        """Whether the Pod runs; starts it if not, once all that it mounts is there."""
        if key(p) in self.running:
            return True
        container = p["spec"]["containers"][0]
        is_gateway = container["name"] == "istio-proxy"
        is_echo = not is_gateway and not self.is_dns(p)
        files = self.volumes(p, objects) if is_echo else None
        if is_echo and files is None:
            return False
        self.addresses += 1
        n = self.addresses
        pod = self.mesh.pod(f"p{n}", f"10.77.{1 + n // 200}.{n % 200 + 1}", meta(p)["labels"], meta(p)["namespace"], sidecar=False)
        pod.account = p["spec"]["serviceAccountName"]
        self.running[key(p)] = pod
        if is_gateway:
            pod.run("sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=0")
            self.mesh.start_sidecar(pod, "router", POD_NAME=meta(p)["name"])
        elif self.is_dns(p):
            pod.start([*APPS, "dns", str(DNS_PORT), "foo.bar.com=192.0.2.53"])
        elif self.calls(p["spec"]):
            self.start_caller(pod, p)
        else:
            self.start_echo(pod, p, container, files)
        if not is_gateway and self.gets_sidecar(p["spec"]):
            pod.redirect(self.mesh.fairlead_binary)
            self.mesh.start_sidecar(pod, POD_NAME=meta(p)["name"])
        return True

    @staticmethod
    def is_dns(p):
        """Whether the Pod is a DNS server: a small one of ours, as CoreDNS is not there to be run."""
        return controllers.image(p["spec"]) == "coredns"

    @staticmethod
    def calls(spec):
        """Whether the suite sends requests from Pods like this, as from a mesh's workload."""
        return controllers.image(spec) == "echo-advanced"

    def gets_sidecar(self, spec):
        return self.sidecars or self.calls(spec)

    def start_caller(self, pod, p):
        """The echo server twice, for HTTP and for gRPC; calls are made by a program that the API server starts."""
        who = {"POD_NAME": meta(p)["name"], "NAMESPACE": meta(p)["namespace"]}
        pod.start([self.echo], env={**who, "HTTP_PORT": str(MESH_PORT)})
        pod.start([self.echo], env={**who, "GRPC_ECHO_SERVER": "1", "HTTP_PORT": str(MESH_GRPC_PORT)})
        (self.networks / f"{meta(p)['namespace']}_{meta(p)['name']}").write_text(pod.namespace)

    def resolve(self, services):
        """Has Pods of the mesh know the Services' addresses, as by DNS."""
        names = controllers.host_names(services)
        for (_, namespace, _), pod in self.running.items():
            folder = pathlib.Path("/etc/netns") / pod.namespace
            if hasattr(pod, "sidecar") and (text := names(namespace)) != getattr(pod, "hosts", ""):
                pod.hosts = text
                folder.mkdir(parents=True, exist_ok=True)
                replace_atomically(folder / "hosts", text)

    def volumes(self, p, objects):
        """Where each mount path of the Pod is, by its path in the container; None if something is not there yet."""
        known = {key(o): o for kind in ("Secret", "ConfigMap") for o in of_kind(objects, kind)}
        volumes = {v["name"]: v for v in p["spec"].get("volumes", [])}
        found = {}
        for mount in p["spec"]["containers"][0].get("volumeMounts", []):
            volume = volumes[mount["name"]]
            source = volume.get("secret") or volume["configMap"]
            kind, name = ("Secret", source["secretName"]) if "secret" in volume else ("ConfigMap", source["name"])
            o = known.get((kind, meta(p)["namespace"], name))
            if not o:
                return None
            folder = self.mesh.folder / "mounts" / f"{meta(p)['namespace']}_{meta(p)['name']}_{mount['name']}"
            folder.mkdir(parents=True, exist_ok=True)
            for item in source["items"]:
                text = o["data"][item["key"]]
                (folder / item["path"]).write_bytes(base64.b64decode(text) if kind == "Secret" else text.encode())
            found[mount["mountPath"]] = str(folder)
        return found

    def start_echo(self, pod, p, container, files):
        environment = {}
        for one in container.get("env", []):
            field = one.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
            value = meta(p)[field.removeprefix("metadata.")] if field else one["value"]
            for inside, outside in files.items():
                value = value.replace(inside, outside)
            environment[one["name"]] = value
        log = self.logs / f"{meta(p)['namespace']}_{meta(p)['name']}"
        pipe = self.logs.parent / f"pipe-{pod.name}"
        os.mkfifo(pipe)
        threading.Thread(target=stamp, args=(pipe, log), daemon=True).start()
        pod.start([self.echo], log=pipe, env=environment)

    def is_ready(self, p):
        if key(p) in self.ready:
            return True
        pod = self.running[key(p)]
        if hasattr(pod, "sidecar"):
            ready = self.proxy_is_ready(pod)
        else:
            ready = in_namespace(self.mesh.net.hub.namespace, lambda: self.answers(p, pod.address))
        if ready:
            self.ready.add(key(p))
        return ready

    def answers(self, p, address):
        if self.is_dns(p):
            return answers_datagrams(address, DNS_PORT, DNS_PROBE)
        if any(one["name"] == "UDP_ECHO_SERVER" for one in p["spec"]["containers"][0].get("env", [])):
            return answers_datagrams(address, UDP_PORT, ECHO_PROBE)
        return listens(address, PLAIN_PORT)

    def proxy_is_ready(self, pod):
        try:
            return self.mesh.admin(pod, "/ready").strip() == "LIVE"
        except OSError:
            return False

    def stop_others(self, wanted):
        for gone in self.running.keys() - wanted:
            pod = self.running.pop(gone)
            self.ready.discard(gone)
            for process in list(pod.processes):
                pod.stop(process)

    # Objects

    def write(self, wanted):
        for k, o in wanted.items():
            if k not in self.made:
                self.call("POST", k, o, collection=True)
            elif self.made[k] != o:
                self.call("PUT", k, o)
        for k in self.made.keys() - wanted.keys():
            self.call("DELETE", k)
        self.made = wanted

    def call(self, method, k, o=None, collection=False):
        kind, namespace, name = k
        path = f"{PATHS[kind]}/namespaces/{namespace}/{kind.lower()}s" + ("" if collection else f"/{name}")
        request = urllib.request.Request(f"http://{self.api}/{path}", method=method, data=json.dumps(o).encode() if o else None)
        try:
            in_namespace(self.mesh.net.hub.namespace, lambda: urllib.request.urlopen(request, timeout=10).close())
        except urllib.error.HTTPError as e:
            with e:
                print(f"{method} {path}: {e.code} {e.read().decode()}", file=sys.stderr)


def stamp(pipe, log):
    """Copies lines to the log, each after the time at which it came."""
    with open(pipe, errors="replace") as lines, open(log, "w") as out:
        for line in lines:
            out.write(f"{datetime.datetime.now(datetime.timezone.utc).isoformat()} {line}")
            out.flush()
