#!/usr/bin/env python3
"""Two replicas whose clocks differ by two hours, one ahead of the API server's and one behind it: one writes, the other does not
think that its Lease has ended, both serve the same, and the other goes on where the leader was killed.

Needs root, a C compiler, build/fairlead and scripts/setup.sh cluster.
"""
import json
import pathlib
import subprocess
import tempfile
import time
import unittest
from datetime import datetime, timezone

import kubebox
import replicas_test as two
from kubebox import wait_until

HOUR, ROUTES = 3600, 10
LOCK = "istio-gateway-status-leader-default"
SHIM = pathlib.Path(__file__).resolve().parent / "skewed_clock.c"

setUpModule = two.setUpModule  # one API server for all


def age(text):
    """Seconds since a time as Kubernetes writes it, by this machine's clock."""
    return time.time() - datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()


class Skew(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fairlead-skew-")
        self.addCleanup(self.folder.cleanup)
        self.library = f"{self.folder.name}/skewed_clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, str(SHIM), "-ldl"], check=True)
        api = two.server.api
        api.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "istio"},
                    "spec": {"controllerName": "istio.io/gateway-controller"}}, replace=True)
        api.create(two.gateway("edge"), replace=True)
        for number in range(ROUTES):
            api.create(two.route(f"skew-{number}"), replace=True)

    def start(self, number, skew):
        """The API server's certificate is of today, which an hour ago is no time that it is valid for: so it is not asked for."""
        config = json.loads(pathlib.Path(two.server.kubeconfig).read_text())
        address = config["clusters"][0]["cluster"]["server"]
        config["clusters"][0]["cluster"] = {"server": address, "insecure-skip-tls-verify": True}
        path = pathlib.Path(self.folder.name, f"kubeconfig-{number}")
        path.write_text(json.dumps(config))

        class Skewed(two.Replica):
            environment = {"LD_PRELOAD": self.library, "SKEW_SECONDS": str(skew)}
            kubeconfig = str(path)
        replica = Skewed(number)
        self.addCleanup(replica.stop)
        replica.wait_ready()
        return replica

    def holder(self):
        return two.holders().get(LOCK, "")

    def lease(self):
        spec = two.server.api.get(f"{two.LEASES}/{LOCK}")["spec"]
        return spec["renewTime"], spec.get("leaseTransitions", 0)

    def all_written(self):
        return all(two.accepted(f"skew-{n}") for n in range(ROUTES))

    def test_two_replicas_whose_clocks_are_two_hours_apart(self):
        behind = self.start(1, -HOUR)
        wait_until("the statuses", self.all_written, 30)
        self.assertEqual(self.holder(), behind.name)
        self.assertGreater(age(self.lease()[0]), HOUR - 60, "its clock is behind")
        ahead = self.start(2, HOUR)
        before, (_, transitions) = two.versions(), self.lease()
        # For its clock the Lease is two hours old; by its own watch it is renewed all the time.
        time.sleep(two.RETRY_SECONDS + 4)
        self.assertEqual((self.holder(), self.lease()[1]), (behind.name, transitions))
        self.assertEqual(two.versions(), before, "nothing is written again")
        for kind in ("clusters", "listeners"):
            self.assertEqual(behind.resources(kind), ahead.resources(kind), kind)
        behind.kill()
        two.server.api.create(two.route("late-by-skew"), replace=True)
        wait_until("the other leader", lambda: two.accepted("late-by-skew"), two.LEASE_SECONDS + two.RETRY_SECONDS + 10)
        self.assertEqual(self.holder(), ahead.name)
        self.assertLess(age(self.lease()[0]), 60 - HOUR, "its clock is ahead")
        after = two.versions()
        self.assertEqual({name: after[name] for name in before}, before, "nothing is written twice")


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
