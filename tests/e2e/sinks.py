#!/usr/bin/env python3
"""Small servers that keep what they are sent, for tests; Python's standard library only.

  sinks.py grpc PORT NAME FILE   gRPC: answers every unary call with a message NAME; what streams bring is appended to FILE
  sinks.py http PORT FILE        HTTP/1.1: answers 202; each request's line and body are appended to FILE
  sinks.py echo PORT NAME        HTTP/1.1: answers NAME and the path that was asked for
  sinks.py tls PORT NAME CERT KEY   HTTPS: answers NAME

HTTP/2 is what gRPC needs of it: https://www.rfc-editor.org/rfc/rfc9113; header blocks are passed over, answers' are
literals without a table (RFC 7541, 6.2.2).
"""
import asyncio
import http.server
import ssl
import struct
import sys

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def header_block(**headers):
    out = b""
    for name, value in headers.items():
        name = name.replace("__", ":").replace("_", "-").encode()
        out += b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value.encode()
    return out


async def serve_grpc(port, name, path):
    sink = open(path, "ab", buffering=0)

    async def handle(reader, writer):
        try:
            await reader.readexactly(PREFACE)
            writer.write(frame(SETTINGS, 0, 0))
            while True:
                head = await reader.readexactly(9)
                size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                stream = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                payload = await reader.readexactly(size)
                if kind == SETTINGS and not flags & ACK:
                    writer.write(frame(SETTINGS, ACK, 0))
                elif kind == PING and not flags & ACK:
                    writer.write(frame(PING, ACK, 0, payload))
                elif kind == DATA:
                    sink.write(payload)
                    if size:
                        for one in (0, stream):
                            writer.write(frame(WINDOW_UPDATE, 0, one, struct.pack("!I", size)))
                if kind in (DATA, HEADERS) and flags & END_STREAM:
                    body = name.encode()
                    writer.write(frame(HEADERS, END_HEADERS, stream,
                                       header_block(__status="200", content_type="application/grpc")))
                    writer.write(frame(DATA, 0, stream, b"\x00" + struct.pack("!I", len(body)) + body))
                    writer.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, header_block(grpc_status="0")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "0.0.0.0", port) as server:
        await server.serve_forever()


def http_handler(answer, status=200):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def read_body(self):
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("content-length", 0)))
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def do_GET(self):
            body = self.read_body()
            out = answer(self, body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    return Handler


def serve_http(port, handler, certificate=None):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


def main():
    what, port, *rest = sys.argv[1:]
    if what == "grpc":
        asyncio.run(serve_grpc(int(port), *rest))
    elif what == "http":
        sink = open(rest[0], "ab", buffering=0)

        def keep(request, body):
            sink.write(request.requestline.encode() + b"\n" + body + b"\n")
            return ""
        serve_http(int(port), http_handler(keep, 202))
    elif what == "echo":
        serve_http(int(port), http_handler(lambda request, _: f"{rest[0]} {request.path}"))
    elif what == "tls":
        serve_http(int(port), http_handler(lambda *_: rest[0]), rest[1:3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
