"""A way to an API server on which a test lets storms break out: every request is refused with one status, or answered late.

    with Storm(server) as way:
        FairleadProcess(way.kubeconfig)
        way.begin(429, retry_after=1)
        way.end()
        way.refused   # how many requests were
    way.delay = 1 # seconds before each request goes on
"""
import http.client
import http.server
import json
import pathlib
import socket
import ssl
import threading
import time
import urllib.parse

HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Storm:
    def __init__(self, server):
        self.server, self.status, self.retry_after, self.refused, self.delay = server, 0, None, 0, 0
        config = json.loads(pathlib.Path(server.kubeconfig).read_text())
        self.token = config["users"][0]["user"]["token"]
        self.api = urllib.parse.urlsplit(config["clusters"][0]["cluster"]["server"])
        self.open, self.lock = set(), threading.Lock()
        storm = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                storm.answer(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.http.server_address[1]}"}
        path = server.dir / "storm.kubeconfig"
        path.write_text(json.dumps(config))
        self.kubeconfig = str(path)

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.cut()

    def begin(self, status, retry_after=None):
        """From now on, and what runs is cut."""
        self.status, self.retry_after, self.refused = status, retry_after, 0
        self.cut()

    def end(self):
        self.status = 0

    def cut(self):
        with self.lock:
            for one in self.open:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def answer(self, client):
        body = client.rfile.read(int(client.headers.get("Content-Length", 0)))
        if self.status:
            self.refused += 1
            return self.refuse(client)
        time.sleep(self.delay)
        with self.lock:
            self.open.add(client.connection)
        try:
            self.forward(client, body)
        except (OSError, http.client.HTTPException):
            client.close_connection = True
        finally:
            with self.lock:
                self.open.discard(client.connection)

    def refuse(self, client):
        text = json.dumps({"kind": "Status", "apiVersion": "v1", "code": self.status, "message": "storm"}).encode()
        client.send_response(self.status)
        if self.retry_after:
            client.send_header("Retry-After", str(self.retry_after))
        client.send_header("Content-Length", str(len(text)))
        client.end_headers()
        client.wfile.write(text)

    def forward(self, client, body):
        upstream = http.client.HTTPSConnection(self.api.hostname, self.api.port, context=ssl._create_unverified_context())
        try:
            headers = {k: v for k, v in client.headers.items() if k.lower() not in HOP | {"host", "accept-encoding"}}
            upstream.request(client.command, client.path, body or None, {**headers, "Authorization": f"Bearer {self.token}"})
            answer = upstream.getresponse()
            client.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in HOP:
                    client.send_header(key, value)
            client.send_header("Transfer-Encoding", "chunked")
            client.end_headers()
            while piece := answer.read1(65536):
                client.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                client.wfile.flush()
            client.wfile.write(b"0\r\n\r\n")
        finally:
            upstream.close()
