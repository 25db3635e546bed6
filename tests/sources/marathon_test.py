#!/usr/bin/env python3
"""The source of Marathon with a peer written from its documents (marathon_peer.py), and the commands of docs/sources/marathon.md."""
import json
import signal
import time
import unittest

import page

PEER = page.HERE / "marathon_peer.py"
WEB = "outbound|80||web.shop.marathon.mesh"
APP = {"id": "/shop/web", "instances": 2, "networks": [{"mode": "host"}], "portDefinitions": [{"port": 80, "name": "http"}]}


class MarathonTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)

    def master(self, port=8088, *flags):
        process = self.processes.start(f"marathon{port}", str(PEER), f"--http_port={port}", *flags)
        page.eventually(lambda: page.ask(f"http://127.0.0.1:{port}/faults")[0], "the peer")
        return process

    def call(self, method, path, document=None, port=8088):
        status, text = page.ask(f"http://127.0.0.1:{port}{path}", json.dumps(document or {}), method)
        self.assertLess(status, 300, text)

    def follow(self, url="marathon://127.0.0.1:8088"):
        fairlead = page.ControlPlane(self.processes, f"--configSource={url}")
        fairlead.wait_ready()
        return fairlead

    def test_the_page(self):
        page.run_page("marathon.md", {"marathon": PEER, "fairlead": page.FAIRLEAD})

    def test_tasks_come_and_go(self):
        self.master()
        self.call("POST", "/v2/apps", APP)
        fairlead = self.follow()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        self.call("PUT", "/v2/apps/shop/web", {"instances": 3})
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2", "10.0.0.3"])
        self.call("PUT", "/v2/apps/shop/web", {"labels": {"v": "2"}})
        fairlead.wait_endpoints(WEB, ["10.0.0.4", "10.0.0.5", "10.0.0.6"])
        self.call("DELETE", "/v2/apps/shop/web")
        fairlead.wait_endpoints(WEB, [])

    def test_health_decides(self):
        self.master()
        self.call("POST", "/v2/apps", {**APP, "healthChecks": [{"protocol": "HTTP"}]})
        fairlead = self.follow()
        self.assertEqual(fairlead.endpoints(WEB), [])
        self.call("POST", "/faults", {"health": {"shop_web.1": True, "shop_web.2": True}})
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2"])
        self.call("POST", "/faults", {"health": {"shop_web.1": False}})
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])

    def test_a_lost_stream_leaves_no_gap(self):
        master = self.master()
        self.call("POST", "/v2/apps", APP)
        fairlead = self.follow()
        self.call("POST", "/faults", {"say": 'event: status_update_event\r\ndata: {"appId"', "drop": True})
        self.call("PUT", "/v2/apps/shop/web", {"instances": 1})
        fairlead.wait_endpoints(WEB, ["10.0.0.1"])
        # What the master said stays in effect while it is away.
        self.processes.stop(master, signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])
        self.master()
        fairlead.wait_endpoints(WEB, [])

    def test_another_leader(self):
        self.master(8088)
        self.master(8089)
        self.call("POST", "/v2/apps", APP)
        self.call("POST", "/v2/apps", {**APP, "instances": 1}, port=8089)
        fairlead = self.follow("marathon://127.0.0.1:8088,127.0.0.1:8089")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        self.call("POST", "/faults", {"leader": "127.0.0.1:8089", "drop": True})
        fairlead.wait_endpoints(WEB, ["10.0.0.1"])

    def test_a_lag_of_a_minute_is_said(self):
        self.master()
        self.call("POST", "/v2/apps", APP)
        fairlead = self.follow()
        old = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
        self.call("POST", "/faults", {"lag": 2})
        self.call("PUT", "/v2/apps/shop/web", {"instances": 1})
        time.sleep(1)
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        fairlead.wait_endpoints(WEB, ["10.0.0.1"])
        self.call("POST", "/faults", {"say": f'event: status_update_event\r\ndata: {{"appId": "/shop/web", "timestamp": "{old}"}}\r\n\r\n'})
        page.eventually(lambda: fairlead.metric("pilot_source_lag_seconds") > 58, "the lag")
        self.call("POST", "/faults", {"lag": 0})
        self.call("PUT", "/v2/apps/shop/web", {"instances": 2})
        page.eventually(lambda: fairlead.metric("pilot_source_lag_seconds") < 5, "the end of the lag")

    def test_credentials(self):
        self.master(8088, "--http_credentials=me:secret")
        page.check_renewed_password(self, self.processes, "marathon://127.0.0.1:8088")


if __name__ == "__main__":
    page.own_network()
    unittest.main(verbosity=2)
