#!/usr/bin/env python3
"""Keeps a copy of collections of an API server and says what changes in it, as kubernetes.io's API concepts ask of a client.

  reference_client.py --kubeconfig FILE COLLECTION...         COLLECTION: /api/v1/configmaps, /apis/GROUP/VERSION/PLURAL

Each change is a line of JSON on standard output, as tests/cluster/watch_contract.py reads them of any client:
  {"collection": C, "event": "put", "namespace": N, "name": N, "version": V}   it is there now, in this version
  {"collection": C, "event": "gone", "namespace": N, "name": N}                it is there no more
  {"collection": C, "event": "synced"}                                         all that the server had was said

CONTRACT_FAULT in the environment makes one mistake of clients' on purpose, so that a test sees that it would be found:
keeps-vanished, stops-at-410, drops-on-errors, one-chunk.
"""
import http.client
import json
import os
import sys
import threading
import time

from kube_api import ApiError, KubeApi

FAULT = os.environ.get("CONTRACT_FAULT", "")
CHUNK = 100
out = threading.Lock()


class Gone(Exception):
    """The server does not know the version any more."""


class Collection(threading.Thread):
    def __init__(self, kubeconfig, path):
        super().__init__(daemon=True)
        self.kubeconfig, self.path, self.known, self.version = kubeconfig, path, {}, None

    def say(self, event, **fields):
        with out:
            print(json.dumps({"collection": self.path, "event": event, **fields}), flush=True)

    def run(self):
        self.api = KubeApi(self.kubeconfig, timeout=10)
        pause = 0.1
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
                pause = 0.1
            except Gone:
                if FAULT == "stops-at-410":
                    return
                self.version = None
            except (OSError, ApiError, http.client.HTTPException, ValueError) as error:
                self.on_error(error)
                time.sleep(pause)
                pause = min(2 * pause, 1)

    def on_error(self, error):
        """Of a kind that is not served there is nothing. Any other error says nothing about what there is."""
        if getattr(error, "status", 0) == 404 or FAULT == "drops-on-errors":
            self.version = None
            self.replace({})

    def list(self):
        found, token, version = {}, "", None
        while True:
            status, page = self.api.call("GET", f"{self.path}?limit={CHUNK}" + (f"&continue={token}" if token else ""), also=(410,))
            if status == 410:
                raise Gone
            for obj in page["items"]:
                found[key_of(obj)] = obj["metadata"]["resourceVersion"]
            version, token = page["metadata"]["resourceVersion"], page["metadata"].get("continue", "")
            if not token or FAULT == "one-chunk":
                break
        self.replace(found)
        self.version = version
        self.say("synced")

    def replace(self, found):
        if FAULT != "keeps-vanished":
            for key in [k for k in self.known if k not in found]:
                self.remove(key)
        for key, version in found.items():
            if self.known.get(key) != version:
                self.put(key, version)

    def put(self, key, version):
        self.known[key] = version
        self.say("put", namespace=key[0], name=key[1], version=version)

    def remove(self, key):
        if self.known.pop(key, None):
            self.say("gone", namespace=key[0], name=key[1])

    def watch(self):
        for event in self.api.watch(self.path, seconds=5, resourceVersion=self.version, allowWatchBookmarks="true"):
            obj = event["object"]
            if event["type"] == "ERROR":
                if obj.get("code") == 410:
                    raise Gone
                raise ApiError(obj.get("code", 0), obj.get("message", ""))
            self.version = obj["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self.remove(key_of(obj))
            elif event["type"] != "BOOKMARK":
                self.put(key_of(obj), self.version)


def key_of(obj):
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def main():
    threads = [Collection(sys.argv[2], path) for path in sys.argv[3:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
