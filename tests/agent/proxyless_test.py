#!/usr/bin/env python3
"""gRPC applications beside the agent and no Envoy: the agent's socket and the certificates in its files, real libraries.

A server and a client of grpc-go with mutual TLS, a client of gRPC C++; each has an agent of its own, with DISABLE_ENVOY. Needs
root, for a network namespace. Environment: FAIRLEAD, CLIENT_GO, CLIENT_CPP are programs.

  proxyless_test.py
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from issuer import Issuer  # noqa: E402
from mesh import enter_own_network, fetch, replace_atomically, wait_until  # noqa: E402

XDS, HTTP = 15012, 8080
CLIENT_IP, SECURE_IP = "127.0.12.1", "127.0.11.4"


class Setting:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-proxyless-"))
        self.config = self.folder / "mesh"
        shutil.copytree(HERE.parent / "clients/manifests", self.config)
        self.issuer = Issuer(self.folder / "issuer")
        self.processes = []

    def start(self, command, log, **arguments):
        with open(self.folder / f"{log}.log", "a") as output:
            process = subprocess.Popen(list(map(str, command)), stderr=output,
                                       **{"stdout": output, **arguments})
        self.processes.append(process)
        return process

    def start_fairlead(self):
        self.fairlead = self.start(
            [os.environ["FAIRLEAD"], "discovery", "--configDir", self.config, "--grpcAddr", "", "--secureGRPCAddr",
             f"127.0.0.1:{XDS}", "--httpAddr", f"127.0.0.1:{HTTP}", "--monitoringAddr", "", "--httpsAddr", "", "--stateDir="],
            "fairlead", env=os.environ | {"TOKEN_ISSUER": self.issuer.name, "FAIRLEAD_TOKEN_KEYS": str(self.issuer.public_key),
                                          "FAIRLEAD_CA_DIR": str(self.folder / "ca"), "ROOT_CA_DIR": str(self.folder / "none")})
        wait_until("Fairlead is ready", lambda: fetch(f"http://127.0.0.1:{HTTP}/ready") is not None)

    def start_agent(self, name, address, port, **environment):
        """An agent in a folder of its own; waits until an application can begin."""
        work = self.folder / name
        work.mkdir()
        (work / "token").write_text(self.issuer.workload_token("echo", name))
        self.start([os.environ["FAIRLEAD"], "agent", "sidecar", "--discoveryAddress", f"127.0.0.1:{XDS}", "--configPath",
                    work / "proxy", "--statusPort", port], name, cwd=work,
                   env={"PATH": os.environ["PATH"], "DISABLE_ENVOY": "true", "GRPC_XDS_BOOTSTRAP": str(work / "grpc.json"),
                        "OUTPUT_CERTS": str(work / "certs"), "POD_NAME": name, "POD_NAMESPACE": "echo", "INSTANCE_IP": address,
                        "SERVICE_ACCOUNT": name, "FAIRLEAD_TOKEN_FILE": str(work / "token"), "CLOUD_PLATFORM": "none",
                        "XDS_ROOT_CA": str(self.folder / "ca/root-cert.pem"), "ISTIOD_SAN": "istiod.istio-system.svc",
                        "ISTIO_META_CLUSTER_ID": "Kubernetes", "SECRET_TTL": "20s", **environment})
        try:
            wait_until(f"{name}'s agent is ready", lambda: fetch(f"http://127.0.0.1:{port}/healthz/ready") is not None, 30)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.logs()}") from None
        return work

    def bootstrapped(self, work):
        return {**os.environ, "GRPC_XDS_BOOTSTRAP": str(work / "grpc.json")}

    def logs(self):
        return "\n".join(f"--- {log.name}\n{log.read_text()[-2000:]}" for log in self.folder.glob("*.log"))

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Caller:
    def __init__(self, program, name, work):
        self.process = setting.start(program, name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     env=setting.bootstrapped(work))

    def call(self, service, count, method="Say"):
        self.process.stdin.write(json.dumps({"target": f"xds:///{service}:7000", "count": count, "method": method, "headers": {}}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the client is gone:\n{setting.logs()}")
        return json.loads(line)


def setUpModule():
    global setting, server_work, client_work
    enter_own_network()
    setting = Setting()
    unittest.addModuleCleanup(setting.stop)
    setting.start_fairlead()
    server_work = setting.start_agent("secure", SECURE_IP, 15020, PKCS8_KEY="true")
    client_work = setting.start_agent("client", CLIENT_IP, 15120, ECC_SIGNATURE_ALGORITHM="ECDSA", ECC_CURVE="P384")
    ready = [setting.start([os.environ["CLIENT_GO"], "server", *servers], servers[0], stdout=subprocess.PIPE, text=True, env=env)
             for servers, env in (([f"v{n}=127.0.11.{n}:7000" for n in (1, 2, 3)], None),
                                  ([f"secure={SECURE_IP}:7000", "-xds"], setting.bootstrapped(server_work)))]
    for server in ready:
        if server.stdout.readline() != "ready\n":
            raise AssertionError(setting.logs())


class ProxylessTest(unittest.TestCase):
    def go(self):
        return Caller([os.environ["CLIENT_GO"], "call"], "go", client_work)

    def answers(self, caller, *order):
        outcome = caller.call(*order)
        self.assertEqual(outcome["errors"], {}, setting.logs())
        return outcome["answers"]

    def test_the_file_names_the_socket_and_the_certificates(self):
        bootstrap = json.loads((client_work / "grpc.json").read_text())
        self.assertEqual(bootstrap["xds_servers"][0]["server_uri"], f"unix://{client_work}/proxy/XDS")
        self.assertEqual(bootstrap["xds_servers"][0]["channel_creds"], [{"type": "insecure"}])
        self.assertEqual(bootstrap["node"]["metadata"]["GENERATOR"], "grpc")
        self.assertIn("%s", bootstrap["server_listener_resource_name_template"])
        provider = bootstrap["certificate_providers"]["default"]
        self.assertEqual(provider["plugin_name"], "file_watcher")
        for name, path in provider["config"].items():
            if name.endswith("_file"):
                self.assertTrue(pathlib.Path(path).exists(), path)
        self.assertIn("BEGIN EC PRIVATE KEY", (client_work / "certs/key.pem").read_text())
        self.assertIn("secp384r1", subprocess.run(["openssl", "ec", "-in", client_work / "certs/key.pem", "-noout", "-text"],
                                                  capture_output=True, text=True, check=True).stdout)
        self.assertIn("BEGIN PRIVATE KEY", (server_work / "certs/key.pem").read_text())

    def test_mutual_tls_and_authorization_of_go(self):
        self.assertEqual(self.answers(self.go(), "secure", 5), {"secure": 5})
        self.assertIn("PermissionDenied", str(self.go().call("secure", 1, "Flaky")["errors"]))

    def test_the_agent_renews_the_files(self):
        before = (client_work / "certs/cert-chain.pem").read_text()
        wait_until("the certificate is renewed", lambda: (client_work / "certs/cert-chain.pem").read_text() != before, 30)
        self.assertEqual(self.answers(self.go(), "secure", 1), {"secure": 1})

    def test_cpp_by_the_agents_socket(self):
        caller = Caller([os.environ["CLIENT_CPP"]], "cpp", client_work)
        self.assertEqual(set(self.answers(caller, "pool", 30)), {"v1", "v2", "v3"})

    def test_a_restarted_control_plane_fails_no_call(self):
        caller = self.go()
        self.answers(caller, "pool", 30)
        outcomes, ends = [], threading.Event()

        def load():
            while not ends.is_set():
                outcomes.append(caller.call("pool", 50))
        thread = threading.Thread(target=load)
        thread.start()
        setting.fairlead.kill()
        setting.fairlead.wait()
        setting.start_fairlead()
        ends.set()
        thread.join()
        self.assertEqual([outcome["errors"] for outcome in outcomes if outcome["errors"]], [])
        endpoints = setting.config / "pool-endpoints.yaml"
        whole = endpoints.read_text()
        replace_atomically(endpoints, whole[:whole.index("- addresses: [127.0.11.3]")])
        wait_until("what changes afterwards arrives", lambda: set(self.answers(caller, "pool", 30)) == {"v1", "v2"})
        replace_atomically(endpoints, whole)
        wait_until("v3 is back", lambda: set(self.answers(caller, "pool", 30)) == {"v1", "v2", "v3"})


if __name__ == "__main__":
    unittest.main()
