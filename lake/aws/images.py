"""The container images that the charts run, and where an environment takes them from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictStr

from lake.aws.part import Part
from lake.config import versions
from lake.config.yaml_file import read_mapping

Name = Literal["kafka", "registry", "postgresql", "aws-cli", "python"]
Digest = Annotated[StrictStr, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Registry = Annotated[StrictStr, Field(pattern=r"^[a-z0-9.-]+\.[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$")]
# Each image: a chart that runs it, and the place of its repository in the values of that chart.
PLACES: Mapping[Name, tuple[str, tuple[str, ...]]] = {
    "kafka": ("kafka-connect", ("image",)),
    "registry": ("apicurio-registry", ("image",)),
    "postgresql": ("source-database", ("image",)),
    "aws-cli": ("kafka-connect", ("tools", "awsCli")),
    "python": ("kafka-connect", ("tools", "python")),
}


class Images(Part):
    """A registry of your own, and the digests that its images must have. Without both: the public ones, by tag."""

    registry: Registry | None = None
    digests: dict[Name, Digest] = Field(default_factory=dict)


@dataclass(frozen=True)
class Image:
    """One image as it is published, and as the charts pull it. digest: "" if the tag decides."""

    name: Name
    source: str
    repository: str
    tag: str
    digest: str

    @property
    def reference(self) -> str:
        return f"{self.repository}:{self.tag}{'@' if self.digest else ''}{self.digest}"


def needed(root: Path, settings: Images) -> Iterator[Image]:
    """All images of a lake. In a registry of your own an image has the name of its public host before its own."""
    charts = {
        chart: read_mapping(root / "helm" / chart / "values.yaml") for chart in {one for one, _ in PLACES.values()}
    }
    for name, (chart, path) in PLACES.items():
        found: Any = charts[chart]
        for key in path:
            found = found[key]
        source, tag = found["repository"], found["tag"] or _version(root, name)
        repository = f"{settings.registry}/{source}" if settings.registry else source
        yield Image(name, f"{source}:{tag}", repository, tag, settings.digests.get(name, ""))


def _version(root: Path, name: str) -> str:
    """The version of the software that the local lake runs, too."""
    own = {"kafka": "kafka", "registry": "apicurio"}
    return versions.POSTGRESQL if name == "postgresql" else versions.from_pom(root, own[name])


def chart_values(images: Mapping[Name, Image], settings: Images, main: Name) -> dict[str, Any]:
    """`image`, and where the environment says something of them `tools`, of the chart whose main image is this."""
    tools = {"awsCli": images["aws-cli"], "python": images["python"]}
    given = {key: _differing(one, settings) for key, one in tools.items()}
    changed = {key: value for key, value in given.items() if value}
    return {"image": {"tag": images[main].tag, **_differing(images[main], settings)}, **_if("tools", changed)}


def _differing(image: Image, settings: Images) -> dict[str, str]:
    return {**(_if("repository", image.repository) if settings.registry else {}), **_if("digest", image.digest)}


def _if(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}
