#!/usr/bin/env python3
"""A mesh that one Fairlead serves and another consumes: a server for tools/conformance.py.

  through_mcp.py FAIRLEAD CONFIG PORT [--protocol=delta] [FLAG...]

Objects of Kubernetes' own kinds are read from a folder, all others over MCP from a process that has all of CONFIG. FLAGs are the consumer's.
"""
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CORE = {"Service", "Pod", "Node", "Namespace", "EndpointSlice", "Secret", "ConfigMap", "ServiceAccount", "Ingress", "IngressClass", "List"}


def is_core(document):
    kind = re.search(r"^\s*kind:\s*(\w+)", document, re.M) or re.search(r"[{,]\s*kind:\s*(\w+)", document)
    return kind is None or kind.group(1) in CORE


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main(fairlead, config, port, *flags):
    protocol = [flag.removeprefix("--") for flag in flags if flag.startswith("--protocol=")] or ["protocol=sotw"]
    core = pathlib.Path(tempfile.mkdtemp(prefix="through-mcp-"))
    for file in pathlib.Path(config).glob("*.yaml"):
        documents = re.split(r"^---.*$", file.read_text(), flags=re.M)
        (core / file.name).write_text("\n---\n".join(document for document in documents if is_core(document)))
    served = free_port()
    common = [fairlead, "discovery", "--httpAddr=", "--httpsAddr=", "--secureGRPCAddr=", "--monitoringAddr=", "--stateDir="]
    server = subprocess.Popen([*common, f"--configDir={config}", f"--grpcAddr=127.0.0.1:{served}"], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    while server.poll() is None and socket.socket().connect_ex(("127.0.0.1", served)) != 0:
        time.sleep(0.02)
    source = f"--configSource=xds://127.0.0.1:{served}?{protocol[0]}"
    consumer = subprocess.Popen([*common, f"--configDir={core}", source, f"--grpcAddr=127.0.0.1:{port}",
                                 *(flag for flag in flags if not flag.startswith("--protocol="))])
    signal.signal(signal.SIGTERM, lambda *_: consumer.terminate())
    signal.signal(signal.SIGINT, lambda *_: consumer.terminate())
    try:
        return consumer.wait()
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(core, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
