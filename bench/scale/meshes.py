"""The meshes of the benchmark: what meshgen makes of a few numbers, ready for changes."""
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass

import change


@dataclass(frozen=True)
class Mesh:
    namespaces: int
    services: int
    endpoints: int  # of a service
    scoped: bool    # each namespace has a Sidecar that imports only itself and one other

    @property
    def flags(self):
        flags = ["-namespaces", self.namespaces, "-services", self.services, "-endpoints", self.endpoints, "-vs", 0.5]
        return [str(f) for f in flags] + (["-sidecar-scoping"] if self.scoped else [])


MESHES = {
    "A": Mesh(5, 100, 10, False),
    "B": Mesh(20, 1000, 5, False),
    "C": Mesh(20, 1000, 5, True),
    "D": Mesh(100, 5000, 3, True),
    "E": Mesh(100, 10000, 5, True),
    "F": Mesh(100, 5000, 4, True),  # 20,000 pods
}


def split_route(folder):
    """Moves svc-0's VirtualService into a file of its own, which the route change then replaces."""
    for path in sorted(folder.glob("*routing*.yaml")):
        documents = re.split(r"(?m)^---[ \t]*\n", path.read_text())
        ours = [d for d in documents if "kind: VirtualService" in d and re.search(r"name: svc-0\b[^-]", d)]
        if ours:
            change.write(folder / "change-route.yaml", ours[0])
            change.write(path, "---\n".join(d for d in documents if d is not ours[0]))
            return
    raise RuntimeError(f"no VirtualService svc-0 in {folder}")


def make(name, meshgen, work):
    """A fresh folder of the mesh and its list of nodes: earlier runs' changes are gone."""
    folder, nodes = pathlib.Path(work) / name, pathlib.Path(work) / f"{name}.nodes.yaml"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([meshgen, *MESHES[name].flags, "-format", "k8s", "-out", folder, "-proxies", nodes], check=True,
                   stderr=subprocess.DEVNULL)
    split_route(folder)
    return folder, nodes
