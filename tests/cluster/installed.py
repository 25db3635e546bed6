"""The test cluster with Fairlead installed by the commands of docs/kubernetes/install.md."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import kubebox
from kubebox import PROGRAMS, ROOT

PAGE = ROOT / "docs" / "kubernetes" / "install.md"
ENVOY = PROGRAMS.parent / "envoy"
ECHO = pathlib.Path(__file__).resolve().parent / "echo.py"
START = ["/usr/local/bin/fairlead"]


def sections():
    """The commands of the page by the headings that they stand under."""
    return {heading: "\n".join(re.findall(r"^```sh\n(.*?)^```", body, re.M | re.S))
            for heading, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)}


class InstalledBox(kubebox.Box):
    """FAIRLEAD names the program, which is made into images as deploy/image says. Images: more of these."""

    def __init__(self, keep=None, images=None):
        program = pathlib.Path(os.environ.get("FAIRLEAD") or ROOT / "build" / "fairlead").resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-install-"))
        for name, envoy in (("fairlead", []), ("proxy", [str(ENVOY.resolve())])):
            subprocess.run([ROOT / "deploy/image/rootfs.sh", program, self.folder / name, *envoy], check=True, capture_output=True)
        super().__init__({f"fairlead/{name}": {"path": str(self.folder / name), "whole": True, "entrypoint": START, "user": "1337"}
                          for name in ("fairlead", "proxy")} | {
                          "fairlead/example": {"path": str(ECHO), "entrypoint": ["/usr/bin/python3", "/echo.py"], "cmd": ["3000"],
                                               "user": "65532"}} | (images or {}), keep=keep)

    def __enter__(self):
        super().__enter__()
        programs, self.work = self.folder / "bin", self.folder / "work"
        programs.mkdir()
        (programs / "kubectl").write_text(f'#!/bin/sh\nexec {PROGRAMS}/kube kubectl "$@"\n')
        # template NAME CHART --namespace NAMESPACE [--values FILE]
        (programs / "helm").write_text(f'#!/bin/sh\nexec {PROGRAMS}/helm "$3" "$5" ${{7:+"$7"}}\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        self.work.mkdir()
        for name in ("scripts", "deploy"):
            (self.work / name).symlink_to(ROOT / name)
        self.env = {**os.environ, "KUBECONFIG": self.kubeconfig, "PATH": f"{programs}:{os.environ['PATH']}",
                    "FAIRLEAD_DEPS": str(PROGRAMS.parent)}
        return self

    def __exit__(self, *_):
        super().__exit__(*_)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_section(self, heading, timeout=240):
        """Runs the commands under a heading of the page; an AssertionError says what they said, and how the cluster is."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", sections()[heading]], cwd=self.work, env=self.env, capture_output=True,
                              text=True, timeout=timeout, check=False)
        if done.returncode:
            raise AssertionError(f"{heading}: {done.stdout[-1500:]}{done.stderr[-1500:]}{self.state()}")

    def state(self):
        """For people: pods, events and logs."""
        words = ("logs", "--tail=40", "--all-containers", "--prefix", "-n")
        return "\n".join(["", self.kubectl("get", "pods,gateways,deployments", "-A", "-o", "wide").stdout,
                          self.kubectl("get", "events", "-A", "--field-selector", "type=Warning").stdout[-3000:],
                          self.kubectl(*words, "istio-system", "-l", "app=istiod").stdout[-4000:],
                          self.kubectl(*words, "shop", "-l", "app=web").stdout[-4000:],
                          self.kubectl(*words, "shop", "-l", "gateway.networking.k8s.io/gateway-name=front").stdout[-4000:]])
