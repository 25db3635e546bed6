#!/usr/bin/env python3
"""Compares Fairlead with istiod's generators beyond the conformance cases: their nodes as other proxies (versions, families of addresses, DNS,
metadata), with other settings of the mesh and other variables; name tables too. beyond_variants.py has the tables.

  beyond.py RECORD… --cases DIR… --xdsdump PATH --server CMD   over the wire; CMD as for conformance.py
  beyond.py RECORD… --cases DIR… --corpus PROGRAM              in one process, by tests/corpus: faster
  beyond.py RECORD --cases DIR… --part FILE --keep CASE,…      writes the part of a record that is of these cases

A RECORD is what istiod sent (JSON, gzip): {"what": nodes|mesh|env, "pool": [resource as text], "entries": [[AREA/CASE, setting, node,
{kind: [index into pool]}, [[kind, name] that says nothing]]]}, and perhaps "cases": {AREA/CASE: {nodes, mesh}}, what the case's proxies.yaml and
mesh.yaml hold; without it PyYAML reads them. Resources that the generators send otherwise than the case's golden without any
setting (secrets, objects derived by a cluster) say nothing. --only: one variant or setting; --filter: cases; --show N: differences by form;
--least PERCENT: exit 1 below it.
"""
import argparse, base64, collections, concurrent.futures, copy, gzip, json, os, re, shlex, shutil, subprocess, sys, tempfile

import conformance
from beyond_variants import ENV, MESH, NODES


