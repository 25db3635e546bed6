"""Fairlead beside API servers, as a process of the test's, and what it serves.

    with FairleadProcess(server.kubeconfig, env={"CLUSTER_ID": "main"}) as fairlead:
        fairlead.await_ready()
        fairlead.endpoints("outbound|80||web.shop.svc.cluster.local", network="east")
"""
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.error
import urllib.request

from fairlead_box import program
from fairlead_client import free_port
from kubebox import end_with_parent, wait_until


class FairleadProcess:
    def __init__(self, kubeconfig, *flags, env=None, grpc=None, secure=None):
        self.port, self.monitoring = free_port(), free_port()
        self.log_file = tempfile.NamedTemporaryFile(prefix="fairlead-log-")
        self.command = [program(), "discovery", "--kubeconfig", kubeconfig, "--httpAddr", f"127.0.0.1:{self.port}", "--grpcAddr",
                        f"127.0.0.1:{grpc}" if grpc else "", "--secureGRPCAddr", f"127.0.0.1:{secure}" if secure else "", "--httpsAddr", "", "--monitoringAddr", f"127.0.0.1:{self.monitoring}", "--stateDir", "",
                        "--ctrlz_port", "0", "--meshConfig", "", "--networksConfig", "", *flags]
        self.env = {**os.environ, "FAIRLEAD_PLAINTEXT_IDENTITY": "node", **(env or {})}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=self.log_file, stderr=self.log_file, env=self.env, preexec_fn=end_with_parent)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log_file.close()

    def log(self):
        return pathlib.Path(self.log_file.name).read_text(errors="replace")

    def get(self, path, port=None):
        """(status, text) of a page; (0, "") while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (urllib.error.URLError, OSError):
            assert self.process.poll() is None, f"Fairlead ended: {self.log()[-3000:]}"
            return 0, ""

    def await_ready(self, seconds=30):
        wait_until("Fairlead is ready", lambda: self.get("/ready")[0] == 200, seconds)

    def page(self, name):
        return json.loads(self.get(f"/debug/{name}")[1])

    def diagnostics(self):
        return self.get("/debug/diagnostics")[1]

    def metric(self, line):
        """The value of a metric with its labels as they are written; None where there is none."""
        for text in self.get("/metrics", self.monitoring)[1].splitlines():
            if text.startswith(line + " "):
                return float(text.split()[-1])
        return None

    def clusters(self):
        return {one["id"]: (one["secretName"], one["syncStatus"]) for one in self.page("clusterz")}

    def resources(self, kind, names, cluster="main", network="main-net", namespace="shop"):
        """The answer of a first poll over REST for a sidecar: version and resources."""
        node = {"id": f"sidecar~10.255.0.1~client.{namespace}~{namespace}.svc.cluster.local", "cluster": "client",
                "metadata": {"NAMESPACE": namespace, "CLUSTER_ID": cluster, "NETWORK": network}}
        body = json.dumps({"node": node, "resource_names": names}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v3/discovery:{kind}", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            found = json.loads(answer.read())
        return found["versionInfo"], found.get("resources", [])

    def endpoints(self, cluster_name, cluster="main", network="main-net"):
        """"address:port" of the endpoints of a cluster of Envoy's, sorted."""
        found = set()
        for assignment in self.resources("endpoints", [cluster_name], cluster, network)[1]:
            for locality in assignment.get("endpoints", ()):
                for one in locality.get("lbEndpoints", ()):
                    address = one["endpoint"]["address"]["socketAddress"]
                    found.add(f"{address['address']}:{address['portValue']}")
        return sorted(found)
