"""What Kubernetes' controllers and Istio's controller of Gateways would make of a cluster's objects, as functions: Pods
of Deployments, EndpointSlices of Services, and a Service, ServiceAccount and Pod for each Gateway. Nothing here runs."""
import hashlib
import json

ISTIO = "istio.io/gateway-controller"
NAME_LABEL, CLASS_LABEL = "gateway.networking.k8s.io/gateway-name", "gateway.networking.k8s.io/gateway-class-name"
# What Istio's injector adds to the labels of a Pod that gets a sidecar.
MTLS = {"security.istio.io/tlsMode": "istio"}


def meta(o):
    return o["metadata"]


def key(o):
    return o["kind"], meta(o).get("namespace", ""), meta(o)["name"]


def of_kind(objects, kind):
    return [o for o in objects if o["kind"] == kind]


def image(spec):
    return spec["containers"][0]["image"].split("/")[-1].split(":")[0]


def pod(namespace, name, labels, spec, annotations=None):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": name, "labels": labels,
            "annotations": annotations or {}}, "spec": spec}


def deployment_pods(objects, gets_sidecar):
    for d in of_kind(objects, "Deployment"):
        template = d["spec"]["template"]
        labels = {**template["metadata"]["labels"], **(MTLS if gets_sidecar(template["spec"]) else {})}
        made_from = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:9]
        for n in range(d["spec"].get("replicas", 1)):
            yield pod(meta(d)["namespace"], f"{meta(d)['name']}-{made_from}-{n:05}", labels,
                      {"serviceAccountName": "default", "nodeName": "node", **template["spec"]},
                      template["metadata"].get("annotations"))


def status_of_pod(address, ready):
    return {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}


def managed_gateways(objects):
    """Gateways that Istio deploys proxies for: without addresses, or with one IP address to ask for."""
    classes = {meta(c)["name"] for c in of_kind(objects, "GatewayClass") if c["spec"]["controllerName"] == ISTIO}
    for gateway in of_kind(objects, "Gateway"):
        addresses = gateway["spec"].get("addresses", [])
        by_address = not addresses or len(addresses) == 1 and addresses[0].get("type", "IPAddress") == "IPAddress"
        if gateway["spec"]["gatewayClassName"] in classes and by_address:
            yield gateway


def listeners(gateway, objects):
    found = list(gateway["spec"].get("listeners", []))
    for s in of_kind(objects, "ListenerSet"):
        parent = s["spec"]["parentRef"]
        if (parent.get("namespace", meta(s)["namespace"]), parent["name"]) == (meta(gateway)["namespace"], meta(gateway)["name"]):
            found += s["spec"]["listeners"]
    return found


def gateway_ports(gateway, objects):
    ports = {(15021, "TCP"): {"name": "status-port", "port": 15021, "protocol": "TCP", "appProtocol": "tcp"}}
    for one in listeners(gateway, objects):
        number, transport = one["port"], "UDP" if one["protocol"] == "UDP" else "TCP"
        if (number, transport) not in ports:
            name = one["name"].replace(".", "-")[:50]
            if any(p["name"] == name for p in ports.values()):
                name = f"{name}-{number}"
            ports[number, transport] = {"name": name, "port": number, "protocol": transport, "appProtocol": one["protocol"].lower()}
    return list(ports.values())


def gateway_metadata(gateway):
    """Labels and annotations of what is made for a Gateway: those of its infrastructure, else its own."""
    infrastructure = gateway["spec"].get("infrastructure", {})
    own = lambda what: {k: v for k, v in infrastructure.get(what, meta(gateway).get(what) or {}).items()
                        if not k.startswith(("gateway.networking.k8s.io/", "kubectl.kubernetes.io/"))}
    name, of = meta(gateway)["name"], gateway["spec"]["gatewayClassName"]
    return {**own("labels"), NAME_LABEL: name, CLASS_LABEL: of}, own("annotations")


def gateway_name(gateway):
    return f"{meta(gateway)['name']}-{gateway['spec']['gatewayClassName']}"


def gateway_pod(gateway):
    labels, annotations = gateway_metadata(gateway)
    name = gateway_name(gateway)
    labels |= {"sidecar.istio.io/inject": "false", "service.istio.io/canonical-name": name, "gateway.istio.io/managed": "istio.io-gateway-controller",
               "service.istio.io/canonical-revision": "latest"}
    return pod(meta(gateway)["namespace"], f"{name}-{meta(gateway)['uid'][:8]}", labels,
               {"serviceAccountName": name, "nodeName": "node", "containers": [{"name": "istio-proxy", "image": "proxyv2"}]},
               annotations)


def gateway_service(gateway, objects, address):
    labels, annotations = gateway_metadata(gateway)
    metadata = {"namespace": meta(gateway)["namespace"], "name": gateway_name(gateway), "labels": labels, "annotations": annotations}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata,
           "spec": {"type": "LoadBalancer", "selector": {NAME_LABEL: meta(gateway)["name"]}, "ports": gateway_ports(gateway, objects)},
           "status": {"loadBalancer": {"ingress": [{"ip": address}]}}}


def target_port(port, pod_):
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    for container in pod_["spec"]["containers"]:
        for one in container.get("ports", []):
            if one.get("name") == target:
                return one["containerPort"]
    return None


def slices(services, pods):
    """An EndpointSlice for each Service that selects Pods; `pods` have their statuses."""
    for service in services:
        selector = service["spec"].get("selector")
        if not selector:
            continue
        namespace, name = meta(service)["namespace"], meta(service)["name"]
        chosen = [p for p in pods if meta(p)["namespace"] == namespace and selector.items() <= meta(p)["labels"].items()]
        endpoints = [{"addresses": [p["status"]["podIP"]], "nodeName": "node",
                      "conditions": {"ready": p["status"]["conditions"][0]["status"] == "True"},
                      "targetRef": {"kind": "Pod", "name": meta(p)["name"], "namespace": namespace}} for p in chosen]
        ports = [{**{k: p[k] for k in ("name", "appProtocol") if k in p}, "protocol": p.get("protocol", "TCP"),
                  "port": target_port(p, chosen[0])} for p in service["spec"].get("ports", []) if chosen]
        yield {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints, "ports": ports,
               "metadata": {"namespace": namespace, "name": f"{name}-auto", "labels": {
                   "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}}}


def host_names(services):
    """The lines of a hosts file that resolve Services as a cluster's DNS does, by the namespace of who asks."""
    def lines(namespace):
        for service in services:
            name, of, address = meta(service)["name"], meta(service)["namespace"], service["spec"].get("clusterIP", "")
            if address and address != "None":
                full = f"{name}.{of}.svc.cluster.local {name}.{of}.svc {name}.{of}"
                yield f"{address} {full} {name}" if of == namespace else f"{address} {full}"
    return lambda namespace: "\n".join(["127.0.0.1 localhost", *sorted(lines(namespace)), ""])
