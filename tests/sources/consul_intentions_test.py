#!/usr/bin/env python3
"""Intentions of a real Consul agent (scripts/setup.sh consul) decide about real requests between stock Envoys; needs root."""
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest

import page

sys.path.insert(0, str(page.ROOT / "examples"))
from consul_demo import CONSUL, put, start_agent  # noqa: E402
from demo import HUB, ROOT, Mesh  # noqa: E402
from mesh import in_namespace, wait_until  # noqa: E402

DENIED = "!403 RBAC: access denied"
ADDRESS = "10.77.100.1"


def intentions(name, *sources):
    return {"Kind": "service-intentions", "Name": name, "Sources": list(sources)}


def source(name, action):
    return {"Name": name, "Action": action}


def permission(action, **http):
    return {"Action": action, "HTTP": http}


class ConsulIntentionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-intentions-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        shutil.copy(ROOT / "examples" / "consul" / "mesh.yaml", cls.folder)
        cls.mesh = mesh = Mesh(cls.folder)
        mesh.__enter__()
        cls.addClassCleanup(mesh.__exit__, None, None, None)
        start_agent(mesh)
        put(mesh, "/v1/config", {"Kind": "service-defaults", "Name": "db", "Protocol": "http"})
        mesh.server_flags = ["--configSource", f"consul://{HUB}:8500?intentions=true"]
        mesh.start_fairlead()
        cls.web, cls.api, cls.db = (mesh.pod(name, f"10.77.1.{last}", {"app": name}, namespace="consul")
                                    for name, last in (("web", 41), ("api", 42), ("db", 43)))
        mesh.app(cls.db, "http", 9080, "db")
        for pod in (cls.web, cls.api, cls.db):
            mesh.start_sidecar(pod)
            put(mesh, "/v1/agent/service/register", {"Name": pod.name, "ID": pod.name, "Address": pod.address, "Port": 9080,
                                                     "Tags": ["security.istio.io/tlsMode=istio"]})
        mesh.wait_sidecars([cls.web, cls.api, cls.db])

    def tearDown(self):
        self.assertEqual(self.mesh.rejects(), 0)
        for pod in (self.web, self.api, self.db):
            self.assertEqual(self.mesh.update_rejections(pod), 0, pod.name)

    def answers(self, caller, path, *headers):
        return set(self.mesh.client(caller, "get", f"http://db.service.consul:9080{path}", 4, f"@connect={ADDRESS}", *headers))

    def expect(self, good=(), refused=()):
        """Calls: caller, path, headers."""
        for wanted, calls in (({DENIED}, refused), ({"db"}, good)):
            for caller, *call in calls:
                call = call or ["/"]
                wait_until(f"{caller.name} {call}: {wanted}", lambda: self.answers(caller, *call) == wanted, 20)

    def intend(self, *sources):
        put(self.mesh, "/v1/config", intentions("db", *sources))

    def test_who_may_call(self):
        self.expect(refused=[(self.web,), (self.api,)])
        self.intend(source("web", "allow"))
        self.expect(good=[(self.web,)], refused=[(self.api,)])
        self.intend(source("*", "allow"), source("api", "deny"))
        self.expect(good=[(self.web,)], refused=[(self.api,)])
        self.intend(source("api", "allow"))
        self.expect(good=[(self.api,)], refused=[(self.web,)])

    def test_a_destination_is_before_all_destinations(self):
        self.intend(source("web", "allow"))
        put(self.mesh, "/v1/config", intentions("*", source("*", "deny"), source("api", "allow")))
        self.expect(good=[(self.web,), (self.api,)])
        self.intend(source("web", "allow"), source("*", "deny"))
        self.expect(good=[(self.web,)], refused=[(self.api,)])
        self.delete("*")

    def test_permissions_of_http(self):
        self.intend({"Name": "web", "Permissions": [
            permission("deny", PathPrefix="/admin"),
            permission("allow", PathExact="/admin-page"),
            permission("allow", PathPrefix="/", Methods=["GET"]),
            permission("allow", PathPrefix="/write", Header=[{"Name": "x-user", "Exact": "ann"}])]})
        self.expect(good=[(self.web, "/"), (self.web, "/any/path"), (self.web, "/write", "@method=POST", "x-user=ann")],
                    refused=[(self.web, "/admin"), (self.web, "/admin/users"), (self.web, "/admin-page"), (self.web, "/", "@method=POST"),
                             (self.web, "/write", "@method=POST", "x-user=bob"), (self.api, "/")])

    def test_they_outlive_the_agent(self):
        self.intend(source("web", "allow"))
        self.expect(good=[(self.web,)], refused=[(self.api,)])
        self.mesh.net.hub.stop(self.mesh.agent, signal.SIGKILL)
        diagnostics = f"http://{HUB}:15014/debug/diagnostics"
        page.eventually(lambda: "unreachable-source" in in_namespace(self.mesh.net.hub.namespace, lambda: page.ask(diagnostics)[1]), "the diagnostic")
        self.expect(good=[(self.web,)], refused=[(self.api,)])
        start_agent(self.mesh)
        self.intend(source("api", "allow"))
        self.expect(good=[(self.api,)], refused=[(self.web,)])
        self.delete("db")
        self.expect(refused=[(self.web,), (self.api,)])

    def delete(self, name):
        self.assertEqual(in_namespace(self.mesh.net.hub.namespace, lambda: page.ask(
            f"http://{HUB}:8500/v1/config/service-intentions/{name}", method="DELETE"))[0], 200)


if __name__ == "__main__":
    if not CONSUL.exists():
        page.skip("no agent of Consul: scripts/setup.sh consul builds one")
    unittest.main(verbosity=2)
