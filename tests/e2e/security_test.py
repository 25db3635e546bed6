#!/usr/bin/env python3
"""Who may call whom, end to end: real Envoys with certificates of 20 seconds from Fairlead's authority, real requests.

Needs root. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import json
import socket
import time
import unittest

from mesh import HTTP, HUB, MONITORING, XDS, in_namespace, istio_agent, wait_until
from shop_mesh import ShopMesh

CLIENT, STRANGER = "cluster.local/ns/shop/sa/client", "cluster.local/ns/elsewhere/sa/stranger"
DENIED = "!403 RBAC: access denied"


def policy(kind, name, spec):
    return {"apiVersion": "security.istio.io/v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def peers(mode):
    return policy("PeerAuthentication", "default", {"mtls": {"mode": mode}})


def access(action="ALLOW", name="access", **rule):
    return policy("AuthorizationPolicy", name, {"action": action, "rules": [rule]})


class Security(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = ShopMesh()
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)

    def setUp(self):
        self.mesh.apply(peers("STRICT"))
        for caller in (self.mesh.client, self.mesh.stranger):
            self.mesh.wait_answer("web", caller)

    def tearDown(self):
        self.assertEqual(self.mesh.rejects(), 0, "NACKs counted by Fairlead")
        for pod in self.mesh.sidecars:
            self.assertEqual(self.mesh.update_rejections(pod), 0, f"updates rejected by the Envoy of {pod.name}")

    def check(self, *objects, good=(), refused=(), denied=DENIED):
        """With these objects the calls that are good are answered, the refused ones denied. A call: caller, path, headers."""
        self.mesh.apply(peers("STRICT"), *objects)
        for call in refused:
            self.mesh.wait_answer(denied, *call)
        for call in good:
            self.mesh.wait_answer("web", *call)

    def assert_no_answer(self, caller):
        """Connections are closed, without any answer."""
        def closed(answers):
            return all(one.startswith(("!IncompleteRead", "!ConnectionReset")) for one in answers)
        wait_until(f"{caller.name} is refused", lambda: closed(self.mesh.answers(caller)))
        answers = self.mesh.get(caller)
        self.assertTrue(closed(answers), answers)

    def test_an_access_log_to_stdout(self):
        """The sidecar's output is a file of root's, its user another one."""
        telemetry = {"apiVersion": "telemetry.istio.io/v1", "kind": "Telemetry", "metadata": {"name": "log", "namespace": "shop"},
                     "spec": {"accessLogging": [{"providers": [{"name": "envoy"}]}]}}
        self.check(telemetry, good=[(self.mesh.client,)])
        log = self.mesh.folder / "web" / "agent.log"

        def logged():
            self.mesh.get(self.mesh.client, "/logged", count=1)
            return "GET /logged HTTP/1.1" in log.read_text()
        wait_until("the request is in the log", logged)
        # A listener that Envoy refused would let this pass.
        self.check(telemetry, access("DENY", **{"from": [{"source": {"principals": [CLIENT]}}]}), refused=[(self.mesh.client,)])

    # Mutual TLS

    def test_strict_refuses_plaintext(self):
        self.assert_no_answer(self.mesh.outsider)
        before = self.mesh.handshakes()
        self.assertEqual(self.mesh.get(self.mesh.client, count=40), {"web": 40})
        self.assertGreaterEqual(self.mesh.handshakes() - before, 4)

    def test_permissive_takes_both(self):
        self.mesh.apply(peers("PERMISSIVE"))
        self.mesh.wait_answer("web", self.mesh.outsider)
        before = self.mesh.handshakes()
        self.assertEqual(self.mesh.get(self.mesh.client, count=40), {"web": 40})
        self.assertGreaterEqual(self.mesh.handshakes() - before, 4)

    def test_disable_takes_no_tls(self):
        self.mesh.apply(peers("DISABLE"))
        self.mesh.wait_answer("web", self.mesh.outsider)
        for caller in (self.mesh.client, self.mesh.stranger):
            self.mesh.wait_answer("web", caller)
        wait_until("no handshakes any more", lambda: self.no_handshakes())

    def no_handshakes(self):
        before = self.mesh.handshakes()
        self.assertEqual(self.mesh.get(self.mesh.client, count=40), {"web": 40})
        return self.mesh.handshakes() == before

    # Authorization

    def test_by_principal(self):
        client, stranger = [self.mesh.client], [self.mesh.stranger]
        self.check(access(**{"from": [{"source": {"principals": [CLIENT]}}]}), good=[client], refused=[stranger])
        self.check(access("DENY", **{"from": [{"source": {"principals": [CLIENT]}}]}), good=[stranger], refused=[client])

    def test_who_shows_no_certificate_is_no_principal(self):
        self.mesh.apply(peers("PERMISSIVE"), access(**{"from": [{"source": {"principals": ["*"]}}]}))
        self.mesh.wait_answer(DENIED, self.mesh.outsider)
        self.mesh.wait_answer("web", self.mesh.client)

    def test_by_namespace(self):
        self.check(access(**{"from": [{"source": {"namespaces": ["elsewhere"]}}]}),
                   good=[[self.mesh.stranger]], refused=[[self.mesh.client]])

    def test_by_path_and_method(self):
        client = self.mesh.client
        rule = {"to": [{"operation": {"paths": ["/open/*"], "methods": ["GET"]}}]}
        self.check(access(**rule), good=[[client, "/open/x"]],
                   refused=[[client, "/closed"], [client, "/open/x", "@method=POST"], [client, "/open/../closed"]])

    def test_by_address(self):
        self.check(access("DENY", **{"from": [{"source": {"ipBlocks": ["10.77.1.31/32"]}}]}),
                   good=[[self.mesh.stranger]], refused=[[self.mesh.client]])

    def ask(self, provider):
        return policy("AuthorizationPolicy", "ask", {"action": "CUSTOM", "provider": {"name": provider},
                                                     "rules": [{"to": [{"operation": {"paths": ["/asked*"]}}]}]})

    def test_by_an_authorizer_over_grpc(self):
        client, mesh, rule = self.mesh.client, self.mesh, self.ask("grpc-checker")
        self.check(rule, good=[[client, "/asked", "x-pass=yes"], [client, "/"]], refused=[[client, "/asked"]],
                   denied=f"!403 grpc-checker says no to spiffe://{CLIENT}")
        self.check(rule, refused=[[mesh.stranger, "/asked"]], denied=f"!403 grpc-checker says no to spiffe://{STRANGER}")
        mesh.wait_answer("web grpc-checker", client, "/asked/by", "x-pass=yes")
        # Who cannot be asked has not allowed it.
        mesh.checker.stop(mesh.authorizer)
        mesh.wait_answer("!403", client, "/asked", "x-pass=yes")
        mesh.start_authorizer()
        mesh.wait_answer("web", client, "/asked", "x-pass=yes")

    def test_by_an_authorizer_of_ones_own(self):
        client, rule = self.mesh.client, self.ask("checker")
        self.check(rule, good=[[client, "/asked", "x-pass=yes"], [client, "/"]], refused=[[client, "/asked"]],
                   denied="!403 checker says no")
        # Who cannot be asked has not allowed it; what is denied anyhow is denied.
        self.check(rule, access("DENY", to=[{"operation": {"paths": ["/asked/never"]}}]),
                   good=[[client, "/asked", "x-pass=yes"]], refused=[[client, "/asked/never", "x-pass=yes"]])
        self.mesh.checker.stop(self.mesh.checker.processes[0])
        self.mesh.wait_answer("!403", client, "/asked", "x-pass=yes")
        self.mesh.app(self.mesh.checker, "authorizer", 9000, "checker")
        self.mesh.wait_answer("web", client, "/asked", "x-pass=yes")

    # Tokens

    def tokens(self):
        return policy("RequestAuthentication", "users", {"jwtRules": [
            {"issuer": self.mesh.users.name, "audiences": ["web"], "jwks": self.mesh.users.key_set()}]})

    def bearer(self, issuer=None, header=None, **claims):
        claims = {"aud": "web", "sub": "me", **claims}
        return [self.mesh.client, "/", "authorization=Bearer " + (issuer or self.mesh.users).token(claims, header)]

    def test_tokens_that_are_no_good(self):
        self.mesh.apply(peers("STRICT"), self.tokens())
        for why, call in {
                "!401 Jwt is expired": self.bearer(exp=int(time.time()) - 120),
                "!403 Audiences in Jwt are not allowed": self.bearer(aud="another"),
                "!401 Jwt issuer is not configured": self.bearer(iss="https://another.example"),
                "!401 Jwt verification fails": self.bearer(self.mesh.others)}.items():
            self.mesh.wait_answer(why, *call)
        header, claims, _ = self.mesh.users.token({"aud": "web"}, {"alg": "none"}).split(".")
        self.mesh.wait_answer("!401", self.mesh.client, "/", f"authorization=Bearer {header}.{claims}.")
        self.mesh.wait_answer("web", *self.bearer())
        self.mesh.wait_answer("web", self.mesh.client)  # a token is not demanded by this

    def test_by_claim(self):
        readers = access(**{"from": [{"source": {"requestPrincipals": ["https://users.example/*"]}}],
                            "when": [{"key": "request.auth.claims[group]", "values": ["readers"]}]})
        self.check(self.tokens(), readers, good=[self.bearer(group="readers"), self.bearer(group=["writers", "readers"])],
                   refused=[self.bearer(group="writers"), self.bearer(), [self.mesh.client]])

    # Fairlead's own listeners

    def test_who_proves_nothing_sees_no_debug_pages(self):
        urls = [f"http://{HUB}:{port}/debug/{page}" for port in (HTTP, MONITORING) for page in ("configz", "adsz", "mesh")]
        for url in urls:
            answers = self.mesh.client_of(self.mesh.outsider, url, 1)
            self.assertTrue(all(one.startswith("!401") for one in answers), f"{url}: {answers}")
        self.assertEqual(len(self.mesh.client_of(self.mesh.outsider, f"http://{HUB}:{HTTP}/ready", 1)), 1)

    def test_gigantic_headers_are_cut_off(self):
        def send(port):
            with socket.create_connection((HUB, port), 5) as s:
                try:
                    for _ in range(64):
                        s.sendall(b"x" * (1 << 20))
                except OSError:
                    return True  # no more is read
            return False
        for port in (HTTP, MONITORING, XDS):
            self.assertTrue(in_namespace(self.mesh.outsider.namespace, lambda p=port: send(p)), port)
        self.assertTrue(self.mesh.ready())

    # Changes under load

    def goes_on(self):
        """The load needs new connections, as each carries but a few requests."""
        least = self.mesh.handshakes() + 5
        wait_until("new connections of the load", lambda: self.mesh.handshakes() >= least)

    def finish(self, load):
        load.terminate()  # it prints what has been until now
        result = json.loads(load.communicate(timeout=60)[0])
        self.assertEqual(result["failed"], 0, result["errors"])

    def test_a_policy_changes_under_load(self):
        of_paths = lambda *paths: access(**{"from": [{"source": {"principals": [CLIENT]}}],
                                            "to": [{"operation": {"paths": list(paths)}}]})
        old, new = of_paths("/both", "/old"), of_paths("/both", "/new")
        self.check(old, good=[[self.mesh.client, "/both"]], refused=[[self.mesh.client, "/new"]])
        load = self.start_load("/both")
        for one in (new, old, new, old, new):
            self.mesh.apply(peers("STRICT"), one)
            taken, left = ("/new", "/old") if one is new else ("/old", "/new")
            self.mesh.wait_answer("web", self.mesh.client, taken)
            self.mesh.wait_answer(DENIED, self.mesh.client, left)
            self.goes_on()
        self.finish(load)

    def start_load(self, path="/"):
        return self.mesh.start_load(100, 100, path)

    def test_the_root_is_changed_under_load(self):
        mesh, began = self.mesh, time.monotonic()
        load = self.start_load()
        both = mesh.first.roots + mesh.second.roots
        mesh.sign_with(mesh.first, both)
        mesh.publish_roots(both)
        mesh.wait_roots(mesh.first, mesh.second)
        self.goes_on()
        mesh.sign_with(mesh.second, both)
        mesh.wait_renewed()
        self.goes_on()
        mesh.sign_with(mesh.second, mesh.second.roots)
        mesh.publish_roots(mesh.second.roots)
        mesh.wait_roots(mesh.second)
        self.assertEqual(mesh.get(mesh.stranger, count=40), {"web": 40})
        print(f"(changed after {time.monotonic() - began:.0f} s) ", end="", flush=True)
        self.goes_on()
        self.finish(load)
        mesh.first, mesh.second = mesh.second, mesh.first

    def test_another_meshs_workloads_are_let_in_while_its_root_is_trusted(self):
        mesh = self.mesh
        caller = "spiffe://west.example/ns/shop/sa/client"
        call = lambda name: mesh.call_by_tls(*mesh.west.workload(name))
        self.assertEqual(call(caller), "")
        load = self.start_load()
        self.addCleanup(mesh.trust)
        for _ in range(4):
            mesh.trust(mesh.west)
            mesh.wait_roots(mesh.first, mesh.west)
            wait_until("it is let in", lambda: call(caller) == "HTTP/1.1 200 OK")
            self.assertEqual(call("spiffe://east.example/ns/shop/sa/client"), "", "of a trust domain that nobody named")
            mesh.trust()
            mesh.wait_roots(mesh.first)
            wait_until("it is not", lambda: call(caller) == "")
            self.goes_on()
        self.finish(load)

    def test_the_server_is_away_for_longer_than_a_renewal(self):
        mesh, load = self.mesh, self.start_load()
        asked = {pod.name: self.in_vain(pod) for pod in mesh.sidecars}
        mesh.kill_fairlead()
        for pod in mesh.sidecars:
            wait_until(f"{pod.name} asks in vain", lambda p=pod: self.in_vain(p) > asked[p.name])
        self.assertEqual(mesh.get(mesh.stranger, count=40), {"web": 40})
        self.goes_on()
        mesh.start_fairlead()
        mesh.wait_renewed()
        self.goes_on()
        self.finish(load)

    def in_vain(self, pod):
        words = "failed to sign CSR" if istio_agent() else "the present one holds"
        return (self.mesh.folder / pod.name / "agent.log").read_text().count(words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
