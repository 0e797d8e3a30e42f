"""A Connect plug-in that the operator brings as a zip archive, because its licence lets nobody else hand it on."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

from lake.aws.archive import write_zip

S3_SINK_CONNECTOR = "io.confluent.connect.s3.S3SinkConnector"
MANIFEST = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"


@dataclass(frozen=True)
class BroughtPlugin:
    """name is its folder in the bundle."""

    name: str
    archive: Path
    connector: str  # its class

    def unpack(self, folder: Path) -> list[Path]:
        """Its jars, and one that names its class: our workers find plug-ins by such manifests, which not all bring."""
        (folder / "manifest" / MANIFEST).parent.mkdir(parents=True)
        (folder / "manifest" / MANIFEST).write_text(f"{self.connector}\n")
        write_zip(folder / "lake-manifest.jar", folder / "manifest", [folder / "manifest" / MANIFEST])
        with zipfile.ZipFile(self.archive) as archive:
            for name in archive.namelist():
                if name.endswith(".jar"):
                    (folder / Path(name).name).write_bytes(archive.read(name))
        return sorted(folder.glob("*.jar"))
