#!/usr/bin/env python3
"""A client's copy is what a real API server has, whatever happens: the contract's tests, and that they find mistakes.

CONTRACT_CLIENT names the client's program, fairlead_client.py for one; else it is reference_client.py. Needs root and scripts/setup.sh cluster.
"""
import json
import os
import shlex
import time
import unittest

import kubebox
from kubebox import wait_until
from watch_contract import (
    CONFIG_MAPS, FILTERS, TELEMETRIES, Account, Client, World, client_command, config_map, envoy_filter, step, stored, telemetry)

# What a client reads to know which kinds there are.
DEFINITIONS = [("apiextensions.k8s.io", "customresourcedefinitions")]
# What a control plane reads besides.
CORE = [(group, "*") for group in ("", "discovery.k8s.io", "networking.k8s.io", "certificates.k8s.io", "security.istio.io",
                                   "extensions.istio.io", "multicluster.x-k8s.io")]
CORE += [(f"{group}.networking.{domain}", "*") for group in ("gateway", "inference") for domain in ("k8s.io", "x-k8s.io")]

world = None


def setUpModule():
    global world
    world = World().__enter__()
    unittest.addModuleCleanup(world.__exit__)


class ContractCase(unittest.TestCase):
    collections = (FILTERS, TELEMETRIES)
    kubeconfig = None  # of the server's own user

    def setUp(self):
        command = shlex.split(os.environ.get("CONTRACT_CLIENT", "")) or client_command()
        self.start(command)

    def start(self, command, **fault):
        self.client = Client(command, self.kubeconfig or world.server.kubeconfig, self.collections, env={**os.environ, **fault})
        self.addCleanup(self.client.stop)

    def tearDown(self):
        if world.server.processes.get("kube-apiserver") is None:
            world.server.start()
        world.api.call("DELETE", "/apis/networking.istio.io/v1alpha3/namespaces/default/envoyfilters")
        world.api.call("DELETE", "/apis/telemetry.istio.io/v1/namespaces/default/telemetries", also=(404,))
        self.assertEqual(self.client.faults, [])

    def synced(self):
        wait_until("the client has all", lambda: self.client.synced >= set(self.collections))

    def equal(self, seconds=20):
        """The client's copies become what the server has."""
        def same():
            return all(self.client.copies[c] == world.has(c) for c in self.collections)
        try:
            wait_until("the copies are equal", same, seconds)
        except AssertionError:
            for c in self.collections:
                self.assertEqual(self.client.copies[c], world.has(c), c)

    def many(self, count):
        for number in range(count):
            world.api.create(envoy_filter(f"many-{number}"))


