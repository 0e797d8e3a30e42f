"""The control channel to the streaming job of this machine: files in a folder."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lake.clients.control import Content, ask_all
from lake.config.environment import Environment
from lake.config.files import replace_file
from lake.config.report import Report, silent
from lake.config.waiting import POLL_S

# The streaming job (spark_jobs/streaming/control.py) knows these verbs.
COMPACT, DELETE_ORPHANS, REREAD, REPLAY, DROP = "compact", "delete-orphans", "reread", "replay", "drop"
KEPT_S = 24 * 3600.0  # an answer that came after the time of its command


class FolderChannel:
    """Requests are files in the folder, answers are files in answers/ below it. An unanswered request stays queued."""

    poll_s = POLL_S

    def __init__(self, folder: Path, where: str) -> None:
        self._folder, self.where = folder, where

    def send(self, id: str, request: Content) -> None:
        replace_file(self._folder / f"{id}.json", json.dumps(request))

    def answer(self, id: str) -> Content | None:
        with suppress(FileNotFoundError):
            return dict(json.loads(self._answer(id).read_text(encoding="utf-8")))
        return None

    def forget(self, id: str) -> None:
        self._answer(id).unlink(missing_ok=True)
        for answer in self._folder.glob("answers/*.json"):
            with suppress(FileNotFoundError):  # another command deletes it, too
                if time.time() - answer.stat().st_mtime > KEPT_S:
                    answer.unlink()

    def _answer(self, id: str) -> Path:
        return self._folder / "answers" / f"{id}.json"


def stream_channel(home: Environment) -> FolderChannel:
    """The channel to the streaming job of this machine."""
    return FolderChannel(home.data / "requests", str(home.log("stream")))


def ask_stream(
    home: Environment, requests: Mapping[str, tuple[str, Content]], timeout_s: float, report: Report = silent
) -> dict[str, Content]:
    """The results of requests to the streaming job, each by its name."""
    now = "the request stays queued; see: lake status, lake logs stream"
    return ask_all(stream_channel(home), requests, timeout_s, now, report)
