"""The key of the local Kafka, the certificate that its clients trust, and its listener for those who log in."""

import secrets
from pathlib import Path

from lake.config.environment import LOOPBACK
from lake.config.files import replace_file
from lake.local import java
from lake.local.service import run_tool


def certify(folder: Path) -> None:
    """Made once: broker.p12, its password, and broker.pem, in a folder that only its owner can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / "broker.pem").exists():
        return
    replace_file(folder / "password.txt", secrets.token_hex(20))
    replace_file(_password(folder), f"password={(folder / 'password.txt').read_text()}\n")
    store = ["-keystore", str(folder / "broker.p12"), "-storepass:file", str(folder / "password.txt")]
    names = ["-dname", "CN=localhost", "-ext", f"san=dns:localhost,ip:{LOOPBACK}"]
    kind = ["-storetype", "PKCS12", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "3650"]
    export = ["-exportcert", "-rfc", "-file", str(folder / "broker.pem")]
    for words in (["-genkeypair", *names, *kind], export):
        command = [java.jdk_tool("keytool"), *words, "-alias", "broker", *store]
        run_tool(command, "the broker got no certificate", folder)


def listener(name: str, folder: Path) -> dict[str, object]:
    """The settings of the broker for TLS on a listener."""
    return {
        f"{name}.ssl.keystore.type": "PKCS12",
        f"{name}.ssl.keystore.location": folder / "broker.p12",
        f"{name}.ssl.keystore.password": f"${{file:{_password(folder)}:password}}",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "config.providers.file.param.allowed.paths": folder,
    }


def _password(folder: Path) -> Path:
    return folder / "password.properties"
