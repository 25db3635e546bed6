"""An issuer of tokens, with OpenSSL's program: of workloads, as a Kubernetes API server is, and of end users."""
import base64
import json
import pathlib
import subprocess
import time

AUDIENCE = "istio-ca"


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Issuer:
    """Keeps an RSA key in a folder of its own."""

    def __init__(self, folder, name="https://issuer"):
        self.folder, self.name = pathlib.Path(folder), name
        self.folder.mkdir()
        self.public_key = self.folder / "issuer.pub"  # PEM
        self.openssl("genrsa", "-out", "issuer.pem", "2048")
        self.openssl("rsa", "-in", "issuer.pem", "-pubout", "-out", "issuer.pub")

    def openssl(self, *words, **options):
        return subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True, **options).stdout

    def key_set(self):
        """The public key as a JSON Web Key Set."""
        modulus = self.openssl("rsa", "-in", "issuer.pem", "-noout", "-modulus").decode().strip().split("=")[1]
        key = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "e": "AQAB", "n": encoded(bytes.fromhex(modulus))}
        return json.dumps({"keys": [key]})

    def token(self, claims, header=None):
        """A token with these claims, besides "iss" and "exp" (in an hour), which they may set."""
        claims = {"iss": self.name, "exp": int(time.time()) + 3600, **claims}
        header = header or {"alg": "RS256", "kid": "one"}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = self.openssl("dgst", "-sha256", "-sign", "issuer.pem", input=text.encode())
        return f"{text}.{encoded(signature)}"

    def workload_token(self, namespace, account, **claims):
        return self.token({"aud": [AUDIENCE], "sub": f"system:serviceaccount:{namespace}:{account}", **claims})
