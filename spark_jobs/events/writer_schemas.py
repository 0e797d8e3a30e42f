"""The writer schemas that the messages of one table are decoded with."""

from contextlib import suppress
from typing import Any, Dict, Iterable, List

from pyspark.sql import DataFrame

from spark_jobs.events import decode, validate
from spark_jobs.events.message_form import flat
from spark_jobs.events.schema_evolution import required_fields
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.pipeline import Table


class WriterSchemas:
    """Each schema and its decoder is made once. known: by the id in the frame of a message."""

    def __init__(self, registry: Registry, table: Table) -> None:
        self.table = table
        self.known: Dict[int, Dict[str, Any]] = {}
        self._registry = registry
        self._decoders: Dict[int, decode.Decoder] = {}

    def learn(self, writers: Iterable[int]) -> bool:
        """True if one of them was not known yet. Raises UnknownWriter for one that is not the table's."""
        unknown = set(writers) - set(self.known)
        self.known.update({one: validate.own_schema(self._registry, one, self.table) for one in unknown})
        return bool(unknown)

    def learn_own(self, writers: Iterable[int]) -> None:
        """Like learn(), but ignores writers that are not the table's."""
        for writer in writers:
            with suppress(validate.UnknownWriter):
                self.learn([writer])

    def rows(self, messages: DataFrame, writer: int, *more: str) -> DataFrame:
        """The decoded messages of one writer. more: other columns, as SQL over the record `row`."""
        if writer not in self._decoders:
            self._decoders[writer] = decode.Decoder(self.known[writer], self.table)
        return self._decoders[writer].rows(messages, *more)

    def required(self, writer: int) -> List[str]:
        """The columns that are NOT NULL for a writer, known or not."""
        return required_fields(flat(self._registry.schema(writer)))
