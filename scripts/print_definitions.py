#!/usr/bin/env python3
"""Prints the definitions of Istio's and the Gateway API's kinds, of the releases that Fairlead is built for. scripts/setup.sh has
fetched them.

    scripts/print_definitions.py | kubectl apply --server-side -f -
"""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or ROOT / ".deps") / "schemas"

files = [SCHEMAS / "istio.io/api/kubernetes/customresourcedefinitions.gen.yaml",
         *sorted((SCHEMAS / "sigs.k8s.io/gateway-api/config/crd/experimental").glob("gateway*.yaml"))]
for path in files:
    print(f"---\n{path.read_text().strip()}")
