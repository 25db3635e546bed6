"""Who asks, by chance: identities, addresses, tokens and what else a case's policies look at, as flags of `fairlead simulate`."""
import re
import time


def listed(text, field):
    """The values of a field that is a list of words, in either of YAML's two ways to write one."""
    found = []
    for flow in re.findall(rf"\b{field}: *\[([^\]]*)\]", text):
        found += flow.split(",")
    for block in re.findall(rf"\b{field}: *\n((?:\s*- [^\n{{:]*\n)+)", text):
        found += re.findall(r"- (.*)", block)
    return sorted({one.strip().strip("\"'") for one in found} - {""})


def spelled(pattern):
    """A value that the pattern of a policy may mean."""
    return pattern.replace("*", "any")


class Identities:
    def __init__(self, text, issuer):
        self.issuer = issuer
        self.has_policies = "kind: AuthorizationPolicy" in text or "kind: RequestAuthentication" in text
        words = lambda *fields: sorted({v for f in fields for v in listed(text, f)})
        values = words("values", "notValues")
        self.accounts = self.identities(text, words("namespaces", "notNamespaces", "serviceAccounts") + values)
        self.addresses = sorted(set(re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text))) + ["203.0.113.7"]
        self.methods = sorted(m for m in words("methods", "notMethods") if m.isalpha()) + ["DELETE"]
        headers = re.findall(r"request\.headers\[([\w-]+)\]", text)
        self.headers = sorted({h for h in headers if h.lower() != "host"})
        self.values = [spelled(v) for v in values if re.fullmatch(r"[\w.*/@-]+", v)] + ["nothing"]
        self.issuers = re.findall(r"\bissuer: \"?([^\s\",}]+)", text)
        self.subjects = ["me"] + [spelled(p.rpartition("/")[2]) for p in words("requestPrincipals", "notRequestPrincipals")]
        self.audiences = words("audiences") + ["someone"]
        self.claims = sorted({tuple(re.findall(r"\[([^\]]+)\]", c)) for c in re.findall(r"request\.auth\.claims((?:\[[^\]]+\])+)", text)})
        names = lambda field: re.findall(rf"\b{field}:.*?name: \"?([\w-]+)", text, re.S)
        self.from_headers = re.findall(r"name: \"?([\w-]+)\"?, prefix: \"([^\"]*)\"", text)
        self.from_headers += [(n, "") for n in names("fromHeaders")] + [("Authorization", "Bearer ")] * 3
        self.from_params = listed(text, "fromParams") + ["access_token"]
        self.from_cookies = listed(text, "fromCookies")

    @staticmethod
    def identities(text, names):
        found = {spelled(p) for p in re.findall(r"[\w.*-]+/ns/[\w.*-]+/sa/[\w.*-]+", text)}
        for name in names:
            if re.fullmatch(r"[a-z][\w-]*", name):
                found |= {f"cluster.local/ns/{name}/sa/any", f"cluster.local/ns/any/sa/{name}", f"other.domain/ns/{name}/sa/any"}
            elif re.fullmatch(r"[a-z][\w-]*/[a-z][\w-]*", name):
                found.add("cluster.local/ns/{}/sa/{}".format(*name.split("/")))
        return sorted("spiffe://" + f for f in found)

    def token(self, rnd):
        """Of an issuer that is configured, or not; with claims that policies look at."""
        claims = {"iss": rnd.choice(self.issuers + ["https://nobody.example"]), "sub": rnd.choice(self.subjects),
                  "aud": rnd.sample(self.audiences, 1) if rnd.random() < 0.5 else rnd.choice(self.audiences)}
        if rnd.random() < 0.1:
            claims["exp"] = int(time.time()) - 3600
        for path in rnd.sample(self.claims, min(len(self.claims), rnd.choice([0, 1, 2]))):
            inner = claims
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            if isinstance(inner, dict):
                value = rnd.choice(self.values)
                inner[path[-1]] = rnd.choice([value, [value, "more"], f"{value} more"])
        text = self.issuer.token(claims)
        return text if rnd.random() < 0.95 else text.rpartition(".")[0]

    def flags(self, rnd, keep_method):
        """Flags of a call, and a query to add to its path."""
        flags, query = [], ""
        if self.accounts and rnd.random() < 0.6:
            flags.append(f"--as {rnd.choice(self.accounts)}")
        if rnd.random() < 0.4:
            flags.append(f"--source {rnd.choice(self.addresses)}")
        if rnd.random() < 0.2:
            flags.append(f"-H 'x-forwarded-for: {rnd.choice(self.addresses)}'")
        if not keep_method and rnd.random() < 0.4:
            flags.append(f"-X {rnd.choice(self.methods)}")
        for name in rnd.sample(self.headers, min(len(self.headers), rnd.choice([0, 1, 2]))):
            flags.append(f"-H '{name}: {rnd.choice(self.values)}'")
        if self.issuers and rnd.random() < 0.7:
            place, token = rnd.random(), self.token(rnd)
            if place < 0.75:
                name, prefix = rnd.choice(self.from_headers)
                flags.append(f"-H '{name}: {prefix}{token}'")
            elif place < 0.9 or not self.from_cookies:
                query = f"?{rnd.choice(self.from_params)}={token}"
            else:
                flags.append(f"-H 'cookie: {rnd.choice(self.from_cookies)}={token}'")
        return flags, query
