#!/usr/bin/env python3
"""Small real workloads for tests and the demo, Python's standard library only.

  apps.py http PORT NAME       HTTP/1.1 server: answers every request with NAME, "/wait/8" after 8 seconds, ".../by" with NAME and
                               what the request has as x-checked-by, ".../from" with NAME and the caller's address
  apps.py authorizer PORT NAME HTTP server that Envoys ask: 200 where the request has "x-pass: yes", else 403
  apps.py tcp PORT NAME        TCP server: sends "NAME " and then every line it gets
  apps.py dns PORT HOST=IP,IP… …  DNS server (UDP, TCP): A records; everything else does not exist
  apps.py ask SERVER NAME udp|tcp           one DNS query; prints the addresses in the answer, as JSON
  apps.py ask-often SERVER NAME SECONDS     DNS queries without a break, until SIGTERM at most; prints {"asked", "lost", "addresses"} as JSON
  apps.py get URL COUNT [HEADER=VALUE …]          requests over 4 connections; prints how often each answer came, as JSON
  apps.py load URL SECONDS RATE [HEADER=VALUE …]  a steady load, until SIGTERM at most; prints {"ok","failed","answers","errors","changes"} as JSON:
                               changes are [seconds since the epoch, answer] each time an answer not seen before comes
"""
import asyncio
import collections
import json
import re
import signal
import socket
import struct
import sys
import time
import urllib.parse


def allow_all(head):
    return True


def allow_who_passes(head):
    return b"\r\nx-pass: yes\r\n" in head.lower()


async def serve_http(port, name, allows=allow_all):
    async def handle(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next((int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length:")), 0)
                if length:
                    await reader.readexactly(length)
                if wait := re.match(rb"GET /wait/(\d+) ", head):
                    await asyncio.sleep(int(wait[1]))
                by = re.match(rb"GET \S*/by .*\r\nx-checked-by: ([^\r]*)", head, re.S | re.I)
                said = f"{name} {by[1].decode()}" if by else name
                if re.match(rb"GET \S*/from ", head):
                    said = f"{name} {writer.get_extra_info('peername')[0]}"
                status, body = ("200 OK", said) if allows(head) else ("403 Forbidden", f"{name} says no")
                writer.write(f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "0.0.0.0", port, backlog=512) as server:
        await server.serve_forever()


async def serve_tcp(port, name):
    async def handle(reader, writer):
        try:
            writer.write(name.encode() + b" ")
            while line := await reader.readline():
                writer.write(line)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "0.0.0.0", port, backlog=512) as server:
        await server.serve_forever()


MOST_UDP = 512  # bytes of an answer, without EDNS


def answer_dns(query, records, most):
    """A response to one query: A records where the name is known, else no such name (or no data for other types). A longer one than
    `most` is truncated to nothing."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    question_end = at + 5
    kind = struct.unpack("!H", query[at + 1:at + 3])[0]
    addresses = records.get(".".join(labels).lower())
    code = 0 if addresses else 3
    answers = [b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 5, 4) + socket.inet_aton(address)
               for address in (addresses or ()) if kind == 1]
    if question_end + 16 * len(answers) > most:
        code, answers = code | 0x200, []
    head = query[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(answers), 0, 0)
    return head + query[12:question_end] + b"".join(answers)


async def serve_dns(port, records):
    class Datagrams(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, query, peer):
            try:
                self.transport.sendto(answer_dns(query, records, MOST_UDP), peer)
            except (IndexError, struct.error, UnicodeDecodeError):
                pass  # not a query

    async def handle(reader, writer):
        try:
            query = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
            answer = answer_dns(query, records, 65535)
            writer.write(len(answer).to_bytes(2, "big") + answer)
            await writer.drain()
        except (asyncio.IncompleteReadError, IndexError, struct.error, UnicodeDecodeError, ConnectionError):
            pass
        writer.close()

    await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, local_addr=("0.0.0.0", port))
    async with await asyncio.start_server(handle, "0.0.0.0", port) as server:
        await server.serve_forever()


def dns_query(number, name):
    """A query for A records, with that id."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)


def dns_addresses(answer, query):
    """The addresses of an answer whose records have names of two bytes. Its question has the query's length."""
    at, addresses = len(query), []
    for _ in range(int.from_bytes(answer[6:8], "big")):
        kind, size = struct.unpack("!H", answer[at + 2:at + 4])[0], struct.unpack("!H", answer[at + 10:at + 12])[0]
        if kind == 1:
            addresses.append(socket.inet_ntoa(answer[at + 12:at + 12 + size]))
        at += 12 + size
    return addresses


def ask(server, name, transport):
    query = dns_query(7, name)
    kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as s:
        s.settimeout(10)
        s.connect((server, 53))
        if transport == "udp":
            s.send(query)
            return dns_addresses(s.recv(65535), query)
        s.sendall(len(query).to_bytes(2, "big") + query)
        stream = s.makefile("rb")
        return dns_addresses(stream.read(int.from_bytes(stream.read(2), "big")), query)


def ask_often(server, name, seconds, under_way=32):
    """Rounds of queries; a round ends with its last answer, or after two seconds without one."""
    asked = answered = 0
    addresses, stopped = collections.Counter(), []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect((server, 53))
        end = time.monotonic() + seconds
        while not stopped and time.monotonic() < end:
            waiting = {(asked + i) % 65536 for i in range(under_way)}
            for number in waiting:
                s.send(dns_query(number, name))
            asked += under_way
            try:
                while waiting:
                    answer = s.recv(4096)
                    number = int.from_bytes(answer[:2], "big")
                    if number in waiting:
                        waiting.remove(number)
                        answered += 1
                        addresses[",".join(dns_addresses(answer, dns_query(0, name)))] += 1
            except TimeoutError:
                pass
    return {"asked": asked, "lost": asked - answered, "addresses": addresses}


class Connection:
    """One keep-alive HTTP/1.1 connection."""

    def __init__(self, url, headers):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port or 80
        address = next((h.split("=", 1)[1] for h in headers if h.startswith("@connect=")), None)
        self.address = address or self.host
        extra = "".join("%s: %s\r\n" % tuple(h.split("=", 1)) for h in headers if not h.startswith("@"))
        authority = parts.netloc
        method = next((h.split("=", 1)[1] for h in headers if h.startswith("@method=")), "GET")
        self.request = f"{method} {parts.path or '/'} HTTP/1.1\r\nhost: {authority}\r\n{extra}\r\n".encode()
        self.reader = self.writer = None

    async def get(self):
        """The answer's body, or an error as text that starts with '!'."""
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection(self.address, self.port)
            self.writer.write(self.request)
            head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)).split(b"\r\n")
            fields = {k.strip().lower(): v.strip() for k, v in (l.split(b":", 1) for l in head[1:] if l)}
            body = await self.reader.readexactly(int(fields.get(b"content-length", b"0")))
            if fields.get(b"connection", b"").lower() == b"close":
                self.close()
            status = head[0].split()[1].decode()
            return body.decode() if status == "200" else f"!{status} {body.decode(errors='replace')[:80]}"
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError, IndexError) as e:
            self.close()
            return f"!{type(e).__name__} {e}"

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None


