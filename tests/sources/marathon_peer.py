#!/usr/bin/env python3
"""A master of Marathon's, as far as the source asks it, without Mesos: tasks "run" as soon as they are launched.

  marathon_peer.py --http_port 8088 [--http_credentials USER:PASSWORD] [--leader HOST:PORT]

Written from the documents of github.com/mesosphere/marathon, as no Marathon can be had: docs/docs/rest-api/public/api/v2 (apps.raml,
pods.raml, events.raml, types/), docs/docs/event-bus.md, docs/docs/ssl-basic-access-authentication.md. Faults for tests are under /faults.
"""
import argparse
import base64
import datetime
import http.server
import json
import threading
import time


def now(ago=0):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Marathon:
    def __init__(self):
        self.lock = threading.Condition()
        self.apps, self.events, self.next = {}, [], 0  # events: (time at which they are sent, bytes)
        self.epoch, self.lag, self.leader, self.credentials, self.answers = 0, 0, None, None, True

    def tell(self, kind, **fields):
        """An event, later by the lag; the one of its change's time."""
        data = json.dumps({"eventType": kind, "timestamp": now(), **fields})
        self.events.append((time.monotonic() + self.lag, f"event: {kind}\r\ndata: {data}\r\n\r\n".encode()))
        self.lock.notify_all()

    def launch(self, app):
        self.next += 1
        number = self.next
        ports = app.get("portDefinitions") or (app.get("container") or {}).get("portMappings") or []
        mode = (app.get("networks") or [{"mode": "host"}])[0].get("mode", "container")
        mapped = [p for p in ports if mode != "container" or "hostPort" in p]
        task = {"id": f"{app['id'].strip('/').replace('/', '_')}.{number}", "appId": app["id"], "host": f"10.0.0.{number}",
                "ports": [31000 + index for index in range(len(mapped))], "state": "TASK_RUNNING", "version": app["version"],
                "stagedAt": now(), "startedAt": now(), "slaveId": "S0", "role": "*"}
        if mode == "container":
            task["ipAddresses"] = [{"ipAddress": f"9.0.0.{number}", "protocol": "IPv4"}]
        app["tasks"].append(task)
        self.tell("status_update_event", slaveId="S0", taskId=task["id"], taskStatus="TASK_RUNNING", message="", appId=app["id"],
                  host=task["host"], ports=task["ports"], version=app["version"])

    def kill(self, app, task):
        app["tasks"].remove(task)
        self.tell("status_update_event", slaveId="S0", taskId=task["id"], taskStatus="TASK_KILLED", message="", appId=app["id"],
                  host=task["host"], ports=task["ports"], version=app["version"])

    def update(self, app_id, definition):
        """Scales, or upgrades: new tasks come before old ones go."""
        app = self.apps.setdefault(app_id, {"id": app_id, "tasks": [], "labels": {}, "instances": 1, "deployments": []})
        upgrade = set(definition) - {"instances", "id"} and app["tasks"]
        app.update(definition)
        app["id"], app["version"] = app_id, now()
        old = list(app["tasks"]) if upgrade else []
        while len(app["tasks"]) - len(old) < app["instances"]:
            self.launch(app)
        for task in old + app["tasks"][len(old) + app["instances"]:]:
            self.kill(app, task)
        self.tell("deployment_success", id="d", plan={"id": "d", "steps": [{"actions": [{"action": "ScaleApplication", "app": app_id}]}]})
        return app


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    marathon = Marathon()

    def log_message(self, *_):
        pass

    def answer(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def refused(self):
        m = self.marathon
        if self.path.startswith("/faults"):
            return False
        if m.credentials and self.headers.get("Authorization") != "Basic " + base64.b64encode(m.credentials.encode()).decode():
            self.answer({"message": "Authentication required"}, 401)
            return True
        if not m.answers:
            self.answer({"message": "Could not determine the current leader"}, 502)
            return True
        return False

    def do_GET(self):
        if self.refused():
            return None
        path = self.path.split("?")[0]
        with self.marathon.lock:
            if path == "/v2/apps":
                return self.answer({"apps": list(self.marathon.apps.values())})
            if path.startswith("/v2/apps/"):
                app = self.marathon.apps.get(path.removeprefix("/v2/apps"))
                return self.answer({"app": app}) if app else self.answer({"message": "App does not exist"}, 404)
            if path == "/v2/pods::status":
                return self.answer([])
        return self.stream() if path == "/v2/events" else self.answer({"message": "no such thing"}, 404)

    def stream(self):
        m = self.marathon
        if m.leader:
            self.send_response(302)
            self.send_header("Location", f"http://{m.leader}{self.path}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream;charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b'event: event_stream_attached\r\ndata: {"eventType":"event_stream_attached"}\r\n\r\n')
        epoch, at = m.epoch, len(m.events)
        while True:
            with m.lock:
                m.lock.wait_for(lambda: m.epoch != epoch or at < len(m.events) and m.events[at][0] <= time.monotonic(), timeout=0.2)
                if m.epoch != epoch:
                    return None
                due = b""
                while at < len(m.events) and m.events[at][0] <= time.monotonic():
                    due += m.events[at][1]
                    at += 1
            self.wfile.write(due or b"\r\n")
            self.wfile.flush()

    def do_POST(self):
        definition = self.body()
        if self.refused():
            return None
        m = self.marathon
        with m.lock:
            if self.path == "/v2/apps":
                return self.answer(m.update(definition["id"], definition), 201)
            if self.path == "/faults":
                m.lag = definition.get("lag", m.lag)
                m.leader = definition.get("leader", m.leader)
                m.answers = definition.get("answers", m.answers)
                if "say" in definition:
                    m.events.append((0, definition["say"].encode()))
                    m.lock.notify_all()
                    m.lock.wait(0.3)
                if definition.get("drop"):
                    m.epoch += 1
                    m.lock.notify_all()
                for task_id, alive in definition.get("health", {}).items():
                    for app in m.apps.values():
                        for task in app["tasks"]:
                            if task["id"] == task_id:
                                task["healthCheckResults"] = [{"alive": alive, "consecutiveFailures": 0 if alive else 3}]
                                m.tell("health_status_changed_event", appId=app["id"], instanceId=task_id, alive=alive)
                return self.answer({})
        return self.answer({"message": "no such thing"}, 404)

    def do_PUT(self):
        definition = self.body()
        if self.refused():
            return None
        with self.marathon.lock:
            return self.answer(self.marathon.update(self.path.removeprefix("/v2/apps"), definition))

    def do_DELETE(self):
        if self.refused():
            return None
        m = self.marathon
        with m.lock:
            app = m.apps.pop(self.path.split("?")[0].removeprefix("/v2/apps"), None)
            if app is None:
                return self.answer({"message": "App does not exist"}, 404)
            for task in list(app["tasks"]):
                m.kill(app, task)
            m.tell("app_terminated_event", appId=app["id"])
            return self.answer({"version": now(), "deploymentId": "d"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--http_port", type=int, default=8080)
    parser.add_argument("--http_credentials")
    parser.add_argument("--leader")
    options = parser.parse_args()
    Handler.marathon.credentials, Handler.marathon.leader = options.http_credentials, options.leader
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer(("127.0.0.1", options.http_port), Handler).serve_forever()


if __name__ == "__main__":
    main()
