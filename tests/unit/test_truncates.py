"""A TRUNCATE is told beside the heartbeats, and is a loss of its table until that was read again."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

from lake.config.environment import load_environment
from lake.guardian import truncates
from lake.guardian.truncates import Truncates
from lake.state import baseline
from tests.unit.test_plan import shop

SHOP = shop(a={"key": ["id"]})
TOPIC = SHOP.heartbeat_topic


class Message:
    """As confluent_kafka gives it."""

    def __init__(self, offset: int, schema: str = "", table: str = "") -> None:
        self._offset, self._named = offset, (schema, table)

    def topic(self) -> str:
        return TOPIC

    def offset(self) -> int:
        return self._offset

    def headers(self) -> list[tuple[str, bytes]] | None:
        pairs = zip(truncates.HEADERS, self._named, strict=True)
        return [(name, text.encode()) for name, text in pairs] if any(self._named) else None


class Reader:
    """A topic with these messages."""

    sent: ClassVar[list[Message]] = []
    begun: ClassVar[dict[str, int]] = {}

    def __init__(self, *_: Any) -> None:
        self.seen = 0

    def follow(self, offsets: dict[str, int]) -> None:
        Reader.begun = {**Reader.begun, **offsets}
        self.seen = self.seen or offsets[TOPIC]

    def messages(self) -> list[Message]:
        found = [one for one in Reader.sent if one.offset() >= self.seen]
        self.seen = len(Reader.sent)
        return found


def test_a_truncate_is_noted_once_also_across_a_restart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(truncates, "Reader", Reader)
    home = load_environment()
    Reader.sent = [Message(0), Message(1, "public", "a"), Message(2, "public", "other"), Message(3)]
    guardian = Truncates(home)
    for _ in range(2):
        guardian.note([SHOP])
    assert list(baseline.noted_losses(home, "shop").values()) == [{"public.a": "was truncated"}]
    Truncates(home).note([SHOP])
    assert Reader.begun[TOPIC] == 2
    assert len(baseline.noted_losses(home, "shop")) == 1
