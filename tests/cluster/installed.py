"""The test cluster with Fairlead installed by the commands of docs/kubernetes/install.md; other pages' commands run there, too."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import kubebox
from kubebox import PROGRAMS, ROOT

PAGES = ROOT / "docs" / "kubernetes"
ENVOY = PROGRAMS.parent / "envoy"
ECHO = pathlib.Path(__file__).resolve().parent / "echo.py"
START, PATHS = ["/usr/local/bin/fairlead"], {"PATH": "/usr/local/bin:/usr/sbin"}  # as deploy/image/Dockerfile has them


def sections(page="install"):
    """The commands of a page of docs/kubernetes by the headings that they stand under."""
    return {heading: "\n".join(re.findall(r"^```sh\n(.*?)^```", body, re.M | re.S))
            for heading, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (PAGES / f"{page}.md").read_text(), re.M | re.S)}


class InstalledBox(kubebox.Box):
    """FAIRLEAD names the program, which is made into images as deploy/image says. Images: more of these."""

    def __init__(self, keep=None, images=None):
        program = pathlib.Path(os.environ.get("FAIRLEAD") or ROOT / "build" / "fairlead").resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-install-"))
        for name, envoy in (("fairlead", []), ("proxy", [str(ENVOY.resolve())])):
            subprocess.run([ROOT / "deploy/image/rootfs.sh", program, self.folder / name, *envoy], check=True, capture_output=True)
        super().__init__({f"fairlead/{name}": {"path": str(self.folder / name), "whole": True, "entrypoint": START, "user": "1337", "env": PATHS}
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
        (programs / "fairlead").write_text(f'#!/bin/sh\nexec {self.folder}/fairlead/usr/local/bin/fairlead "$@"\n')
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

    def run_section(self, heading, timeout=240, page="install", instead=None):
        """Runs the commands under a heading of a page, with other words instead of some: what they print. An AssertionError says it,
        and how the cluster is."""
        shell = sections(page)[heading]
        for word, other in (instead or {}).items():
            shell = re.sub(rf"\b{word}\b", other, shell)
        return self.run_shell(shell, timeout)

    def run_inside(self, heading, page, timeout=120):
        """The same in the cluster's network, where ports of the machine are nobody's."""
        shell = f'cd {self.work}; export PATH={self.folder}/bin:$PATH; {sections(page)[heading]}'
        code, said = self.exec("bash", "-euo", "pipefail", "-c", shell, timeout=timeout)
        if code:
            raise AssertionError(f"{heading}: {said[-3000:]}{self.state()}")
        return said

    def run_shell(self, shell, timeout=240):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", shell], cwd=self.work, env=self.env, capture_output=True, text=True,
                              timeout=timeout, check=False)
        if done.returncode:
            raise AssertionError(f"{shell}\n{done.stdout[-1500:]}{done.stderr[-1500:]}{self.state()}")
        return done.stdout

    def state(self):
        """For people: pods, events and logs."""
        words = ("logs", "--tail=40", "--all-containers", "--prefix", "-n")
        return "\n".join(["", self.kubectl("get", "pods,gateways,deployments", "-A", "-o", "wide").stdout,
                          self.kubectl("get", "events", "-A", "--field-selector", "type=Warning").stdout[-3000:],
                          self.kubectl(*words, "istio-system", "-l", "app=istiod").stdout[-4000:],
                          self.kubectl(*words, "shop", "-l", "app=web").stdout[-4000:],
                          self.kubectl(*words, "shop", "-l", "gateway.networking.k8s.io/gateway-name=front").stdout[-4000:]])
