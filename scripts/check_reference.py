#!/usr/bin/env python3
"""Checks that docs/flags.md and docs/metrics.md say what `fairlead discovery` takes and shows, all of it and nothing else.

  check_reference.py FAIRLEAD ROOT

Flags are those of `discovery --help`, variables those of `environment`, metrics those of a running server that a client
has polled and rejected something from, on loopback. A variable that changes what proxies are sent has a case or a test.
"""
import glob, http.server, json, os, re, socket, subprocess, sys, tempfile, threading, time, urllib.error, urllib.request

FLAG = re.compile(r"`(-[-\w]+)`")
METRIC = re.compile(r"`([a-z]\w*)(?:\{[\w,]+\})?`")
NODE = "sidecar~10.1.0.9~client.shop~shop.svc.cluster.local"


def rows(text):
    """The cells of all tables' rows but their heads."""
    lines = text.splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line, following in zip(lines, lines[1:] + [""])
            if line.startswith("|") and not line.startswith("|--") and not following.startswith("|--")]


def differences(what, documented, real):
    return [f"{what} {name} is not documented" for name in sorted(real - documented)] + \
           [f"{what} {name} is documented, but there is none" for name in sorted(documented - real)]


def flags(help_text):
    names = set()
    for words in re.findall(r"^  (-\S+)", help_text, re.M):
        names |= set(words.split(","))
    return names - {"-h", "--help"}


def variables(text):
    return dict(re.findall(r"^([A-Z]\w*)=(.*)$", text, re.M))


def check_flags(page, help_text, environment_text):
    discovery = page.split("\n## ")[0]
    table = rows(discovery)
    documented = {name for row in table for name in FLAG.findall(row[0])}
    problems = differences("flag", documented, flags(help_text))
    real = variables(environment_text)
    written = {m[1]: row[1] for row in table if (m := re.fullmatch(r"`([A-Z]\w*)`", row[0]))}
    problems += differences("variable", set(written), set(real))
    for name in sorted(set(written) & set(real)):
        if written[name].strip("`") != real[name]:
            problems.append(f"variable {name}: the default is {real[name]!r}, documented is {written[name]!r}")
    return problems


def check_istiod(page, environment_text):
    """The table of istiod's other variables: name, its default, what becomes of it here."""
    said = {(m[1], m[2], f"{m[3]}: {m[4]}") for m in
            re.finditer(r"^  ([A-Z]\w*) \((.*?)\) (without meaning here|not honoured): (.*)$", environment_text, re.M)}
    section = page.partition("\n## istiod's other variables\n")[2].split("\n## ")[0]
    written = {(row[0].strip("`"), row[1].strip("`"), row[2]) for row in rows(section)}
    return differences("istiod's variable", {" ".join(row) for row in written}, {" ".join(row) for row in said})


SETTINGS = "\n### Variables that change what proxies are sent\n"
CASE, TEST = re.compile(r"`(environment/[-\w]+)`"), re.compile(r"`(\w+)\.(\w+)`")


def check_cases(page, root):
    """Each variable that changes what proxies are sent names a conformance case that sets it, or a test that there is."""
    problems, named = [], set()
    tests = "".join(open(f, encoding="utf-8").read()
                    for f in glob.glob(os.path.join(root, "src", "**", "*_test.cc"), recursive=True))
    for row in rows(page.partition(SETTINGS)[2].split("\n## ")[0]):
        name = row[0].strip("`")
        for case in CASE.findall(row[3]):
            named.add((case, name))
            path = os.path.join(root, "tests", "conformance", case, "env")
            if not os.path.exists(path) or f"\n{name}=" not in "\n" + open(path, encoding="utf-8").read():
                problems.append(f"variable {name}: {case} does not set it")
        for suite, test in TEST.findall(row[3]):
            if not re.search(rf"TEST(_F)?\({suite}, {test}\)", tests):
                problems.append(f"variable {name}: there is no test {suite}.{test}")
        if not CASE.search(row[3]) and not TEST.search(row[3]):
            problems.append(f"variable {name} has neither case nor test")
    for path in glob.glob(os.path.join(root, "tests", "conformance", "environment", "*", "env")):
        case = f"environment/{os.path.basename(os.path.dirname(path))}"
        with open(path, encoding="utf-8") as f:
            problems += [f"{case} sets {line.split('=')[0]}, whose row does not name it" for line in f
                         if (case, line.split("=")[0]) not in named]
    return problems