def read_record(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def read_yaml(path):
    """What a file holds; None where there is none."""
    import yaml  # records with "cases" need it not
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return yaml.safe_load(f)


def read_case(folder):
    return {"nodes": read_yaml(os.path.join(folder, "proxies.yaml")), "mesh": read_yaml(os.path.join(folder, "mesh.yaml"))}


def write_json(path, value):
    """JSON, which is YAML."""
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def case_name(folder):
    return "/".join(os.path.normpath(folder).split(os.sep)[-2:])


# --- Protocol buffers by hand: a name table's bytes, which xdsdump does not know

def fields(data):
    """(number, value) of each field of a message; lengths and varints alone."""
    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at
    at = 0
    while at < len(data):
        tag, at = varint(at)
        value, at = varint(at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def name_table(encoded):
    """A NameTable as JSON, of what xdsdump writes for it."""
    table, names = {}, {1: "ips", 2: "registry", 3: "shortname", 4: "namespace"}
    for _, entry in fields(base64.b64decode(encoded.get("@bytes") or "")):
        parts = dict(fields(entry))
        info = {}
        for number, value in fields(parts.get(2, b"")):
            text = value.decode() if isinstance(value, bytes) else value
            if number == 1:
                info.setdefault("ips", []).append(text)
            elif number in names:
                info[names[number]] = text
        table[parts[1].decode()] = info
    return {"table": table} if table else {}


# --- Work: one start of the server, or one case in the process

class Work:
    """A case with a setting, and what istiod sent each of its nodes."""

    def __init__(self, what, folder, setting, case):
        self.what, self.folder, self.setting, self.case = what, folder, setting, case
        self.wanted = []  # (node, variant, {kind: [resource]}, {(kind, name)})

    def nodes(self):
        """The nodes that were asked about, as proxies.yaml has them."""
        by_name = {n["name"]: n for n in self.case["nodes"]}
        out = []
        for node, variant, _, _ in self.wanted:
            one = copy.deepcopy(by_name[node.rsplit("--", 1)[0] if self.what == "nodes" else node])
            if self.what == "nodes":
                NODES[variant](one)
            out.append(one | {"name": node})
        return out

    def environment(self):
        return {self.setting: ENV[self.setting]} if self.what == "env" else {}

    def write(self, folder):
        """The case with its setting as a case of its own, without goldens."""
        for name in ("input.yaml", "networks.yaml"):
            if os.path.exists(os.path.join(self.folder, name)):
                shutil.copyfile(os.path.join(self.folder, name), os.path.join(folder, name))
        mesh = with_setting(self.case["mesh"], MESH[self.setting] if self.what == "mesh" else {})
        if mesh:
            write_json(os.path.join(folder, "mesh.yaml"), mesh)
        write_json(os.path.join(folder, "proxies.yaml"), self.nodes())
        with open(os.path.join(folder, "env"), "w", encoding="utf-8") as f:
            f.writelines(f"{k}={v}\n" for k, v in self.environment().items())


def with_setting(mesh, setting):
    """A setting laid over a MeshConfig: messages are merged, providers added."""
    mesh = dict(mesh or {})
    for k, v in setting.items():
        if isinstance(v, dict) and isinstance(mesh.get(k), dict):
            mesh[k] = {**mesh[k], **v}
        elif k == "extensionProviders" and isinstance(mesh.get(k), list):
            mesh[k] = mesh[k] + v
        else:
            mesh[k] = v
    return mesh


def works(a, record):
    """What to compare of a record, each case with each setting once."""
    pool = [json.loads(t) for t in record["pool"]]
    folders = {case_name(x): x for d in a.cases for x in conformance.find(d)}
    out, cases = {}, dict(record.get("cases", {}))
    for case, setting, node, dump, leave in record["entries"]:
        variant = node.rsplit("--", 1)[1] if record["what"] == "nodes" else setting
        if case not in folders or a.filter not in case or a.only not in ("", variant):
            continue
        if case not in cases:
            cases[case] = read_case(folders[case])
        one = out.setdefault((case, setting), Work(record["what"], folders[case], setting, cases[case]))
        one.wanted.append((node, variant, {k: [pool[i] for i in l] for k, l in dump.items()}, {tuple(k) for k in leave}))
    return list(out.values())


# --- Over the wire

def ask(a, work, wait=20):
    """What each node of a work is sent; and notes on what went wrong."""
    notes, got = [], {}
    with tempfile.TemporaryDirectory() as tmp:
        folder, run = os.path.join(tmp, "case"), os.path.join(tmp, "run")
        os.mkdir(folder)
        os.mkdir(run)
        work.write(folder)
        with conformance.serving(argparse.Namespace(server=a.server, wait=wait), folder, run, notes) as (port, _):
            if port:
                r = subprocess.run([a.xdsdump, "-addr", f"127.0.0.1:{port}", "-nds", "-proxies", os.path.join(folder, "proxies.yaml"),
                                    "-out", os.path.join(run, "got"), "-wait", f"{wait}s"], capture_output=True, text=True)
                notes += r.stderr.strip().splitlines()
        for node, _, _, _ in work.wanted:
            path = os.path.join(run, "got", node + ".json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    got[node] = json.load(f)
    return got, notes


class Tally:
    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.forms = collections.defaultdict(list)

    def compare(self, variant, where, got, want, leave):
        g, w = ({(k, conformance.name_of(r)): r for k, l in dump.items() for r in l} for dump in (got, want))
        for key in sorted((set(g) | set(w)) - leave):
            same = key in g and key in w and g[key] == w[key]
            self.counts[variant][same] += 1
            if same:
                continue
            if key not in g or key not in w:
                self.forms[key[0], "not sent" if key not in g else "istiod sends none"].append((variant, where, key[1], ""))
                continue
            for d in conformance.differences(g[key], w[key])[:3]:
                path, text = d.split(": ", 1)
                self.forms[key[0], re.sub(r"\[\d+\]", "[]", path)].append((variant, where, key[1], text))

    def print(self, show):
        for variant, t in self.counts.items():
            print(f"{variant:<24}{t[True]:>8}/{t[True] + t[False]:<8}")
        for (kind, path), l in sorted(self.forms.items(), key=lambda x: -len(x[1]))[:show]:
            variants = ", ".join(f"{k} {n}" for k, n in collections.Counter(x[0] for x in l).most_common(8))
            print(f"{len(l):5} {kind} {path}   in {variants}\n        {l[0][1]} [{l[0][0]}] {l[0][2]}: {l[0][3]}"[:700])

    def equal(self):
        return sum(t[True] for t in self.counts.values()), sum(sum(t.values()) for t in self.counts.values())


def over_the_wire(a, todo):
    tally, failed = Tally(), 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for work, (got, notes) in zip(todo, pool.map(lambda w: ask(a, w), todo)):
            for node, variant, want, leave in work.wanted:
                if not got.get(node):
                    failed += 1
                    print(f"nothing received: {variant}: {case_name(work.folder)}/{node} {' '.join(notes)[:250]}")
                tally.compare(variant, f"{case_name(work.folder)}/{node}", got.get(node) or {}, want, leave)
    tally.print(a.show)
    return tally.equal()


# --- In one process

def unpack(todo, root):
    """Each work as a case of tests/corpus: SETTING/CASE, goldens included."""
    for work in todo:
        folder = os.path.join(root, work.setting or work.what, case_name(work.folder).replace("/", "-"))
        os.makedirs(os.path.join(folder, "golden"))
        work.write(folder)
        for node, _, want, leave in work.wanted:
            golden = dict(want)
            if "nameTable" in golden:
                golden["nameTable"] = [name_table(t) for t in golden["nameTable"]]
            golden["@leave"] = collections.defaultdict(list)
            for kind, name in sorted(leave):
                golden["@leave"][kind].append(name)
            write_json(os.path.join(folder, "golden", node + ".json"), golden)


def in_process(a, todo):
    with tempfile.TemporaryDirectory() as tmp:
        unpack(todo, tmp)
        run = subprocess.run([a.corpus, "--cases", tmp, "--show", str(a.show)], capture_output=True, text=True)
    print(run.stdout, run.stderr, sep="", end="")
    found = re.search(r"^resources (\d+)/(\d+)", run.stdout, re.M)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def write_part(a, record, keep):
    """The entries of some cases; the pool is cut down to theirs."""
    entries, used = [e for e in record["entries"] if e[0] in keep], {}
    for e in entries:
        e[3] = {k: [used.setdefault(i, len(used)) for i in l] for k, l in e[3].items()}
    folders = {case_name(x): x for d in a.cases for x in conformance.find(d)}
    part = {"what": record["what"], "pool": [record["pool"][i] for i in used], "entries": entries,
            "cases": {name: read_case(folders[name]) for name in sorted({e[0] for e in entries})}}
    with gzip.GzipFile(a.part, "wb", 9, mtime=0) as f:
        f.write(json.dumps(part).encode())


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("records", nargs="+")
    ap.add_argument("--cases", nargs="+", required=True)
    for x in ("--xdsdump", "--server", "--corpus", "--filter", "--only", "--part", "--keep"):
        ap.add_argument(x, default="")
    ap.add_argument("--show", type=int, default=0)
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--least", type=float, default=0)
    a = ap.parse_args()
    good = True
    for path in a.records:
        record = read_record(path)
        if a.part:
            write_part(a, record, a.keep.split(","))
            continue
        todo = works(a, record)
        if not todo:
            sys.exit(f"{path}: no case of it is there")
        equal, total = in_process(a, todo) if a.corpus else over_the_wire(a, todo)
        percent = 100 * equal / max(total, 1)
        good &= total > 0 and percent >= a.least
        print(f"{record['what']}: resources {equal}/{total} = {percent:.2f}%")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
