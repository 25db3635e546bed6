#!/usr/bin/env python3
"""Fairlead as a client of the contract: what its own page of objects says, as lines of changes (reference_client.py).

  fairlead_client.py --kubeconfig FILE COLLECTION...

Runs `fairlead discovery` (FAIRLEAD names another program) on the API server and asks it every 50 ms which objects it has.
What comes and goes between two questions is not seen.
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

from fairlead_box import program
from kubebox import end_with_parent

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from conformance import free_port  # noqa: E402


def ask(port, path):
    """A page of Fairlead's; None while it does not answer, or says that it is not ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError):
        return None


def plural(kind):
    kind = kind.lower()
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def copies(page, collections):
    found = {collection: {} for collection in collections}
    by_plural = {collection.rsplit("/", 1)[1]: collection for collection in collections}
    for obj in json.loads(page):
        collection, metadata = by_plural.get(plural(obj["kind"])), obj["metadata"]
        if collection:
            found[collection][metadata.get("namespace", ""), metadata["name"]] = metadata["resourceVersion"]
    return found


def say(collection, event, **fields):
    print(json.dumps({"collection": collection, "event": event, **fields}), flush=True)


def tell(before, now):
    for collection, copy in now.items():
        old = before.get(collection, {})
        for namespace, name in old.keys() - copy.keys():
            say(collection, "gone", namespace=namespace, name=name)
        for (namespace, name), version in copy.items():
            if old.get((namespace, name)) != version:
                say(collection, "put", namespace=namespace, name=name, version=version)


def main():
    kubeconfig, collections = sys.argv[2], sys.argv[3:]
    port = free_port()
    fairlead = subprocess.Popen(
        [program(), "discovery", "--kubeconfig", kubeconfig, "--httpAddr", f"127.0.0.1:{port}", "--grpcAddr", "", "--secureGRPCAddr", "",
         "--httpsAddr", "", "--monitoringAddr", "", "--stateDir", ""], stdout=sys.stderr, preexec_fn=end_with_parent, env={
             **os.environ, "CLUSTER_ID": "Kubernetes", "FAIRLEAD_CLUSTER_WRITES": "false"})
    known, synced = {}, False
    while fairlead.poll() is None:
        ready = synced or ask(port, "/ready") is not None
        page = ask(port, "/debug/configz")
        if page is not None:
            now = copies(page, collections)
            tell(known, now)
            known = now
            if ready and not synced:
                synced = True
                for collection in collections:
                    say(collection, "synced")
        time.sleep(0.05)
    sys.exit(f"fairlead ended with {fairlead.returncode}")


if __name__ == "__main__":
    main()
