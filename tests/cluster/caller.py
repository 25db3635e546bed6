"""A client under load for tests: `caller.py URL` asks twenty times a second, and says what failed. SIGTERM ends it after the request
that runs.

Each line of its output is JSON: {"asked": N} once a second, and {"failed": WHY} for each answer that is none with status 200.
"""
import http.client
import json
import signal
import sys
import time
import urllib.parse

ending = []
signal.signal(signal.SIGTERM, lambda *_: ending.append(True))
url = urllib.parse.urlsplit(sys.argv[1])
connection, asked, said = None, 0, time.monotonic()


def say(**what):
    print(json.dumps(what), flush=True)


while not ending:
    connection = connection or http.client.HTTPConnection(url.hostname, url.port or 80, timeout=10)
    try:
        connection.request("GET", url.path or "/")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            say(failed=f"{answer.status} {body[:200].decode(errors='replace')}", at=time.time())
    except (OSError, http.client.HTTPException) as error:
        say(failed=f"{type(error).__name__}: {error}", at=time.time())
        connection.close()
        connection = None
    asked += 1
    if connection and asked % 10 == 0:  # new connections and kept ones
        connection.close()
        connection = None
    if time.monotonic() - said > 1:
        say(asked=asked)
        said = time.monotonic()
    time.sleep(0.05)
say(asked=asked, ended=True)
