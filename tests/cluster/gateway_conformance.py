#!/usr/bin/env python3
"""The Gateway API's conformance suite, its own program, in the test cluster with Fairlead installed by its chart.

    gateway_conformance.py --programs FOLDER [--only NAME,...] [--report FILE] [--table FILE] [--log FILE]

FOLDER has `suite` (the tests of sigs.k8s.io/gateway-api/conformance), `echo` (echo-basic) and `meshclient`. Exit status 0: each test that is
not in tests/gatewayapi/known-failures.txt passes, and none that is. Needs root, build/fairlead, and scripts/setup.sh cluster.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import kubebox
from installed import InstalledBox

sys.path.insert(0, str(kubebox.ROOT / "tests" / "gatewayapi"))
import verdicts  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = ["GATEWAY-HTTP", "GATEWAY-TLS", "GATEWAY-GRPC", "GATEWAY-TCP", "GATEWAY-UDP", "MESH-HTTP", "MESH-GRPC"]
# Features that Istio does not declare either.
EXEMPT = ["GatewayBackendClientCertificate", "GatewayHTTPSListenerDetectMisdirectedRequests", "MeshClusterIPMatching"]
# Seconds, where two busy cores may need more than the suite gives by itself. How long a changed object may take to come into effect
# (MaxTimeToConsistency) stays as the suite has it.
WAITS = {"DeleteTimeout": 60, "GetTimeout": 30, "ManifestFetchTimeout": 30, "NamespacesMustBeReady": 900, "GatewayMustHaveAddress": 180,
         "DefaultTestTimeout": 180}
METRICS = "http://istiod.istio-system.svc.cluster.local:15014/metrics"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="names of tests, with commas between")
    parser.add_argument("--every-feature", action="store_true", help="also tests of what Istio does not declare")
    parser.add_argument("--report", type=os.path.abspath, help="the suite's own report; of all tests alone")
    parser.add_argument("--table", help="file for the table test by test")
    parser.add_argument("--log", type=os.path.abspath, help="the suite's output")
    parser.add_argument("--server-log", help="file for Fairlead's log")
    parser.add_argument("--seconds", type=int, default=5400, help="the suite's time")
    return parser.parse_args()


def images(programs):
    """What stands in for the images of the suite's manifests: its own program, and a CoreDNS."""
    echo = str((programs / "echo").resolve())
    return {"registry.k8s.io/gateway-api/echo-basic": {"path": echo, "user": "65532"},
            "registry.k8s.io/gateway-api/echo-advanced": {
                "path": echo, "entrypoint": ["/usr/bin/python3", "/mesh_echo.py"], "user": "65532",
                "files": {"/mesh_echo.py": str(HERE / "mesh_echo.py"), "/usr/local/bin/client": str((programs / "meshclient").resolve())}},
            "registry.k8s.io/coredns/coredns": {"path": str((kubebox.PROGRAMS / "coredns").resolve())}}


def flags(args):
    """The suite's."""
    wanted = "|".join(re.escape(name) for name in args.only.split(",")) if args.only else ""
    yield from ("-test.v=test2json", f"-test.timeout={args.seconds}s", f"-test.run=^TestConformance$/^({wanted})$" if wanted
                else "-test.run=^TestConformance$")
    yield from ("--gateway-class=istio", "--namespace-labels=istio-injection=enabled", "--all-features",
                f"--conformance-profiles={','.join(PROFILES)}",
                "--timeout-config-overrides=" + ";".join(f"{name}:{seconds}" for name, seconds in WAITS.items()),
                # As Istio's own run has them.
                "--usable-address=infra-backend-v1.gateway-conformance-infra.svc.cluster.local", "--unusable-address=foo")
    if not args.every_feature:
        yield f"--exempt-features={','.join(EXEMPT)}"
    if args.report:
        yield from (f"--report-output={args.report}", "--organization=fairlead", "--project=fairlead", "--url=https://fairlead.dev",
                    f"--version={version()}", "--contact=@fairlead/maintainers")


def version():
    program = os.environ.get("FAIRLEAD") or kubebox.ROOT / "build" / "fairlead"
    return subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.split()[-1]


def run_suite(box, args):
    """The suite's output."""
    log = pathlib.Path(args.log) if args.log else box.folder / "suite.log"
    with open(log, "w") as out:
        subprocess.run(box.command(str((args.programs / "suite").resolve()), *flags(args)), stdout=out, stderr=out, check=False,
                       timeout=args.seconds + 60, preexec_fn=kubebox.end_with_parent)
    return log.read_text(errors="replace")


def refusals(box):
    """How many updates proxies refused."""
    code, text = box.exec("curl", "-sS", "-m", "10", METRICS)
    if code:
        raise AssertionError(f"Fairlead does not answer any more: {text}{box.state()}")
    return sum(float(n) for n in re.findall(r"^pilot_total_xds_rejects(?:\{[^}]*\})? (\S+)", text, re.M))


def main():
    args = arguments()
    kubebox.require()
    if args.only:
        args.report = None  # it would name tests that did not run
    with InstalledBox(images=images(args.programs)) as box:
        for heading in ("Definitions", "The control plane"):
            box.run_section(heading)
        try:
            output = run_suite(box, args)
            return verdicts.judge(output, refusals(box), args.table)
        finally:
            if args.server_log:
                pathlib.Path(args.server_log).write_text(
                    box.kubectl("logs", "-n", "istio-system", "-l", "app=istiod", "--tail=-1", "--prefix").stdout)


if __name__ == "__main__":
    sys.exit(main())