async def get(url, count, headers):
    answers = collections.Counter()

    async def worker(n):
        connection = Connection(url, headers)
        for _ in range(n):
            answers[await connection.get()] += 1
        connection.close()

    await asyncio.gather(*(worker(count // 4 + (i < count % 4)) for i in range(4)))
    return dict(answers)


async def load(url, seconds, rate, headers):
    result = {"ok": 0, "failed": 0, "answers": {}, "errors": {}, "changes": []}
    lanes = 4
    start = time.monotonic()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)

    async def lane(i):
        connection = Connection(url, headers)
        n = 0
        while not stopped.is_set() and (due := start + (n * lanes + i) / rate) < start + seconds:
            await asyncio.sleep(max(0, due - time.monotonic()))
            answer = await connection.get()
            n += 1
            bad = answer.startswith("!")
            result["failed" if bad else "ok"] += 1
            kind = result["errors" if bad else "answers"]
            if answer not in kind:
                result["changes"].append([time.time(), answer])
            kind[answer] = kind.get(answer, 0) + 1
        connection.close()

    await asyncio.gather(*(lane(i) for i in range(lanes)))
    return result


def main():
    what, *rest = sys.argv[1:]
    if what == "http":
        asyncio.run(serve_http(int(rest[0]), rest[1]))
    elif what == "authorizer":
        asyncio.run(serve_http(int(rest[0]), rest[1], allow_who_passes))
    elif what == "tcp":
        asyncio.run(serve_tcp(int(rest[0]), rest[1]))
    elif what == "dns":
        records = (r.lower().split("=") for r in rest[1:])
        asyncio.run(serve_dns(int(rest[0]), {host: addresses.split(",") for host, addresses in records}))
    elif what == "ask":
        print(json.dumps(ask(*rest)))
    elif what == "ask-often":
        print(json.dumps(ask_often(rest[0], rest[1], float(rest[2]))))
    elif what == "get":
        print(json.dumps(asyncio.run(get(rest[0], int(rest[1]), rest[2:]))))
    elif what == "load":
        print(json.dumps(asyncio.run(load(rest[0], float(rest[1]), float(rest[2]), rest[3:]))))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
