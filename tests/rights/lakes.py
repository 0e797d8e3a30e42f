"""The lakes whose rights are judged: the environments of this repository, and one for each choice of platform."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from iam.roles import Account, Stacks, account, read
from lake.aws.environment import AwsEnvironment, load_aws_environment
from tests.synth.synthesis import ENVIRONMENTS, FOLDERS, ROOT, changed, described, synthesize

SERVERLESS = {"kind": "serverless", "release": "emr-7.10.0", "sales": {"executors": 1}}
# Name -> the environment that it starts from, and what is different in its file, by dotted keys.
LAKES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{name: (name, {}) for name in ENVIRONMENTS},
    "EMR Serverless": ("dev", {"processing": SERVERLESS}),
    "MSK Connect": ("dev", {"connect.kind": "msk_connect"}),
    "SCRAM": ("dev", {"streaming.auth": "scram"}),
    "Lake Formation": ("dev", {"catalog.lake_formation": True, "catalog.readers": ["Analysts"]}),
}
# The roles of the same programs, of which a lake has one.
SAME = {"Nodes": ("Nodes", "JobRole"), "ConnectRole": ("ConnectRole", "MskConnectRole")}


@dataclass(frozen=True)
class Lake:
    """A synthesized one. folder: with its templates and assets."""

    environment: AwsEnvironment
    folder: Path
    stacks: Stacks
    account: Account

    @property
    def choices(self) -> set[str]:
        """What its file says, as `only` of platform_calls.yaml names it."""
        processing = self.environment.processing
        switches = {"sales": processing.sales, "lake_formation": self.environment.catalog.lake_formation}
        kinds = {processing.kind, self.environment.connect.kind, self.environment.streaming.auth}
        return {*kinds, *(name for name, on in switches.items() if on)}

    def role(self, name: str) -> str:
        """The role that has this name, or another one where the platform is another."""
        return next((one for one in SAME.get(name, ()) if one in self.account.roles), name)


def lake(name: str) -> Lake:
    base, changes = LAKES[name]
    place = described(Path(mkdtemp(dir=FOLDERS.name)), changed(base, dict(changes))) if changes else ROOT
    folder = synthesize(base, place).folder
    stacks = read(folder)
    return Lake(load_aws_environment(place, base), folder, stacks, account(stacks))
