#!/usr/bin/env python3
"""The source of Consul with a real agent (scripts/setup.sh consul), and the commands of docs/sources/consul.md."""
import json
import time
import unittest

import page

AGENT = "http://127.0.0.1:8500"
CONSUL = page.DEPS / "consul" / "consul"
WEB = "outbound|8080||web.service.consul"


def put(path, document=None):
    status, text = page.ask(AGENT + path, json.dumps(document) if document is not None else b"", "PUT")
    assert status == 200, (path, status, text)


def register(name, instance, address, **more):
    put("/v1/agent/service/register", {"Name": name, "ID": instance, "Address": address, "Port": 8080, **more})


class ConsulTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)

    def start_agent(self):
        agent = self.processes.start("consul", str(CONSUL), "agent", "-server", "-bootstrap-expect=1", "-bind=127.0.0.1",
                                     f"-data-dir={self.processes.path}/consul", "-log-level=warn")
        page.eventually(lambda: "8300" in page.ask(AGENT + "/v1/status/leader")[1], "a leader of Consul")
        page.eventually(lambda: "serfHealth" in page.ask(AGENT + "/v1/health/state/any")[1], "the agent's own node")
        return agent

    def test_the_page(self):
        page.run_page("consul.md", {"consul": CONSUL, "fairlead": page.FAIRLEAD})

    def test_changes_reach_proxies(self):
        self.start_agent()
        register("web", "a", "10.0.0.1", Check={"TTL": "1h", "Status": "passing"})
        register("web", "b", "10.0.0.2", Tags=["v=2"])
        fairlead = page.ControlPlane(self.processes, "--configSource", "consul://127.0.0.1:8500?names={name}.service.consul,{name}.{dc}.mesh")
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        self.assertEqual(fairlead.endpoints("outbound|8080||web.dc1.mesh"), ["10.0.0.1", "10.0.0.2"])
        begun = time.monotonic()
        put("/v1/agent/check/update/service:a", {"Status": "critical"})
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])
        print(f"a critical check: {(time.monotonic() - begun) * 1000:.0f} ms")
        put("/v1/agent/check/update/service:a", {"Status": "passing"})
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2"])
        put("/v1/agent/maintenance?enable=true")
        fairlead.wait_endpoints(WEB, [])
        put("/v1/agent/maintenance?enable=false")
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2"])
        register("api", "c", "10.0.0.3")
        fairlead.wait_endpoints("outbound|8080||api.service.consul", ["10.0.0.3"])
        put("/v1/agent/service/deregister/a")
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])
        put("/v1/config", {"Kind": "service-defaults", "Name": "web", "Protocol": "http"})
        page.eventually(lambda: '"HTTP"' in page.ask("http://127.0.0.1:15014/debug/configz")[1], "the protocol of service-defaults")
        self.assertEqual(fairlead.metric("pilot_source_objects"), 4)
        self.assertEqual(fairlead.metric("pilot_source_errors_total"), 0)

    def start_without_agent(self):
        """A control plane that knows one instance, of an agent that is gone."""
        agent = self.start_agent()
        register("web", "a", "10.0.0.1")
        fairlead = page.ControlPlane(self.processes, "--configSource=consul://127.0.0.1:8500")
        fairlead.wait_ready()
        self.processes.stop(agent)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        return fairlead

    def test_a_restart_of_either(self):
        fairlead = self.start_without_agent()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])
        fairlead.stop()
        again = page.ControlPlane(self.processes, "--configSource=consul://127.0.0.1:8500")
        again.wait_ready()
        self.assertEqual(again.endpoints(WEB), ["10.0.0.1"])
        self.assertIn("kept-source", again.diagnostics())
        self.start_agent()
        register("web", "b", "10.0.0.2")
        again.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2"])
        page.eventually(lambda: "source" not in again.diagnostics(), "no diagnostic")

    def test_an_agent_that_comes_back_without_news(self):
        fairlead = self.start_without_agent()
        self.start_agent()
        page.eventually(lambda: "source" not in fairlead.diagnostics(), "no diagnostic", 45)
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])

    def test_an_acl_token(self):
        (self.processes.path / "acl.json").write_text(json.dumps({"acl": {
            "enabled": True, "default_policy": "deny", "tokens": {"initial_management": "6d6a9a51-0000-4000-8000-000000000001", "agent": "6d6a9a51-0000-4000-8000-000000000001"}}}))
        self.processes.start("consul", str(CONSUL), "agent", "-dev", f"-config-file={self.processes.path}/acl.json")
        page.eventually(lambda: "8300" in page.ask(AGENT + "/v1/status/leader")[1], "a leader of Consul")
        token = self.processes.path / "token"
        token.write_text("6d6a9a51-0000-4000-8000-00000000000f\n")
        fairlead = page.ControlPlane(self.processes, f"--configSource=consul://127.0.0.1:8500?tokenFile={token}")
        page.eventually(lambda: "ACL not found" in page.ask("http://127.0.0.1:8080/ready")[1] or "ACL not found" in fairlead.diagnostics(), "the reason")
        self.assertFalse(fairlead.ready())
        token.write_text("6d6a9a51-0000-4000-8000-000000000001\n")
        fairlead.wait_ready()


if __name__ == "__main__":
    if not CONSUL.exists():
        page.skip("no agent of Consul: scripts/setup.sh consul builds one")
    page.own_network()
    unittest.main()
