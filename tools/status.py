#!/usr/bin/env python3
"""Compares the statuses that `fairlead status` prints for folders of objects with Istio's.

  status.py --cases ../shared/status/cases --status 'build/fairlead status -o json -f {config} --meshConfig {mesh}'
            [--inputs ../shared/conformance] [--known FILE] [--show N]

A case is a folder with a status.json: a list of {kind, apiVersion, namespace, name, status}. Its objects are its config/, or
the input.yaml of the folder of the same name below --inputs. {case} is its name, for a command that shows statuses which something
else has written. What counts: every condition by its place and type (status,
reason, message, observedGeneration), every other field, the order of listeners, parents and ancestors. What does not: times,
the order of conditions, what is empty, and the order of a route's joined messages.
Cases that --known names, one a line, must fail. Exit 1 if anything is not as it should be.
"""
import argparse, json, os, shlex, shutil, subprocess, sys, tempfile

TIMES = {"lastTransitionTime", "lastProbeTime"}
GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway"}


def identity(entry):
    """What an entry of a list is about, as text; "" where it is nothing by itself."""
    for reference in ("parentRef", "ancestorRef"):
        if isinstance(entry.get(reference), dict):
            return json.dumps([GATEWAY | entry[reference], entry.get("controllerName")], sort_keys=True)
    return entry["name"] if "name" in entry and "conditions" in entry else ""


def flatten(value, place, out):
    """{place: text} of all that counts."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == "conditions" and isinstance(member, list):
                for one in member:
                    message = one.get("message") or ""
                    if place.startswith("parents/"):
                        message = "; ".join(sorted(message.split("; ")))
                    out[f"{place}{one.get('type')}"] = [one.get("status"), one.get("reason"), message, one.get("observedGeneration") or 0]
            elif key not in TIMES and key not in ("parentRef", "ancestorRef", "controllerName"):
                flatten(member, f"{place}{key}/", out)
    elif isinstance(value, list) and value and all(isinstance(v, dict) and identity(v) for v in value):
        out[f"{place}order"] = [identity(v) for v in value]
        for entry in value:
            flatten({k: v for k, v in entry.items() if k != "name"}, f"{place}{identity(entry)}/", out)
    elif value not in (None, [], {}):
        out[place] = value


def objects(statuses):
    out = {}
    for one in statuses:
        flatten(one.get("status"), "", flat := {})
        if flat:
            out[one["apiVersion"].partition("/")[0], one["kind"], one.get("namespace") or "", one["name"]] = flat
    return out


def differences(want, got):
    for key in sorted(want.keys() | got.keys()):
        w, g = want.get(key, {}), got.get(key, {})
        for place in sorted(w.keys() | g.keys()):
            if w.get(place) != g.get(place):
                yield f"{' '.join(key[1:])}: {place}: {json.dumps(g.get(place))}, Istio: {json.dumps(w.get(place))}"


def command(template, case, config, mesh):
    """The words of a command; a flag for a file that the case does not have is left out."""
    words = []
    for word in shlex.split(template):
        if "{mesh}" in word and not os.path.exists(mesh):
            words.pop()
            continue
        words.append(word.replace("{config}", config).replace("{mesh}", mesh).replace("{case}", case))
    return words


def run(a, case):
    base = os.path.join(a.cases, case)
    if not os.path.isdir(os.path.join(base, "config")):
        base = os.path.join(a.inputs or a.cases, case)
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(base, "config")
        if not os.path.isdir(config):
            config = shutil.copy(os.path.join(base, "input.yaml"), folder) and folder
        r = subprocess.run(command(a.status, case, config, os.path.join(base, "mesh.yaml")), capture_output=True, text=True)
    with open(os.path.join(a.cases, case, "status.json")) as f:
        want = objects(json.load(f))
    try:
        return list(differences(want, objects(json.loads(r.stdout)))), sum(map(len, want.values()))
    except json.JSONDecodeError:
        return [f"exit {r.returncode}, no JSON: {r.stderr[-300:]}"], sum(map(len, want.values()))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cases", required=True)
    ap.add_argument("--status", required=True)
    ap.add_argument("--inputs")
    ap.add_argument("--known", help="file of cases that fail")
    ap.add_argument("--show", type=int, default=5, help="differences to print per case")
    a = ap.parse_args()
    cases = sorted(os.path.relpath(folder, a.cases) for folder, _, files in os.walk(a.cases) if "status.json" in files)
    known = set()
    if a.known:
        with open(a.known) as f:
            known = {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    failed = wrong = right = 0
    for case in cases:
        notes, total = run(a, case)
        failed += bool(notes)
        right += max(total - len(notes), 0)
        if bool(notes) == (case in known):
            continue
        wrong += 1
        print(f"--- {case}" if notes else f"--- {case}: passes, but is listed as known to fail")
        for note in notes[: a.show]:
            print("   ", note)
    print(f"{len(cases) - failed} of {len(cases)} cases, {right} values equal")
    sys.exit(wrong > 0 or not cases)


if __name__ == "__main__":
    main()
