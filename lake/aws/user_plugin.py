"""A Connect plug-in that the operator downloads as a zip archive: its licence forbids us to distribute it."""

import zipfile
from pathlib import Path

from lake.aws.archive import write_zip

S3_SINK_CONNECTOR = "io.confluent.connect.s3.S3SinkConnector"
MANIFEST = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"


def unpack(archive: Path, connector: str, folder: Path) -> list[Path]:
    """The jars of a plug-in, and a jar that names its class: a worker finds it by that name, which may be missing."""
    manifest = folder / "manifest" / MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(f"{connector}\n")
    write_zip(folder / "lake-manifest.jar", folder / "manifest", [manifest])
    with zipfile.ZipFile(archive) as plugin:
        for name in plugin.namelist():
            if name.endswith(".jar"):
                (folder / Path(name).name).write_bytes(plugin.read(name))
    return sorted(folder.glob("*.jar"))
