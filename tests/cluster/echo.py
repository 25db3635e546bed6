"""An HTTP server for tests that says who it is: `echo.py PORT` answers each request with JSON of its pod, and with a 2xx of
its own at /status/CODE."""
import http.server
import json
import os
import signal
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        code = int(self.path.rsplit("/", 1)[1]) if self.path.startswith("/status/") else 200
        body = json.dumps({"pod": os.environ.get("POD_NAME", ""), "namespace": os.environ.get("NAMESPACE", ""), "path": self.path,
                           "headers": dict(self.headers)}).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# As process 1 of its container it would not end otherwise.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