def families(exposition):
    return set(re.findall(r"^# TYPE (\S+) ", exposition, re.M))


MAPPING = "\n## In place of istiod's metrics\n"


def check_metrics(page, exposition):
    """Of the section that maps istiod's metrics to others the right column counts, and must be documented elsewhere, too."""
    ours, _, rest = page.partition(MAPPING)
    mapping, _, later = rest.partition("\n## ")
    documented = {name for row in rows(ours) + rows(later) for name in METRIC.findall(row[0])}
    problems = differences("metric", documented, families(exposition))
    for row in rows(mapping):
        problems += [f"metric {name} stands for {row[0]}, but there is none" for name in METRIC.findall(row[1])
                     if name not in families(exposition)]
    return problems

# An object for each metric that is there once something happened to such an object.
MESH = """
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: filter, namespace: istio-system}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, body=None):
    request = urllib.request.Request(url, data=body, headers={"x-envoy-expected-rq-timeout-ms": "200"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""
    except (urllib.error.URLError, ConnectionError):
        return 0, ""


class EmptyConsul(http.server.BaseHTTPRequestHandler):
    """A platform without objects, as far as the source of Consul asks."""

    def do_GET(self):
        if "index=" in self.path:
            time.sleep(60)
        body = b"{}" if self.path.startswith("/v1/catalog/") else b"[]"
        self.send_response(200)
        self.send_header("X-Consul-Index", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def exposition_of(fairlead):
    """The metrics of a server with a platform after one proxy asked for each type by REST, and rejected it."""
    platform = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyConsul)
    platform.daemon_threads = True
    threading.Thread(target=platform.serve_forever, daemon=True).start()
    web, monitoring, grpc = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "mesh.yaml"), "w", encoding="utf-8") as f:
            f.write(MESH)
        server = subprocess.Popen(
            [fairlead, "discovery", "--configDir", folder, f"--configSource=consul://127.0.0.1:{platform.server_port}", "--meshConfig=", "--networksConfig=",
             f"--grpcAddr=127.0.0.1:{grpc}", "--secureGRPCAddr=127.0.0.1:0", "--httpsAddr=", "--httpAddr",
             f"127.0.0.1:{web}", f"--monitoringAddr=127.0.0.1:{monitoring}", "--stateDir",
             os.path.join(folder, "state")], stdout=subprocess.DEVNULL,
            env=os.environ | {"FAIRLEAD_CA_DIR": os.path.join(folder, "ca")})
        try:
            while server.poll() is None and get(f"http://127.0.0.1:{web}/ready")[0] != 200:
                time.sleep(0.02)
            for kind, names in ("clusters", []), ("endpoints", ["c"]), ("listeners", []), ("routes", ["80"]):
                request = {"node": {"id": NODE}, "resourceNames": names, "errorDetail": {"code": 13, "message": "no"}}
                get(f"http://127.0.0.1:{web}/v3/discovery:{kind}", json.dumps(request).encode())
            return get(f"http://127.0.0.1:{monitoring}/metrics")[1]
        finally:
            server.terminate()
            server.wait()


def main():
    fairlead, root = sys.argv[1:]

    def said(*words):
        return subprocess.run([fairlead, *words], capture_output=True, text=True, check=True).stdout

    def page(name):
        with open(os.path.join(root, "docs", name), encoding="utf-8") as f:
            return f.read()

    problems = check_flags(page("flags.md"), said("discovery", "--help"), said("environment"))
    problems += check_istiod(page("flags.md"), said("environment"))
    problems += check_cases(page("flags.md"), root)
    problems += check_metrics(page("metrics.md"), exposition_of(fairlead))
    print("\n".join(problems) or "flags, variables and metrics are as documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
