#!/usr/bin/env python3
"""Writes deploy/kubernetes/fairlead.yaml anew: the chart of deploy/helm with its own values, for those who do without helm.

    scripts/setup.sh cluster && scripts/render_chart.py
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cluster"))
import chart  # noqa: E402

chart.write_plain()
