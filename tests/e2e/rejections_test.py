#!/usr/bin/env python3
"""What a proxy rejects, end to end: a real Envoy that does not take an object, a policy that does not count because of it,
what is said of both, and the repair. The commands are those of docs/guides/a-proxy-rejected-something.md.

Needs root. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import json
import re
import subprocess
import unittest

from mesh import MONITORING, ROOT, fetch, in_namespace, wait_until
from shop_mesh import ShopMesh

PAGES = f"http://127.0.0.1:{MONITORING}"
DENIED = "!403 RBAC: access denied"
DENY_ALL = {"apiVersion": "security.istio.io/v1", "kind": "AuthorizationPolicy",
            "metadata": {"name": "deny-all", "namespace": "shop"}, "spec": {}}


# A filter that Envoy reads, and whose configuration it refuses: a token bucket that is filled too often.
def wrong_filter(seconds="0.030s"):
    bucket = {"max_tokens": 1000, "tokens_per_fill": 1000, "fill_interval": seconds}
    config = {"@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
              "stat_prefix": "limit", "token_bucket": bucket}
    return {"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "limit", "namespace": "shop"},
            "spec": {"workloadSelector": {"labels": {"app": "web"}}, "configPatches": [
                {"applyTo": "HTTP_FILTER",
                 "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
                     "name": "envoy.filters.network.http_connection_manager"}}}},
                 "patch": {"operation": "INSERT_FIRST", "value": {"name": "limit", "typed_config": config}}}]}}


# A file that cannot be opened as a log.
ACCESS_LOG = {"apiVersion": "telemetry.istio.io/v1", "kind": "Telemetry", "metadata": {"name": "log", "namespace": "shop"},
              "spec": {"selector": {"matchLabels": {"app": "web"}}, "accessLogging": [{"providers": [{"name": "nowhere"}]}]}}


class Rejections(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = ShopMesh()
        cls.mesh.mesh_config.write_text(
            cls.mesh.mesh_config.read_text() + "- name: nowhere\n  envoyFileAccessLog: {path: /no/such/folder/log}\n")
        cls.mesh.server_flags = ["--statusDir", str(cls.mesh.folder / "statuses")]
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)

    def setUp(self):
        self.mesh.apply()
        self.mesh.wait_answer("web", self.mesh.client)
        wait_until("nothing is wrong", lambda: not self.errors())
        self.log_before = len(self.mesh.log())

    def page(self, name):
        return in_namespace(self.mesh.net.hub.namespace, lambda: json.loads(fetch(f"{PAGES}/debug/{name}")))

    def errors(self):
        return self.page("diagnostics?severity=error")

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)", self.mesh.metrics(), re.M)[1])

    def new_log(self):
        return self.mesh.log()[self.log_before:]

    def status(self, kind, name):
        path = self.mesh.folder / "statuses" / f"{kind}.shop.{name}.json"
        return json.loads(path.read_text())["status"]["conditions"] if path.exists() else []

    def simulate(self):
        return subprocess.run(
            self.mesh.net.hub.command([
                self.mesh.fairlead_binary, "simulate", "--configDir", str(self.mesh.config), "--meshConfig", str(self.mesh.mesh_config),
                "--server", PAGES, "--proxy", "client.shop", "--follow", "http://web.shop/"]),
            capture_output=True, text=True, timeout=60)

    def check(self, wrong, kind, name, reason, right):
        """`wrong` is rejected for `reason`; then a policy is not in force, until `right` takes its place."""
        self.mesh.apply(wrong)
        [rejected] = wait_until("the rejection is said", self.errors)
        self.assertEqual((rejected["code"], rejected["kind"], rejected["name"]), ("rejected", kind, name))
        self.assertTrue(rejected["file"].endswith("policies.yaml") and rejected["line"] == 1, rejected)
        self.assertIn("listener", rejected["message"])
        self.assertIn(reason, rejected["message"])
        self.assertIn("by 1 proxy: web.shop", rejected["details"])
        self.assertEqual(self.metric("fairlead_proxies_rejecting"), 1)
        self.assertEqual(self.metric("fairlead_policies_not_in_force"), 0)

        self.mesh.apply(wrong, DENY_ALL)
        absent = wait_until("the policy is said not to be in force",
                            lambda: [one for one in self.errors() if one["code"] == "not-in-force"])[0]
        self.mesh.wait_answer("web", self.mesh.client)  # it is not
        self.assertEqual((absent["kind"], absent["name"]), ("AuthorizationPolicy", "deny-all"))
        self.assertIn(f"because of {kind} shop/{name}", absent["message"])
        self.assertIn("web.shop", absent["details"])
        self.assertEqual(self.metric("fairlead_policies_not_in_force"), 1)
        self.assertEqual(self.metric('fairlead_diagnostics{severity="error"}'), 2)

        [at_web] = self.page("rejectz?proxyID=web.shop")
        inbound = next(one for one in at_web["resources"] if one["name"] == "virtualInbound")
        self.assertEqual(inbound["running"], "older")
        self.assertEqual([one["name"] for one in inbound["notInForce"]], ["deny-all"])
        self.assertEqual([one["name"] for one in inbound["changed"]], [name])
        [web] = [one for one in self.page("syncz") if one["proxy"] == "web.shop" and "listener_sent" in one]  # the agent has a stream, too
        listeners = next(one for url, one in web["resources"].items() if url.endswith("Listener"))
        self.assertIn("virtualInbound", [one["name"] for one in listeners["older"]])
        self.assertTrue(listeners["olderSince"].startswith("20"), listeners)
        wait_until("statuses say so", lambda: self.status("AuthorizationPolicy", "deny-all") and self.status(kind, name))
        self.assertEqual(self.status("AuthorizationPolicy", "deny-all")[0]["type"], "InForce")
        self.assertEqual(self.status(kind, name)[0]["type"], "AcceptedByProxies")
        said = self.simulate()
        self.assertRegex(said.stdout, r"web\.shop runs an older listener virtualInbound since 20")
        self.assertRegex(said.stdout, r"AuthorizationPolicy shop/deny-all \(\S+policies.yaml:3\) is not in force at web\.shop")
        wait_until("the log says so", lambda: "(not-in-force)" in self.new_log())
        self.assertEqual(self.new_log().count("(rejected)"), 1, self.new_log())
        self.assertEqual(self.new_log().count("(not-in-force)"), 1, self.new_log())

        self.mesh.apply(*right, DENY_ALL)
        self.mesh.wait_answer(DENIED, self.mesh.client)
        wait_until("nothing is wrong any more", lambda: not self.errors())
        self.assertEqual(self.metric("fairlead_policies_not_in_force"), 0)
        self.assertEqual(self.metric("fairlead_proxies_rejecting"), 0)
        self.assertEqual(self.page("rejectz"), [])
        self.assertNotIn("but now", self.simulate().stdout)
        for code in "(rejected)", "(not-in-force)":
            wait_until(f"the log says that {code} is over",
                       lambda: any("no longer: " in line and code in line for line in self.new_log().splitlines()))
        wait_until("statuses end", lambda: not self.status("AuthorizationPolicy", "deny-all"))

    def test_a_filter_that_envoy_refuses(self):
        self.check(wrong_filter(), "EnvoyFilter", "limit", "fill timer must be >= 50ms", [wrong_filter("60s")])

    def test_an_access_log_that_cannot_be_opened(self):
        self.check(ACCESS_LOG, "Telemetry", "log", "unable to open file '/no/such/folder/log'", [])

    def test_a_lua_script_that_does_not_compile_is_left_out(self):
        script = {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inline_code": "function ("}
        wrong = wrong_filter()
        wrong["spec"]["configPatches"][0]["patch"]["value"]["typed_config"] = script
        self.mesh.apply(wrong)
        [mistake] = wait_until("the mistake is said", self.errors)
        self.assertEqual((mistake["code"], mistake["name"]), ("lua", "limit"))
        self.mesh.apply(wrong, DENY_ALL)
        self.mesh.wait_answer(DENIED, self.mesh.client)
        self.assertEqual(self.page("rejectz"), [])

    def test_the_guides_commands(self):
        text = (ROOT / "docs/guides/a-proxy-rejected-something.md").read_text()
        commands = [line.strip() for line in text.splitlines() if re.match(r"    (curl|fairlead) ", line)]
        self.assertGreater(len(commands), 4)
        self.mesh.apply(wrong_filter(), DENY_ALL)
        wait_until("both are said", lambda: len(self.errors()) == 2)
        said = {}
        for command in commands:
            here = command.replace("http://localhost:15014", PAGES).replace(
                "--configDir mesh", f"--configDir {self.mesh.config} --meshConfig {self.mesh.mesh_config}")
            here = re.sub("^fairlead ", f"{self.mesh.fairlead_binary} ", here)
            done = subprocess.run(self.mesh.net.hub.command(["sh", "-c", here]), capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (0, 1) if command.startswith("fairlead") else (0,), (command, done.stderr))
            said[command] = done.stdout
        find = lambda word: next(out for command, out in said.items() if word in command)
        self.assertIn('"rejected"', find("diagnostics"))
        self.assertIn('"notInForce"', find("rejectz"))
        self.assertIn('"olderSince"', find("syncz"))
        self.assertIn("but now\n  web.shop runs an older listener", find("simulate"))
        self.assertIn("fairlead_policies_not_in_force 1", find("metrics"))
        self.assertIn("Pushed to", find("push=true"))

    def test_it_ends_with_the_proxy(self):
        self.mesh.apply(wrong_filter())
        wait_until("the rejection is said", self.errors)
        self.mesh.web.sidecar.terminate()
        self.mesh.web.sidecar.wait(timeout=60)
        wait_until("it ends", lambda: not self.errors())
        self.mesh.apply()
        self.mesh.start_sidecar(self.mesh.web, PROXY_CONFIG_XDS_AGENT="true")
        self.mesh.wait_sidecars([self.mesh.web])


if __name__ == "__main__":
    unittest.main(verbosity=2)
