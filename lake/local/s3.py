"""The S3 server: versitygw over a folder, one bucket."""

import os
from pathlib import Path

from lake.clients.rest import answers
from lake.config.environment import LOOPBACK
from lake.local.service import Program, Service

REGION = "us-east-1"


class S3(Service):
    """Objects in .lake/s3/<bucket>; their attributes in s3-attributes/ if the file system cannot store them."""

    name = "s3"

    @property
    def binary(self) -> Path:
        return self.home.build / "bin" / "versitygw"

    def parts(self) -> list[Path]:
        return [self.binary]

    def secrets(self) -> dict[str, str]:
        secrets = self.home.secrets
        return {"ROOT_ACCESS_KEY": secrets.s3_access_key, "ROOT_SECRET_KEY": secrets.s3_secret_key}

    def prepare(self) -> list[str]:
        (self.folder / self.home.bucket).mkdir(parents=True, exist_ok=True)
        if not _keeps_attributes(self.folder):
            self._sidecar.mkdir(exist_ok=True)
        return []

    @property
    def _sidecar(self) -> Path:
        return self.home.data / "s3-attributes"

    def program(self) -> Program:
        sidecar = ["--sidecar", str(self._sidecar)] if self._sidecar.exists() else []
        address = f"{LOOPBACK}:{self.home.ports.s3}"
        # A small commit makes a hundred requests, and without --keep-alive as many connections.
        # With roles, the requests are written down: what the jobs may do on S3 is compared with what they do.
        log = ["--access-log", str(self.home.iam / "s3.log")] if self.home.has_roles else []
        server = [str(self.binary), "--quiet", "--keep-alive", "--port", address, *log]
        command = [*server, "posix", *sidecar, str(self.folder)]
        # A listing becomes garbage when it is sent: rarer collection saves a fifth of its cost for 15 MB.
        return Program(command, self.home.data, {"GOGC": "400"})

    def ready(self) -> bool:
        """A signed HEAD of the bucket succeeds."""
        bucket = f"{self.home.s3}/{self.home.bucket}"
        return answers(bucket, "HEAD", self._signature(bucket))

    def _signature(self, url: str) -> dict[str, str]:
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        keys = Credentials(self.home.secrets.s3_access_key, self.home.secrets.s3_secret_key)
        request = AWSRequest("HEAD", url)
        S3SigV4Auth(keys, "s3", REGION).add_auth(request)
        return dict(request.headers)


def _keeps_attributes(folder: Path) -> bool:
    try:
        os.setxattr(folder, "user.lake", b"1")
    except OSError:
        return False
    return True


def s3a_settings(endpoint: str) -> dict[str, object]:
    """How Hadoop reaches this server; the key pair comes from the environment (AWS_ACCESS_KEY_ID, ...)."""
    return {
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.endpoint.region": REGION,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.aws.credentials.provider": "com.amazonaws.auth.EnvironmentVariableCredentialsProvider",
        # Deleting the markers of parent folders after each write takes seconds on a folder-backed server.
        "fs.s3a.directory.marker.retention": "keep",
    }
