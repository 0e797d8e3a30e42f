"""Requests for table services, as `lake compact` sends them, without waiting."""

from lake.clients import stream_status
from lake.clients.stream_control import COMPACT, stream_channel
from tests.faults.rig import Rig


def request_compaction(rig: Rig, name: str) -> None:
    """Once, however often it is called before the streaming job has done it."""
    stream_channel(rig.home).send(f"compact-{name}", {"verb": COMPACT, "arguments": {"table": name}})


def ask_for_services(rig: Rig) -> None:
    """As `lake compact` does, without waiting."""
    for name in stream_status.reported(rig.home):
        if not name.startswith("bronze."):
            request_compaction(rig, name)
