"""An external authorizer for tests: `authorizer.py PORT` allows requests with the header `x-pass: yes`, and tells the application so."""
import http.server
import os
import signal
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        allowed = self.headers.get("x-pass") == "yes" or self.path == "/ready"
        self.send_response(200 if allowed else 403)
        self.send_header("x-authorized-by", "authorizer")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
