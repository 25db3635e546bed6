#!/usr/bin/env python3
"""What the demo brings back: it is told of whatever is killed, agents too, and starts it again. Nothing real runs."""
import io
import contextlib
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import demo  # noqa: E402


class Process:
    ended = None

    def poll(self):
        return self.ended


class Pod:
    def __init__(self, name):
        self.name, self.workload, self.sidecar = name, Process(), Process()


class Mesh:
    def __init__(self):
        self.control_plane = Process()
        self.started = []

    def start_fairlead(self):
        self.control_plane = Process()
        self.started.append("Fairlead")

    def start_sidecar(self, pod):
        pod.sidecar = Process()
        self.started.append(pod.name)


class BringBackTest(unittest.TestCase):
    def test_a_killed_agent_is_named_and_started_again(self):
        mesh, client, web = Mesh(), Pod("client"), Pod("web")
        gone, away = {}, demo.AWAY
        demo.AWAY = 0
        self.addCleanup(setattr, demo, "AWAY", away)

        def look():
            with contextlib.redirect_stdout(io.StringIO()) as said:
                demo.bring_back(mesh, client, [web], gone)
            return said.getvalue()
        self.assertEqual(look(), "")
        client.sidecar.ended, mesh.control_plane.ended = -9, -9
        said = look()
        self.assertIn("the agent of client has ended", said)
        self.assertIn("Fairlead has ended", said)
        self.assertEqual(mesh.started, [])
        self.assertIn("the agent of client is back", look())
        self.assertEqual(mesh.started, ["Fairlead", "client"])
        self.assertEqual(look(), "")


if __name__ == "__main__":
    unittest.main()
