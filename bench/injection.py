#!/usr/bin/env python3
"""How long pods wait for the injection webhook: starts discovery with the configuration of a case and asks at a steady rate.

  injection.py --fairlead build/fairlead --load build/tools/injectload [--case DIR] [--rate 300] [--seconds 10]

Prints the load's line; exit 1 if a pod is refused, or 99 in 100 answers take longer than 20 ms.
"""
import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, server):
    for _ in range(200):
        if server.poll() is not None:
            sys.exit("the server ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("the webhook did not open")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--fairlead", required=True)
    p.add_argument("--load", required=True)
    p.add_argument("--case", default=str(ROOT / "tests/injection/cases/probes-named-port-missing"))
    p.add_argument("--rate", type=int, default=300)
    p.add_argument("--seconds", type=int, default=10)
    o = p.parse_args()
    case, port = pathlib.Path(o.case), free_port()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mesh", "inject"):
            os.mkdir(f"{folder}/{name}")
        shutil.copy(case / "injector.yaml", f"{folder}/inject/config")
        shutil.copy(case / "values.yaml", f"{folder}/inject/values")
        pathlib.Path(f"{folder}/mesh/namespace.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: market}\n")
        server = subprocess.Popen(
            [o.fairlead, "discovery", f"--configDir={folder}/mesh", "--meshConfig=", "--networksConfig=", "--grpcAddr=127.0.0.1:0",
             "--secureGRPCAddr=", "--httpAddr=", "--monitoringAddr=", "--ctrlz_port=0", f"--httpsAddr=127.0.0.1:{port}",
             f"--injectionDirectory={folder}/inject", f"--stateDir={folder}/state"], stdout=subprocess.DEVNULL)
        try:
            wait_for(port, server)
            time.sleep(1)  # the configuration is read
            load = [o.load, "--url", f"https://127.0.0.1:{port}/inject", "--review", str(case / "review.json")]
            subprocess.run([*load, "--rate", "20", "--seconds", "1"], stdout=subprocess.DEVNULL)
            return subprocess.run([*load, "--rate", str(o.rate), "--seconds", str(o.seconds)]).returncode
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
