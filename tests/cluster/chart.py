"""The chart of deploy/helm, rendered by helm's packages (tests/cluster/helm), which `scripts/setup.sh cluster` builds."""
import pathlib
import subprocess
import tempfile

import yaml

from kubebox import PROGRAMS, ROOT

CHART = ROOT / "deploy" / "helm" / "fairlead"
PLAIN = ROOT / "deploy" / "kubernetes" / "fairlead.yaml"


def text(values=None, namespace="istio-system"):
    """The manifests as text; a ValueError says why there are none."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as more:
        yaml.safe_dump(values or {}, more)
        more.flush()
        done = subprocess.run([str(PROGRAMS / "helm"), str(CHART), namespace, more.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def render(values=None, namespace="istio-system"):
    """The manifests as objects."""
    return [obj for obj in yaml.safe_load_all(text(values, namespace)) if obj]


def plain():
    """The text of PLAIN: the namespace, then the manifests of the chart's own values."""
    return ("# Fairlead with the chart's own values, as scripts/render_chart.py prints it. Apply it after the definitions of Istio's kinds.\n"
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: istio-system}\n" + text())


def write_plain():
    pathlib.Path(PLAIN).write_text(plain())
