#!/usr/bin/env python3
"""Stands in for Envoy: its administration port, and its way with standard output and error.

The folder FAKE_ENVOY says how: `ready` is there when it is live; `write` has how many lines it writes to /dev/stdout, which
it opens as an access log does; `wrote` is made when it has. `signals` is what came, `pid` its process.
"""
import http.server
import json
import os
import pathlib
import signal
import sys
import threading

FOLDER = pathlib.Path(os.environ["FAKE_ENVOY"])
BOOTSTRAP = json.loads(pathlib.Path(sys.argv[sys.argv.index("-c") + 1]).read_text())
LINE = "%07d 200 GET /some/path which is as long as a line of an access log may well be: " + 60 * "x" + "\n"


class Admin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        ready = (FOLDER / "ready").exists()
        body = {"/ready": "LIVE\n" if ready else "PRE_INITIALIZING\n",
                "/init_dump": '{"unready_targets_dumps": [{"name": "init manager Server", "target_names": ["target LDS"]}]}',
                "/stats": "cluster_manager.cds.update_success: 1\nlistener_manager.lds.update_success: 12\n"
                }.get(self.path.split("?")[0], "OK\n").encode()
        self.send_response(200 if ready or self.path != "/ready" else 503)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def note(number, _):
    with open(FOLDER / "signals", "a") as log:
        log.write(f"{number}\n")
    if number == signal.SIGTERM:
        os._exit(0)


def write_lines():
    try:
        with open(os.open("/dev/stdout", os.O_WRONLY | os.O_CREAT | os.O_APPEND), "w") as out:
            for number in range(int((FOLDER / "write").read_text())):
                out.write(LINE % number)
    except OSError as e:
        print(f"unable to open file '/dev/stdout': {e.strerror}", file=sys.stderr, flush=True)
    (FOLDER / "wrote").touch()


for one in (signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM):
    signal.signal(one, note)
address = BOOTSTRAP["admin"]["address"]["socket_address"]
server = http.server.ThreadingHTTPServer((address["address"], address["port_value"]), Admin)
server.daemon_threads = True
print("an Envoy that is none", file=sys.stderr, flush=True)
(FOLDER / "pid").write_text(str(os.getpid()))
threading.Thread(target=server.serve_forever, daemon=True).start()
if (FOLDER / "write").exists():
    write_lines()
while True:
    signal.pause()
