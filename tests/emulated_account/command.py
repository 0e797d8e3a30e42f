"""The CDK's real command line, against the emulated account."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.clocks import HANG_S
from tests.emulated_account.account import Account

ROOT = Path(__file__).resolve().parents[2]
CDK = ROOT / "node_modules/.bin/cdk"
TOGETHER = ("--concurrency", "4")  # stacks that do not wait for each other
# The CDK's own validation costs three seconds of CPU a time; tests/synth does its work. Node's age is no news.
QUIET = {
    "CDK_VALIDATION": "false",
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    "CI": "true",
    "NO_COLOR": "1",
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    text: str
    seconds: float


@dataclass(frozen=True)
class Cdk:
    """Commands as a person types them."""

    account: Account
    region: str

    def run(self, *words: str | Path, folder: Path = ROOT, variables: Mapping[str, str] | None = None) -> Done:
        environment = {**without_aws(), **self.account.variables(self.region), **QUIET, **(variables or {})}
        command = ["node", "--no-warnings", str(CDK), "--no-notices", *map(str, words)]
        started = monotonic()
        done = subprocess.run(
            command, cwd=folder, env=environment, text=True, stdout=-1, stderr=subprocess.STDOUT, timeout=HANG_S
        )
        return Done(done.returncode, done.stdout, monotonic() - started)

    def bootstrap(self) -> Done:
        # Away from cdk.json: the app has nothing to say about it.
        with TemporaryDirectory() as elsewhere:
            return self.run("bootstrap", f"aws://{self.account.id}/{self.region}", folder=Path(elsewhere))

    def synth(self, environment: str, output: Path, environments: Path | None = None) -> Path:
        """The folder with what app.py makes of an environment file."""
        place = {"LAKE_ENVIRONMENTS_DIR": str(environments)} if environments else {}
        done = self.run("synth", "--quiet", "-c", f"env={environment}", "--output", output, variables=place)
        assert done.code == 0, done.text
        return output

    def deploy(self, assembly: Path, *stacks: str, parameters: Sequence[str] = ()) -> Done:
        """parameters: of stacks, as the command wants them."""
        given = [word for one in parameters for word in ("--parameters", one)]
        words = (*(stacks or ("--all",)), *TOGETHER, "--require-approval", "never", *given)
        return self._app(assembly, "deploy", *words)

    def diff(self, assembly: Path) -> Done:
        return self._app(assembly, "diff", "--fail")

    def prepare(self, assembly: Path) -> Done:
        """Change sets, left for a person to look at."""
        how = ("--method", "prepare-change-set", "--require-approval", "never")
        return self._app(assembly, "deploy", "--all", *TOGETHER, *how)

    def destroy(self, assembly: Path) -> Done:
        return self._app(assembly, "destroy", "--all", *TOGETHER, "--force")

    def _app(self, assembly: Path, *words: str) -> Done:
        return self.run(*words, "--app", assembly)


def without_aws() -> dict[str, str]:
    """This machine's environment less all that could lead to another account."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
