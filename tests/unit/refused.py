"""A project folder with something wrong in it, and what a refusal must be: one line, exit code 2, nothing changed."""

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lake.cli.main import main
from lake.plan import run

Capture = pytest.CaptureFixture[str]
SHOP = "database: shop\ntables:\n  public.a: {key: [id], partition: kind}\n"
LOCAL = "name: local\n"


@dataclass(frozen=True)
class Case:
    """What the files say, and the words that the one line must hold."""

    name: str
    says: list[str]
    shop: str | bytes | None = SHOP
    local: str = LOCAL
    variables: dict[str, str] = field(default_factory=dict)
    file: str = "shop.yaml"


def table(settings: str) -> str:
    return f"database: shop\ntables:\n  public.a: {settings}\n"


def lay_out(root: Path, case: Case) -> None:
    (root / "databases").mkdir()
    (root / "environments").mkdir()
    (root / "environments" / "local.yaml").write_text(case.local)
    if case.shop is not None:
        content = case.shop if isinstance(case.shop, bytes) else case.shop.encode()
        (root / "databases" / case.file).write_bytes(content)


def assert_refused(
    root: Path, says: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture, *options: str
) -> None:
    monkeypatch.setattr(run, "PROJECT", root)
    monkeypatch.setattr(sys, "argv", ["lake", "apply", *options])
    before = fingerprint(root)
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert left.value.code == 2
    told = [line for line in err.splitlines() if line.startswith("lake: ")]  # a busy machine also shows progress
    assert (out, len(told), told[-1:] == err.splitlines()[-1:], err.count("; ") >= 2) == ("", 1, True, True), err
    for words in says:
        assert words in err
    assert fingerprint(root) == before


def fingerprint(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
