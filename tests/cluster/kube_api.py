"""A small client of a Kubernetes API server for tests: requests, objects by their kind, watches. One thread each."""
import base64
import http.client
import json
import ssl
import tempfile
import urllib.parse

import yaml


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast


def documents(path):
    """The documents of a YAML file that hold something."""
    with open(path, encoding="utf-8") as f:
        return [d for d in yaml.load_all(f.read().replace("\t", " "), Loader=LOADER) if d]


class ApiError(Exception):
    """An answer other than those that were asked for."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class KubeApi:
    def __init__(self, kubeconfig, timeout=60):
        config = documents(kubeconfig)[0]
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(cluster["server"])
        self.user = user
        self.tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile() as pair:
                pair.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
                pair.flush()
                self.tls.load_cert_chain(pair.name)
        self.timeout, self.connection, self.kinds = timeout, None, {}

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def forget_kinds(self):
        self.kinds = {}

    def _headers(self):
        """A token of a file is read for each request, as it is replaced now and then."""
        token = self.user.get("token")
        if "tokenFile" in self.user:
            with open(self.user["tokenFile"], encoding="utf-8") as f:
                token = f.read().strip()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _connect(self, timeout=None):
        return http.client.HTTPSConnection(self.address.hostname, self.address.port, timeout=timeout or self.timeout, context=self.tls)

    def call(self, method, path, body=None, content_type="application/json", also=()):
        """Status and JSON of an answer; one that is no success and not in `also` is an ApiError."""
        self.connection = self.connection or self._connect()
        data = None if body is None else json.dumps(body, default=str)
        try:
            self.connection.request(method, path, data, {**self._headers(), "Content-Type": content_type})
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.status >= 300 and answer.status not in also:
            raise ApiError(answer.status, f"{method} {path}: {text[:500].decode(errors='replace')}")
        if "json" not in answer.getheader("Content-Type", ""):
            return answer.status, text.decode(errors="replace")
        return answer.status, json.loads(text)

    def get(self, path):
        return self.call("GET", path)[1]

    def watch(self, path, seconds=10, **query):
        """The events of a watch, until the server ends it or nothing came for that long."""
        connection = self._connect(seconds)
        try:
            connection.request("GET", f"{path}?{urllib.parse.urlencode({'watch': 'true', **query})}", headers=self._headers())
            answer = connection.getresponse()
            if answer.status != 200:
                raise ApiError(answer.status, answer.read()[:500].decode(errors="replace"))
            for line in answer:
                yield json.loads(line)
        except TimeoutError:
            return
        finally:
            connection.close()

    def _kind(self, api_version, kind):
        """(plural, namespaced) of a kind, as discovery says it."""
        if api_version not in self.kinds:
            base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            status, found = self.call("GET", base, also=(404,))
            self.kinds[api_version] = {r["kind"]: (r["name"], r["namespaced"]) for r in found.get("resources", ())
                                       if "/" not in r["name"]} if status == 200 else {}
        if kind not in self.kinds[api_version]:
            del self.kinds[api_version]
            raise ApiError(404, f"the server knows no {api_version} {kind}")
        return self.kinds[api_version][kind]

    def namespaced(self, obj):
        return self._kind(obj["apiVersion"], obj["kind"])[1]

    def path(self, obj, collection=False):
        """Where an object is, or the collection that it belongs to."""
        plural, namespaced = self._kind(obj["apiVersion"], obj["kind"])
        base = f"/apis/{obj['apiVersion']}" if "/" in obj["apiVersion"] else f"/api/{obj['apiVersion']}"
        space = f"/namespaces/{obj['metadata'].get('namespace') or 'default'}" if namespaced else ""
        return f"{base}{space}/{plural}" + ("" if collection else "/" + obj["metadata"]["name"])

    def create(self, obj, replace=False):
        """Creates an object, its status too; with replace one that is there already gets the new fields."""
        status, made = self.call("POST", self.path(obj, collection=True), obj, also=(409,))
        if status == 409:
            if not replace:
                raise ApiError(409, f"{obj['kind']} {obj['metadata']['name']} is there already")
            made = self.call("PATCH", self.path(obj), obj, "application/merge-patch+json")[1]
        if obj.get("status"):
            made["status"] = obj["status"]
            made = self.call("PUT", self.path(obj) + "/status", made)[1]
        return made

    def patch(self, obj, change):
        return self.call("PATCH", self.path(obj), change, "application/merge-patch+json")[1]

    def delete(self, obj):
        return self.call("DELETE", self.path(obj) + "?gracePeriodSeconds=0", also=(404,))[0]
