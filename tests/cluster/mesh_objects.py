"""Objects of a small mesh, as an API server takes them."""
import base64
import pathlib

TLS = {"security.istio.io/tlsMode": "istio"}


def namespace(name, **labels):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def service(name, ip, port=80, target=8080, ns="shop", labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": ns, "labels": labels or {}},
            "spec": {"clusterIP": ip, "selector": {"app": name}, "ports": [{"name": "http", "port": port, "targetPort": target}], **spec}}


def pod(name, ip, app, ns="shop"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns, "labels": {"app": app, **TLS}},
            "spec": {"containers": [{"name": "app", "image": "app"}], "serviceAccountName": "default"},
            "status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [{"type": "Ready", "status": "True"}]}}


def slice_of(service_name, pods, port=8080, ns="shop"):
    """Pods: address by name."""
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": f"{service_name}-1", "namespace": ns, "labels": {"kubernetes.io/service-name": service_name}},
            "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [ip], "conditions": {"ready": True}, "targetRef": {"kind": "Pod", "namespace": ns, "name": name}}
                          for name, ip in pods.items()]}


def gateway(network, address):
    """The Service of a network's gateway, with its status."""
    return {**service("eastwest", None, 15443, 15443, "istio-system", {"topology.istio.io/network": network}, type="LoadBalancer"),
            "status": {"loadBalancer": {"ingress": [{"ip": address}]}}}


def remote_secret(name, kubeconfigs):
    """Kubeconfigs: texts or paths by cluster."""
    data = {}
    for cluster, config in kubeconfigs.items():
        text = pathlib.Path(config).read_text() if config.startswith("/") else config
        data[cluster] = base64.b64encode(text.encode()).decode()
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "istio-system", "labels": {"istio/multiCluster": "true"}},
            "data": data}
