#!/usr/bin/env python3
"""The source of Mesos with a peer written from its documents (mesos_peer.py), and the commands of docs/sources/mesos.md."""
import json
import signal
import unittest

import page

PEER = page.HERE / "mesos_peer.py"
WEB = "outbound|80||web.aurora.mesos"
TASK = {"name": "web", "discovery": {"visibility": "CLUSTER", "name": "web", "version": "v1",
                                     "ports": {"ports": [{"number": 80, "name": "http", "protocol": "tcp"}]}}}


class MesosTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)

    def master(self, port=5050, *flags):
        process = self.processes.start(f"master{port}", str(PEER), f"--port={port}", *flags)
        page.eventually(lambda: page.ask(f"http://127.0.0.1:{port}/health")[0] == 200, "the peer")
        return process

    def call(self, path, document, port=5050):
        status, text = page.ask(f"http://127.0.0.1:{port}{path}", json.dumps(document), "POST")
        self.assertLess(status, 300, text)

    def follow(self, url="mesos://127.0.0.1:5050"):
        fairlead = page.ControlPlane(self.processes, f"--configSource={url}")
        fairlead.wait_ready()
        return fairlead

    def test_the_page(self):
        page.run_page("mesos.md", {"mesos-master": PEER, "fairlead": page.FAIRLEAD})

    def test_tasks_come_and_go(self):
        self.master()
        self.call("/launch", [TASK, TASK])
        fairlead = self.follow()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        self.call("/launch", TASK)
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2", "10.0.0.3"])
        self.call("/faults", {"id": "web.1", "status": {"state": "TASK_KILLING"}})
        fairlead.wait_endpoints(WEB, ["10.0.0.2", "10.0.0.3"])
        for task in ("web.1", "web.2", "web.3"):
            self.call("/kill", {"id": task})
        fairlead.wait_endpoints(WEB, [])
        self.assertEqual(fairlead.metric("pilot_source_errors_total"), 0)

    def test_health_decides(self):
        self.master()
        self.call("/launch", [{**TASK, "health_check": {"type": "HTTP"}}, TASK])
        fairlead = self.follow()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.2"])
        self.call("/faults", {"id": "web.1", "status": {"state": "TASK_RUNNING", "healthy": True}})
        fairlead.wait_endpoints(WEB, ["10.0.0.1", "10.0.0.2"])
        self.call("/faults", {"id": "web.1", "status": {"state": "TASK_RUNNING", "healthy": False}})
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])

    def test_a_lost_stream_leaves_no_gap(self):
        master = self.master()
        self.call("/launch", [TASK, TASK])
        fairlead = self.follow()
        self.call("/faults", {"say": '4000\n{"type": "TASK_UPDATED", "task_upd', "drop": True})
        self.call("/kill", {"id": "web.1"})
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])
        self.call("/faults", {"say": "no size of a record\n"})
        self.call("/launch", TASK)
        fairlead.wait_endpoints(WEB, ["10.0.0.2", "10.0.0.3"])
        # What the master said stays in effect while it is away.
        self.processes.stop(master, signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.2", "10.0.0.3"])
        self.master()
        fairlead.wait_endpoints(WEB, [])

    def test_another_leader(self):
        self.master(5050)
        self.master(5060)
        self.call("/launch", [TASK, TASK])
        self.call("/launch", TASK, port=5060)
        fairlead = self.follow("mesos://127.0.0.1:5050,127.0.0.1:5060")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2"])
        self.call("/faults", {"leader": "127.0.0.1:5060", "drop": True})
        fairlead.wait_endpoints(WEB, ["10.0.0.1"])

    def test_silence_is_noticed(self):
        self.master()
        self.call("/faults", {"beats": False, "interval": 0.2})
        self.call("/launch", TASK)
        fairlead = self.follow()
        page.eventually(lambda: "no heartbeat" in fairlead.diagnostics() or fairlead.metric("pilot_source_errors_total") > 0, "the silence")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])

    def test_a_framework_with_a_source_of_its_own_is_left_out(self):
        self.master()
        self.call("/launch", [TASK, {**TASK, "framework": "marathon"}])
        fairlead = self.follow("mesos://127.0.0.1:5050?frameworks=!marathon&names={name}.mesh")
        self.assertEqual(fairlead.endpoints("outbound|80||web.mesh"), ["10.0.0.1"])
        self.assertEqual(fairlead.metric("pilot_source_objects"), 1)

    def test_credentials(self):
        self.master(5050, "--http_credentials=me:secret")
        page.check_renewed_password(self, self.processes, "mesos://127.0.0.1:5050")


if __name__ == "__main__":
    page.own_network()
    unittest.main(verbosity=2)
