"""A signer of CertificateSigningRequests as clusters have them: signs what is approved, as it says, with an authority of its own.

    with ClusterSigner(api, "example.com/mesh") as signer:
        signer.root                        # PEM
"""
import base64
import pathlib
import subprocess
import tempfile
import threading

COLLECTION = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


class ClusterSigner:
    def __init__(self, api, name):
        """`api`: a KubeApi of the signer's own."""
        self.api, self.name, self.signed = api, name, 0
        self.paused = threading.Event()
        self.stopping = threading.Event()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/O=" +
                      self.name.replace("/", "."), "-keyout", "ca.key", "-out", "ca.crt")
        self.root = pathlib.Path(self.folder.name, "ca.crt").read_text()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        self.api.close()
        self.folder.cleanup()

    def _openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder.name, check=True, capture_output=True)

    def _run(self):
        while not self.stopping.wait(0.05):
            if self.paused.is_set():
                continue
            for request in self.api.get(COLLECTION).get("items", ()):
                conditions = {c["type"] for c in request.get("status", {}).get("conditions", ())}
                if request["spec"]["signerName"] == self.name and "Approved" in conditions and "certificate" not in request["status"]:
                    self._sign(request)

    def _sign(self, request):
        folder = pathlib.Path(self.folder.name)
        (folder / "csr").write_bytes(base64.b64decode(request["spec"]["request"]))
        self._openssl("x509", "-req", "-in", "csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1", "-copy_extensions", "copyall",
                      "-out", "crt")
        request["status"]["certificate"] = base64.b64encode((folder / "crt").read_bytes()).decode()
        path = f"{COLLECTION}/{request['metadata']['name']}/status"
        if self.api.call("PUT", path, request, also=(404, 409))[0] == 200:
            self.signed += 1
