"""iam/judge.mjs, asked from Python: whether a role may do what it did."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iam.roles import Account

ROOT = Path(__file__).resolve().parents[2]
# Every call of the lake is made over TLS; policies of buckets deny what is not.
ALWAYS = {"aws:SecureTransport": "true", "s3:TlsVersion": "1.3"}


@dataclass(frozen=True, order=True)
class Call:
    """role: as the account names it. resource: an ARN, or "*" where AWS knows no narrower one."""

    role: str
    action: str
    resource: str
    context: tuple[tuple[str, str], ...] = ()

    def question(self) -> dict[str, Any]:
        context = {**ALWAYS, **dict(self.context)}
        return {"role": self.role, "action": self.action, "resource": self.resource, "context": context}


@dataclass(frozen=True)
class Verdict:
    """by: the statements that decided, as <policy>/<number or Sid>; reason: why not, in the evaluator's words."""

    allowed: bool
    reason: str
    by: list[str] = field(default_factory=list)


class Judge:
    """One evaluator process for one account; the account may be exchanged."""

    def __init__(self, process: "subprocess.Popen[str]", path: Path) -> None:
        self._process, self._path = process, path

    def of(self, account: Account) -> "Judge":
        """From now on the account is this one."""
        account.write(self._path)
        return self

    def may(self, calls: Iterable[Call]) -> list[Verdict]:
        """A verdict per call, in their order."""
        return [self._ask(call.question()) for call in calls]

    def _ask(self, question: Mapping[str, Any]) -> Verdict:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{json.dumps(question)}\n")
        self._process.stdin.flush()
        return Verdict(**json.loads(self._process.stdout.readline()))


@contextmanager
def judge() -> Iterator[Judge]:
    """An evaluator that runs until the end of the block."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "account.json"
        Account().write(path)
        command = ["node", str(ROOT / "iam/judge.mjs"), str(path)]
        with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            yield Judge(process, path)
            assert process.stdin
            process.stdin.close()
