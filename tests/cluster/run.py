#!/usr/bin/env python3
"""A Kubernetes on this machine with Fairlead in it, until Ctrl-C: `run.py FAIRLEAD [FOLDER]`.

Everything of it is in FOLDER, else in build/cluster: the kubeconfig, logs, and bin/kubectl.
"""
import os
import pathlib
import signal
import sys

import kubebox
from fairlead_box import FairleadBox


def say(box):
    print(f"""
A Kubernetes with Fairlead in it is ready. From this machine:

  export KUBECONFIG={box.kubeconfig}
  {box.dir}/bin/kubectl get pods -A

From inside its network, where Services and Pods are:

  {kubebox.PROGRAMS}/kubebox exec --dir {box.dir} -- curl http://istiod.istio-system.svc.cluster.local:15014/metrics

Images are lines of {box.image_table}; {kubebox.SHELL} has this machine's programs.
Another Fairlead on it: build/fairlead discovery --kubeconfig {box.kubeconfig}
Ctrl-C ends all of it.
""", flush=True)


def main():
    kubebox.require()
    os.environ["FAIRLEAD"] = sys.argv[1]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else kubebox.ROOT / "build" / "cluster").resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with FairleadBox(keep=folder) as box:
            say(box)
            code = box.process.wait()
            sys.exit(f"the cluster ended ({code}): see {folder}/log/node.log")
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
