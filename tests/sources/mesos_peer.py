#!/usr/bin/env python3
"""A master of Mesos's, as far as the source asks it: tasks "run" as soon as they are launched, on agents that are not there.

  mesos_peer.py --ip=127.0.0.1 --port=5050 [--work_dir=FOLDER] [--http_credentials USER:PASSWORD] [--leader HOST:PORT]

Written from the documents of github.com/apache/mesos, as no Mesos can be had: docs/operator-http-api.md (SUBSCRIBE, Events),
docs/recordio.md, include/mesos/v1/master/master.proto, include/mesos/v1/mesos.proto, src/master/http.cpp (redirects). A framework of the
peer's own launches tasks: POST /launch with TaskInfos, POST /kill with {"id": ID}. Faults for tests are under /faults.
"""
import argparse
import base64
import http.server
import json
import threading

FRAMEWORK = {"framework_info": {"id": {"value": "F-0"}, "name": "aurora", "user": "root"}, "active": True, "connected": True}
OTHER = {"framework_info": {"id": {"value": "F-1"}, "name": "marathon", "user": "root"}, "active": True, "connected": True}


def agent(number):
    return {"agent_info": {"id": {"value": f"S-{number}"}, "hostname": f"agent-{number}.example.com"}, "active": True, "version": "1.11.0",
            "pid": f"slave(1)@10.0.0.{number}:5051"}


class Master:
    def __init__(self):
        self.lock = threading.Condition()
        self.tasks, self.agents, self.frameworks = {}, {}, [FRAMEWORK, OTHER]
        self.events, self.epoch, self.next = [], 0, 0
        self.leader, self.credentials, self.beats, self.interval, self.answers = None, None, True, 15.0, True

    def tell(self, kind, **fields):
        self.say(record({"type": kind, **fields}))

    def say(self, text):
        self.events.append(text)
        self.lock.notify_all()

    def launch(self, info):
        self.next += 1
        number = self.next
        self.agents[number] = agent(number)
        self.tell("AGENT_ADDED", agent_added={"agent": self.agents[number]})
        status = {"state": "TASK_RUNNING", "source": "SOURCE_EXECUTOR", "container_status": {"network_infos": [
            {"ip_addresses": [{"protocol": "IPv4", "ip_address": info.get("address", f"10.0.0.{number}")}]}]}}
        framework = FRAMEWORK if info.get("framework", "aurora") == "aurora" else OTHER
        task = {"name": info["name"], "task_id": {"value": info.get("id", f"{info['name']}.{number}")}, "state": "TASK_RUNNING",
                "framework_id": framework["framework_info"]["id"], "agent_id": {"value": f"S-{number}"}, "resources": [], "statuses": [status],
                **{key: info[key] for key in ("discovery", "labels", "container", "health_check") if key in info}}
        status["task_id"] = task["task_id"]
        self.tasks[task["task_id"]["value"]] = task
        self.tell("TASK_ADDED", task_added={"task": {**task, "state": "TASK_STAGING", "statuses": []}})
        self.update(task, status)
        return task

    def update(self, task, status):
        task["state"] = status["state"]
        task["statuses"] = [*task["statuses"][-1:], status]
        self.tell("TASK_UPDATED", task_updated={"framework_id": task["framework_id"], "state": status["state"], "status": status})

    def kill(self, task_id):
        task = self.tasks.pop(task_id)
        self.update(task, {"task_id": task["task_id"], "state": "TASK_KILLED"})

    def state(self):
        return {"type": "SUBSCRIBED", "subscribed": {"heartbeat_interval_seconds": self.interval, "get_state": {
            "get_tasks": {"tasks": list(self.tasks.values())}, "get_executors": {}, "get_frameworks": {"frameworks": self.frameworks},
            "get_agents": {"agents": list(self.agents.values())}}}}


def record(event):
    text = json.dumps(event)
    return f"{len(text.encode())}\n{text}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    master = Master()

    def log_message(self, *_):
        pass

    def answer(self, document, status=200, **headers):
        body = json.dumps(document).encode() if document is not None else b""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(None, 200 if self.path == "/health" else 404)

    def do_POST(self):
        m = self.master
        call = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        with m.lock:
            if self.path == "/launch":
                return self.answer([m.launch(info) for info in (call if isinstance(call, list) else [call])])
            if self.path == "/kill":
                return self.answer(m.kill(call["id"]))
            if self.path == "/faults":
                return self.fault(call)
        if self.path != "/api/v1":
            return self.answer(None, 404)
        wanted = "Basic " + base64.b64encode((m.credentials or "").encode()).decode()
        if m.credentials and self.headers.get("Authorization") != wanted:
            return self.answer(None, 401, **{"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'})
        if not m.answers:
            return self.answer("No leader elected", 503)
        if m.leader:
            return self.answer(None, 307, Location=f"//{m.leader}{self.path}")
        return self.stream() if call.get("type") == "SUBSCRIBE" else self.answer("not a call of this peer's", 400)

    def fault(self, call):
        m = self.master
        for name in ("leader", "answers", "beats", "interval"):
            setattr(m, name, call.get(name, getattr(m, name)))
        if "say" in call:
            m.say(call["say"])
            m.lock.wait(0.3)
        if call.get("drop"):
            m.epoch += 1
            m.lock.notify_all()
        if "status" in call:
            task = m.tasks[call["id"]]
            m.update(task, {"task_id": task["task_id"], **call["status"]})
        return self.answer({})

    def stream(self):
        m = self.master
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        with m.lock:
            epoch, at = m.epoch, len(m.events)
            due = record(m.state()) + record({"type": "HEARTBEAT"})
        while True:
            if due:
                self.wfile.write(f"{len(due.encode()):x}\r\n{due}\r\n".encode())
                self.wfile.flush()
            with m.lock:
                m.lock.wait_for(lambda: m.epoch != epoch or at < len(m.events), timeout=0.2)
                if m.epoch != epoch:
                    return None
                due = "".join(m.events[at:])
                at = len(m.events)
                due = due or (record({"type": "HEARTBEAT"}) if m.beats else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ip", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5050)
    parser.add_argument("--work_dir")
    parser.add_argument("--http_credentials")
    parser.add_argument("--leader")
    options = parser.parse_args()
    Handler.master.credentials, Handler.master.leader = options.http_credentials, options.leader
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer((options.ip, options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
