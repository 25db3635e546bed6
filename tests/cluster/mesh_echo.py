"""The server of a workload of the mesh, as the Gateway API's conformance suite starts it: `mesh_echo.py --port=8080 --grpc=7070 ...`.

The suite's image for it is not to be had as a Go module. So its basic server, /echo, runs once for each port of HTTP and of gRPC. Ports for
TCP and TLS, which no test asks, stay closed. Without flags the ports are those of the image.
"""
import os
import signal
import subprocess
import sys


def environments(words):
    """What each server gets, by the flags."""
    who = {**os.environ, "POD_NAME": os.uname().nodename}
    flags = [word.removeprefix("--").partition("=")[::2] for word in words]
    tls = {value for name, value in flags if name == "tls"}
    spare = 13000  # a server of HTTP has a port of HTTP/2 besides
    for name, value in flags:
        spare += 1
        if name == "port" and value not in tls:
            yield {**who, "HTTP_PORT": value, "H2C_PORT": str(spare)}
        if name == "grpc":
            yield {**who, "GRPC_ECHO_SERVER": "1", "HTTP_PORT": value}


# As process 1 of its container it would not end otherwise.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
servers = [subprocess.Popen(["/echo"], env=environment) for environment in environments(sys.argv[1:] or ["--port=8080", "--grpc=7070"])]
os.wait()
sys.exit("a server has ended")