class Contract(ContractCase):
    def test_a_collection_is_more_than_one_chunk(self):
        self.client.stop()
        self.many(620)
        self.setUp()
        self.synced()
        self.equal()

    def test_changes_come_in_order_and_the_last_one_counts(self):
        self.synced()
        for obj in (envoy_filter("one"), telemetry("one")):
            world.api.create(obj)
            for number in range(20):
                world.api.patch(obj, step(number))
        self.equal()  # a version that goes back is a fault of the client's

    def test_what_is_deleted_is_gone_and_what_comes_again_is_there(self):
        self.synced()
        for obj in (envoy_filter("two"), telemetry("two")):
            world.api.create(obj)
            world.api.delete(obj)
            world.api.create(obj)
        self.equal()
        for obj in (envoy_filter("two"), telemetry("two")):
            world.api.delete(obj)
        self.equal()
        self.assertNotIn(("default", "two"), self.client.copies[FILTERS])

    def test_all_objects_of_a_namespace_at_once(self):
        world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short-lived"}})
        for number in range(50):
            world.api.create(envoy_filter(f"c-{number}", "short-lived"))
            world.api.create(telemetry(f"w-{number}", "short-lived"))
        self.synced()
        self.equal()
        for collection in (FILTERS.replace("/envoy", "/namespaces/short-lived/envoy"),
                           TELEMETRIES.replace("/telemetries", "/namespaces/short-lived/telemetries")):
            world.api.call("DELETE", collection)
        world.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short-lived"}})
        self.equal()
        self.assertEqual([k for c in self.collections for k in self.client.copies[c] if k[0] == "short-lived"], [])

    def test_a_kind_goes_and_comes_back(self):
        self.synced()
        world.api.create(telemetry("three"))
        self.equal()
        world.undefine()
        wait_until("its objects are gone", lambda: not self.client.copies[TELEMETRIES])
        world.api.create(envoy_filter("meanwhile"))
        wait_until("other kinds go on", lambda: ("default", "meanwhile") in self.client.copies[FILTERS])
        world.define()
        world.api.create(telemetry("four"))
        self.equal()

    def test_the_servers_end_takes_nothing_away(self):
        self.synced()
        for obj in (envoy_filter("five"), telemetry("five")):
            world.api.create(obj)
        self.equal()
        before = len(self.client.lines)
        world.server.kill()
        time.sleep(1)
        world.server.start()
        world.api.create(envoy_filter("six"))
        world.api.create(telemetry("six"))
        self.equal()
        self.assertEqual(self.client.said("gone", before), [])
        self.assertEqual({line["name"] for line in self.client.said("put", before)}, {"six"})

    def test_what_changed_while_the_server_was_away(self):
        self.synced()
        self.many(20)
        world.api.create(telemetry("kept"))
        world.api.create(telemetry("vanishes"))
        self.equal()
        world.server.kill()
        keys = [key for key in world.server.etcd.read(keys_only=True) if key.endswith(("/many-3", "/vanishes"))]
        world.server.etcd.delete(keys)
        world.server.etcd.compact()  # the version that the client has is not known any more: 410
        world.server.start()
        self.equal()
        self.assertNotIn(("default", "vanishes"), self.client.copies[TELEMETRIES])
        self.assertNotIn(("default", "many-3"), self.client.copies[FILTERS])

    def test_a_server_that_hangs(self):
        self.synced()
        world.api.create(envoy_filter("seven"))
        self.equal()
        world.server.pause()
        time.sleep(3)
        world.server.pause(False)
        world.api.close()
        world.api.create(envoy_filter("eight"))
        self.equal()
        self.assertEqual(self.client.said("gone"), [])

    def test_bookmarks_spare_lists(self):
        """Other collections change and history is forgotten; a client that took bookmarks goes on without a list."""
        self.synced()
        world.api.create(envoy_filter("nine"))
        self.equal()
        listed = world.lists(FILTERS)
        for number in range(300):
            world.api.patch(telemetry("busy"), step(number)) if number else world.api.create(telemetry("busy"))
        time.sleep(7)  # watches of the reference end after 5 s of silence and begin again
        world.api.create(envoy_filter("ten"))
        self.equal()
        self.assertEqual(world.lists(FILTERS), listed)

    def test_an_object_of_one_and_a_half_megabytes(self):
        self.synced()
        world.api.create(envoy_filter("large", text="x" * 1_500_000))
        self.equal()


    def test_ten_thousand_objects_after_the_servers_end(self):
        self.synced()
        world.server.kill()
        world.server.etcd.put(dict(stored(telemetry(f"crowd-{number}"), number) for number in range(10_000)))
        world.server.etcd.compact()
        world.server.start()
        wait_until("all are there", lambda: len(self.client.copies[TELEMETRIES]) == 10_000, 60)
        world.api.call("DELETE", "/apis/telemetry.istio.io/v1/namespaces/default/telemetries")
        wait_until("all are gone", lambda: not self.client.copies[TELEMETRIES], 60)


