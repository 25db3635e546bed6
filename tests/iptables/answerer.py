"""Servers of a traffic test, in one process: each tells a client who answers and what the client wanted.

  answerer.py NAME USER SPEC…        prints "ready" once all are open

SPEC is tcp:PORT or tproxy:PORT, on all addresses, or udp:PORT@ADDRESS.

An answer is a line of JSON: {"who": NAME/SPEC, "wanted": [ADDRESS, PORT], "client": [ADDRESS, PORT]}; "wanted" is the destination before
it was redirected. A UDP answer has no "wanted".
"""
import json, os, selectors, socket, struct, sys

SO_ORIGINAL_DST, IP_TRANSPARENT, IPV6_TRANSPARENT = 80, 19, 75


def plain(address):
    return [address[0].removeprefix("::ffff:"), address[1]]


def wanted(connection):
    """The original destination: conntrack's, else with TPROXY the socket's own address."""
    try:
        if "." in connection.getpeername()[0]:
            raw = connection.getsockopt(socket.SOL_IP, SO_ORIGINAL_DST, 16)
            return [socket.inet_ntoa(raw[4:8]), struct.unpack("!H", raw[2:4])[0]]
        raw = connection.getsockopt(socket.IPPROTO_IPV6, SO_ORIGINAL_DST, 28)
        return [socket.inet_ntop(socket.AF_INET6, raw[8:24]), struct.unpack("!H", raw[2:4])[0]]
    except OSError:
        return plain(connection.getsockname())


def opened(spec):
    kind, _, port = spec.partition(":")
    if kind == "udp":
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((port.split("@")[1], int(port.split("@")[0])))
        return server
    server = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if kind == "tproxy":
        server.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)
        server.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
    server.bind(("::", int(port)))
    server.listen()
    return server


def main():
    name, user, *specs = sys.argv[1:]
    # A socket belongs to the user that opens it; only root may open a transparent one.
    servers = {spec: opened(spec) for spec in specs if spec.startswith("tproxy")}
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
    servers |= {spec: opened(spec) for spec in specs if spec not in servers}
    ready = selectors.DefaultSelector()
    for spec, server in servers.items():
        ready.register(server, selectors.EVENT_READ, spec)
    print("ready", flush=True)
    while True:
        for key, _ in ready.select():
            answer = {"who": f"{name}/{key.data.split('@')[0]}"}
            if key.data.startswith("udp"):
                _, client = key.fileobj.recvfrom(512)
                key.fileobj.sendto(json.dumps(answer).encode(), client)
                continue
            connection, client = key.fileobj.accept()
            with connection:
                original = plain(connection.getsockname()) if key.data.startswith("tproxy") else wanted(connection)
                connection.sendall(json.dumps({**answer, "wanted": original, "client": plain(client)}).encode() + b"\n")


if __name__ == "__main__":
    main()
