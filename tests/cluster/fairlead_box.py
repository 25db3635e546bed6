"""The test cluster with Fairlead in it, as a Deployment whose program is the one that was just built."""
import os
import pathlib

from api_server import crd_files
from kubebox import ROOT, Box

IMAGE = "example/fairlead"
MANIFEST = pathlib.Path(__file__).resolve().parent / "manifests" / "fairlead.yaml"


def program():
    return pathlib.Path(os.environ.get("FAIRLEAD") or ROOT / "build" / "fairlead").resolve()


class FairleadBox(Box):
    def __init__(self, images=None, flags=(), keep=None):
        super().__init__({IMAGE: {"path": str(program()), "entrypoint": ["/fairlead"]}, **(images or {})}, flags, keep)

    def __enter__(self):
        super().__enter__()
        try:
            self.define_kinds()
            self.apply(MANIFEST.read_text())
            self.wait("deployment/fairlead", "condition=available", "-n", "istio-system")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def define_kinds(self):
        """Istio's and the Gateway API's kinds."""
        words = [word for path in crd_files() for word in ("-f", str(path))]
        done = self.kubectl("apply", "--server-side", "--validate=false", *words, timeout=120)
        if done.returncode:
            raise AssertionError(done.stderr.strip())
        self.wait("crd", "condition=Established", "--all")

    def logs(self):
        """What Fairlead has written."""
        return self.kubectl("logs", "-n", "istio-system", "deployment/fairlead").stdout
