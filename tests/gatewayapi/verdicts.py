"""What the Gateway API's conformance suite says in its output, test by test."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
RESULT = re.compile(r"^\s*--- (PASS|FAIL|SKIP): Test\w+/([^/\s]+) \([\d.]+s\)")


def known_failures():
    """Names, each with its reason."""
    lines = (HERE / "known-failures.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def results(output):
    """Verdicts by test. The suite's program was started with -test.v=test2json, or without it."""
    lines = output.replace("\x16", "").splitlines()  # it marks verdicts
    return {m[2]: m[1] for m in map(RESULT.match, lines) if m}


def reasons_for_skipping(output):
    """By test, as the suite says them."""
    return dict(re.findall(r": Skipping (\S+): (.+)", output))


def write_table(path, found, reasons, known):
    """A row a test, in Markdown."""
    lines = ["| test | verdict | reason |", "|---|---|---|"]
    for name, verdict in sorted(found.items()):
        lines.append(f"| {name} | {verdict} | {reasons.get(name) or known.get(name, '')} |")
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def judge(output, refused, table=None):
    """Prints a summary and what is wrong; gives the exit status. `refused`: how many updates proxies refused."""
    found, known = results(output), known_failures()
    if table:
        write_table(table, found, reasons_for_skipping(output), known)
    by = lambda verdict: sorted(name for name, v in found.items() if v == verdict)
    failed, passed = by("FAIL"), by("PASS")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(by('SKIP'))} skipped")
    wrong = [f"{name} fails" for name in failed if name not in known]
    wrong += [f"{name} passes, and is in known-failures.txt" for name in passed if name in known]
    if refused:
        wrong.append(f"{refused:g} updates were refused by proxies")
    if not passed:
        wrong.append("nothing passed:\n" + output[-3000:])
    for line in wrong:
        print(line)
    return 1 if wrong else 0
