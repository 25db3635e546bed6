#!/usr/bin/env python3
"""The tool of make cluster-conformance: objects of cases go into an API server with their ages and leave nothing there; a
control plane that reads the API server's objects sends the goldens, and a difference is found.

Needs root, build/fairlead, build/tools/xdsdump and scripts/setup.sh cluster.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from case_objects import OLD, YOUNG, CaseLoader, CaseObjects

HERE = pathlib.Path(__file__).resolve().parent
CASES = kubebox.ROOT / "tests" / "conformance"
TOOLS = os.environ.get("FAIRLEAD_TOOLS") or kubebox.ROOT / "build" / "tools"
SERVER = (f"{sys.executable} -B {HERE}/from_api_server.py --kubeconfig {{kubeconfig}} {os.environ.get('FAIRLEAD', 'build/fairlead')} discovery "
          "--meshConfig {mesh} --networksConfig {networks} --grpcAddr 127.0.0.1:{port} --httpAddr 127.0.0.1:{http} --httpsAddr '' "
          "--secureGRPCAddr '' --monitoringAddr '' --stateDir ''")
CASE = """
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: dated, namespace: shop, creationTimestamp: "2024-05-06T07:08:09Z", generation: 7, uid: mine}
spec: {hosts: [a.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: undated, namespace: shop}
spec: {hosts: [b.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: bare, labels: {app: web}}, status: {podIP: 10.1.2.3, phase: Running}}
- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.9.8.7, ports: [{port: 80}]}}
"""
REFUSED = "{apiVersion: v1, kind: Service, metadata: {name: noports}, spec: {}}"


def run(*words):
    return subprocess.run([sys.executable, "-B", str(HERE / "cluster_conformance.py"), "--server", SERVER, *words], capture_output=True,
                          text=True, cwd=kubebox.ROOT, timeout=150,
                          env={**os.environ, "FAIRLEAD_PLAINTEXT_IDENTITY": "node", "FAIRLEAD_ENDPOINTS_FROM_PODS": "false"})


class Objects(unittest.TestCase):
    """What is in the API server while a case is, and afterwards. In a process of its own, for its network."""

    def test_in_a_network_of_its_own(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                self.check_objects()
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def check_objects(self):
        try:
            with ApiServer() as server, tempfile.TemporaryDirectory() as folder:
                server.define(crd_files()[0])
                loader, path = CaseLoader(server), pathlib.Path(folder, "input.yaml")
                for _ in range(2):  # nothing of the first time is there the second time
                    path.write_text(CASE)
                    case = CaseObjects(folder)
                    self.assertEqual(loader.load(case), [])
                    self.check_loaded(server)
                    loader.clear()
                    self.assertEqual(list(loader.objects()), [])
                path.write_text(CASE + "---\n" + REFUSED)
                refused = loader.load(CaseObjects(folder))
                self.assertEqual(len(refused), 1)
                self.assertIn("spec.ports: Required value", refused[0])
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            raise

    def check_loaded(self, server):
        entries = {o["metadata"]["name"]: o for o in server.api.get("/apis/networking.istio.io/v1/serviceentries")["items"]}
        self.assertEqual({n: o["metadata"]["creationTimestamp"] for n, o in entries.items()},
                         {"dated": "2024-05-06T07:08:09Z", "undated": YOUNG})
        self.assertEqual(entries["dated"]["metadata"]["generation"], 7)
        pod = server.api.get("/api/v1/namespaces/default/pods/bare")
        self.assertEqual((pod["status"]["podIP"], pod["metadata"]["creationTimestamp"]), ("10.1.2.3", OLD))
        self.assertEqual(server.api.get("/api/v1/namespaces/default/services/web")["spec"]["clusterIP"], "10.9.8.7")


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-cases-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def test_goldens_are_sent_and_a_difference_is_found(self):
        for area in ("destinations", "routing", "security", "gateways"):
            case = sorted(p.name for p in (CASES / area).iterdir() if p.is_dir())[0]
            shutil.copytree(CASES / area / case, self.folder / area / case)
        wrong = self.folder / "altered" / "subset-policies"
        shutil.copytree(CASES / "destinations" / "subset-policies", wrong)
        golden = sorted((wrong / "golden").iterdir())[0]
        dump = json.loads(golden.read_text())
        dump["clusters"][0]["connect_timeout"] = "77s"
        golden.write_text(json.dumps(dump))
        done = run("--cases", str(self.folder), "--xdsdump", f"{TOOLS}/xdsdump")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("4 passed, 1 failed", done.stdout)
        self.assertIn('altered/subset-policies: differs', done.stdout)
        self.assertIn('connect_timeout: "10s", want "77s"', done.stdout)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
