"""Messages that are delivered again: the streaming job reads a topic from an earlier offset on."""

from lake.clients.stream_control import REREAD, ask_stream
from lake.config.environment import Environment
from tests.clocks import HANG_S


def read_again(home: Environment, *tables: str, offset: int = 0) -> None:
    """tables: "moma_mor.artists". Returns when the job reads there; the topics of the tables have one partition."""
    ask_stream(home, {table: (REREAD, {"table": table, "offsets": {"0": offset}}) for table in tables}, HANG_S)
