"""A real Kubernetes API server over a real etcd: a folder of its own, free ports of loopback, nothing else."""

import secrets
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import yaml

from tests.charts.rendering import ROOT
from tests.clocks import HANG_S

PROGRAMS = {name: ROOT / "build" / "bin" / name for name in ("etcd", "kube-apiserver")}
# Who there is, and the groups that give them rights; all others come from Roles.
USERS = {"admin": "system:masters", "deployer": "", "stranger": ""}
# A test run that is killed leaves no server for longer than this.
LIVES_S = "1800"
# RSA in PEM, which neither Python's own library nor the server makes.
KEY = 'process.stdout.write(crypto.generateKeyPairSync("rsa", {modulusLength: 2048}).privateKey.export(FORMAT))'


def missing() -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in PROGRAMS.values() if not path.exists()]


class ApiServer:
    """Every admission plug-in that Kubernetes has on by default is on, and rights come from RBAC."""

    def __init__(self, folder: Path, ports: tuple[int, int, int]) -> None:
        self.folder = folder
        self.etcd, self.peers, self.port = ports
        self.url = f"https://127.0.0.1:{self.port}"
        self.tokens = {user: secrets.token_hex(16) for user in USERS}
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._write_private("tokens", "".join(f'{self.tokens[u]},{u},{u},"{group}"\n' for u, group in USERS.items()))
        self._write_private("key", _key())
        self._run("etcd", *self._etcd_flags())
        self._wait("etcd", lambda: httpx.get(f"http://127.0.0.1:{self.etcd}/health", trust_env=False).is_success)
        self._run("kube-apiserver", *self._flags())
        self._wait("kube-apiserver", lambda: self.client("admin").get("/readyz").is_success)

    def stop(self) -> None:
        for process in reversed(self._running):
            process.terminate()
            process.wait(30)

    def client(self, user: str) -> httpx.Client:
        trusted = ssl.create_default_context(cafile=self.certificate)
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        return httpx.Client(base_url=self.url, verify=trusted, headers=headers, trust_env=False, timeout=120)

    def kubeconfig(self, user: str) -> Path:
        config = {
            "clusters": [{"name": "it", "cluster": {"server": self.url, "certificate-authority": self.certificate}}],
            "users": [{"name": user, "user": {"token": self.tokens[user]}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": user}}],
            "current-context": "it",
        }
        return self._write_private(f"{user}.kubeconfig", yaml.safe_dump(config))

    @property
    def certificate(self) -> str:
        """The server signs it itself when it starts."""
        return str(self.folder / "certificates" / "apiserver.crt")

    def _etcd_flags(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self.etcd}", f"http://127.0.0.1:{self.peers}"
        clients = (f"--listen-client-urls={client}", f"--advertise-client-urls={client}")
        itself = (f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}")
        return [*clients, *itself, f"--initial-cluster=default={peer}", "--unsafe-no-fsync", "--data-dir=etcd"]

    def _flags(self) -> list[str]:
        itself = ("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.port}")
        accounts = ("service-account-key-file=key", "service-account-signing-key-file=key")
        return [
            *itself,
            f"--etcd-servers=http://127.0.0.1:{self.etcd}",
            "--cert-dir=certificates",
            "--authorization-mode=RBAC",
            "--token-auth-file=tokens",
            "--service-account-issuer=https://kubernetes.default.svc",
            *(f"--{flag}" for flag in accounts),
            "--service-cluster-ip-range=10.96.0.0/16",
            # As on EKS: or validation refuses a privileged pod before admission sees it.
            "--allow-privileged",
            # Its address is loopback, which no endpoint may be.
            "--endpoint-reconciler-type=none",
        ]

    def _run(self, name: str, *flags: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            command = ["timeout", LIVES_S, str(PROGRAMS[name]), *flags]
            self._running.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        end = time.monotonic() + HANG_S
        while not _answers(ready):
            log = (self.folder / f"{name}.log").read_text(errors="replace")
            assert self._running[-1].poll() is None, f"{name} ended:\n{log[-3000:]}"
            assert time.monotonic() < end, f"{name} is not ready after {HANG_S} s:\n{log[-3000:]}"
            time.sleep(0.05)

    def _write_private(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path


def _key() -> str:
    script = KEY.replace("FORMAT", '{type: "pkcs1", format: "pem"}')
    return subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=300).stdout


def _answers(ready: Callable[[], bool]) -> bool:
    try:
        return ready()
    except (httpx.TransportError, FileNotFoundError, ssl.SSLError):  # not listening yet; no certificate, or half of it
        return False
