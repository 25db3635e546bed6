#!/usr/bin/env python3
"""A mesh at rest: sidecars are connected, nothing changes, and no thread wakes by a clock.

A real API server without nodes. Needs root and scripts/setup.sh cluster.
"""
import pathlib
import re
import sys
import tempfile
import time
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from fairlead_client import free_port
from fairlead_process import FairleadProcess
from mesh_objects import namespace, pod, service, slice_of

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "registration"))
from xds_stream import CLUSTER, Stream  # noqa: E402

SIDECARS, REST, SECONDS = 5, 60, 10
# What the API server says by itself wakes its readers: bookmarks of watches, one a minute and kind, and their ends.
READERS = {"fetch", "cluster", "clusters", "tags", "webhooks"}
MOST_OF_READERS = 100
# A connection's keepalive is a deadline of its own: one every 30 seconds.
MOST_OF_TRANSPORT = 4 * SIDECARS


def setUpModule():
    global own
    own_network()
    own = ApiServer()
    own.__enter__()
    unittest.addModuleCleanup(own.__exit__, None, None, None)
    own.define(*crd_files())
    for obj in (namespace("istio-system"), namespace("shop"), service("web", None), pod("web-0", "10.20.0.1", "web"),
                slice_of("web", {"web-0": "10.20.0.1"})):
        own.api.create(obj, replace=True)


def sleeps(pid):
    """How often each thread gave up its processor to wait, by its number: (name, count)."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        found[task.name] = (re.search(r"Name:\s+(.*)", text)[1], int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", text)[1]))
    return found


class Idle(unittest.TestCase):
    def start(self, folder):
        """With all that an installation has: an authority, TLS, webhooks, a folder for its state."""
        port = free_port()
        fairlead = FairleadProcess(own.kubeconfig, "--clusterID", "main", grpc=port, secure=free_port(),
                                   env={"ENABLE_LEADER_ELECTION": "false", "POD_NAMESPACE": "istio-system"})
        for flag, value in (("--stateDir", folder), ("--httpsAddr", f"127.0.0.1:{free_port()}")):
            fairlead.command[fairlead.command.index(flag) + 1] = value
        fairlead.__enter__()
        self.addCleanup(fairlead.__exit__)
        fairlead.await_ready()
        return fairlead, port

    def test_no_thread_wakes_by_a_clock(self):
        with tempfile.TemporaryDirectory(prefix="fairlead-idle-") as folder:
            fairlead, port = self.start(folder)
            for number in range(SIDECARS):
                node = {"id": f"sidecar~10.20.1.{number + 1}~client-{number}.shop~shop.svc.cluster.local",
                        "metadata": {"NAMESPACE": "shop", "CLUSTER_ID": "main"}}
                stream = Stream(port, node)
                self.addCleanup(stream.__exit__, None, None, None)
                stream.ask(CLUSTER)
                with stream.changed:
                    self.assertTrue(stream.changed.wait_for(lambda one=stream: one.answers > 0, 10))
            time.sleep(REST)
            before = sleeps(fairlead.process.pid)
            time.sleep(SECONDS)
            after = sleeps(fairlead.process.pid)
            woken = {}
            for task, (name, count) in after.items():
                woken[name] = woken.get(name, 0) + count - before.get(task, (name, 0))[1]
            woken = {name: count for name, count in woken.items() if count}
            print("woken in ten seconds:", woken, file=sys.stderr)
            others = {name: count for name, count in woken.items() if name not in READERS | {"transport"}}
            self.assertEqual(others, {})
            self.assertLessEqual(woken.get("transport", 0), MOST_OF_TRANSPORT)
            self.assertLessEqual(sum(woken.get(name, 0) for name in READERS), MOST_OF_READERS)
            # And it is awake at once.
            answers = stream.answers
            own.api.create(service("later", None))
            self.addCleanup(own.api.delete, service("later", None))
            with stream.changed:
                self.assertTrue(stream.changed.wait_for(lambda: stream.answers > answers, 10))


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
