#!/usr/bin/env python3
"""Compares `fairlead validate` with Istio's verdicts: all of them where they lie beside the checkout, else the fifth here.

  validation_test.py FAIRLEAD

known-differences.txt lists the objects (KIND/NAME) whose verdict is known to differ: the test fails if another one differs
or if a listed one is equal, so the list only shrinks.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def differing(fairlead, cases, kind):
    """Names of the kind's objects, and those of them whose verdict differs."""
    out = subprocess.run([fairlead, "validate", "-o", "json", "-f", str(cases / f"{kind}.yaml")], capture_output=True, text=True)
    if out.returncode not in (0, 1):
        sys.exit(f"{kind}: exit status {out.returncode}: {out.stderr[-500:]}")
    got = {v["name"]: v for v in json.loads(out.stdout)}
    want = json.loads((cases / f"{kind}.golden.json").read_text())
    same = lambda g, w: g["valid"] == w["valid"] and (not w["valid"] or bool(g["warnings"]) == bool(w.get("warnings")))
    return want.keys(), {n for n, w in want.items() if n not in got or not same(got[n], w)}


def main():
    everything = HERE.parent.parent.parent / "shared" / "validation"
    cases = everything if everything.is_dir() else HERE
    lines = (HERE / "known-differences.txt").read_text().splitlines()
    known = {name for name in (line.split("#")[0].strip() for line in lines) if name}
    passed, wrong = 0, []
    for golden in sorted(cases.glob("*.golden.json")):
        kind = golden.name.removesuffix(".golden.json")
        names, differs = differing(sys.argv[1], cases, kind)
        for name in names:
            listed = f"{kind}/{name}" in known
            if (name in differs) == listed:
                passed += 1
            else:
                wrong.append(f"{kind}/{name}: " + ("equal, but listed as a known difference" if listed else "differs from Istio's verdict"))
        print(f"{kind:<28}{len(names) - len(differs):>5}/{len(names)}")
    print("\n".join(wrong))
    print(f"{passed} passed, {len(wrong)} failed")
    sys.exit(bool(wrong) or passed == 0)


if __name__ == "__main__":
    main()