class Access(ContractCase):
    """Clients with accounts that may not do everything, and whose tokens end."""

    def setUp(self):
        self.account = Account(world, "client")
        self.addCleanup(self.account.delete)

    def start_client(self):
        self.kubeconfig = self.account.kubeconfig
        super().setUp()

    def test_a_kind_that_is_forbidden_leaves_the_others_alone(self):
        self.account.allow(*DEFINITIONS, *CORE, ("networking.istio.io", "*"))
        world.api.create(telemetry("secret"))
        world.api.create(envoy_filter("open"))
        self.start_client()
        wait_until("the kind that is allowed", lambda: ("default", "open") in self.client.copies[FILTERS])
        self.assertEqual(self.client.copies[TELEMETRIES], {})
        self.account.allow(*DEFINITIONS, *CORE, ("networking.istio.io", "*"), ("telemetry.istio.io", "*"))
        self.equal(60)
        self.assertIn(("default", "secret"), self.client.copies[TELEMETRIES])

    def test_a_token_that_ends_and_is_replaced(self):
        self.account.allow(*DEFINITIONS, *CORE, ("networking.istio.io", "*"), ("telemetry.istio.io", "*"))
        world.api.create(envoy_filter("eleven"))
        self.start_client()
        self.synced()
        self.equal()
        self.account.revoke()
        world.server.kill()  # connections and watches end, and new ones are asked who they are
        world.server.start()
        self.account.api = world.api
        time.sleep(3)
        self.account.renew()
        world.api.create(envoy_filter("twelve"))
        self.equal(60)
        self.assertEqual(self.client.said("gone"), [])


class Mistakes(ContractCase):
    """Clients with a mistake fail the contract: so it is one."""

    def setUp(self):
        pass

    def tearDown(self):
        world.api.call("DELETE", "/apis/networking.istio.io/v1alpha3/namespaces/default/envoyfilters")

    def differs(self, fault):
        self.start(client_command(), CONTRACT_FAULT=fault)
        self.synced()
        self.many(150)
        with self.assertRaises(AssertionError):
            self.provoke()
            self.equal(6)

    def provoke(self):
        world.server.kill()
        world.server.etcd.delete([key for key in world.server.etcd.read(keys_only=True) if key.endswith("/many-3")])
        world.server.etcd.compact()
        world.server.start()

    def test_it_keeps_what_vanished(self):
        self.differs("keeps-vanished")

    def test_it_stops_at_410(self):
        self.differs("stops-at-410")

    def test_it_reads_one_chunk(self):
        self.differs("one-chunk")

    def test_it_drops_all_when_the_server_is_away(self):
        self.start(client_command(), CONTRACT_FAULT="drops-on-errors")
        self.synced()
        self.many(3)
        self.equal()
        world.server.kill()
        wait_until("it drops all", lambda: self.client.said("gone"))
        world.server.start()


class Facts(unittest.TestCase):
    """What clients must know of this server."""

    def test_streaming_lists_may_be_refused_inside_of_the_stream(self):
        """With an etcd before 3.4.25 the answer is 200, and its first event an error: a client falls back to a list."""
        events = list(world.api.watch(CONFIG_MAPS, 3, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"))
        if events and events[0]["type"] == "ERROR":
            self.assertEqual(events[0]["object"]["code"], 500, json.dumps(events[0]))
            self.assertIn("RequestWatchProgress", events[0]["object"]["message"])

    def test_a_version_from_before_the_servers_start_is_gone(self):
        old = world.api.get(CONFIG_MAPS)["metadata"]["resourceVersion"]
        world.api.create(config_map("newer"))
        world.server.kill()
        world.server.etcd.compact()
        world.server.start()
        for number in range(3):
            world.api.patch(config_map("newer"), step(number))
        first = next(iter(world.api.watch(CONFIG_MAPS, 5, resourceVersion=old)))
        self.assertEqual((first["type"], first["object"].get("code")), ("ERROR", 410), json.dumps(first)[:300])
        world.api.delete(config_map("newer"))


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
