"""The control channel of the streaming job: the requests of operators, and their answers.

A request is the file <requests>/<id>.json with {"id", "verb", "arguments"}. Its answer is <requests>/answers/<id>.json
with {"id", "code", "result"} (lake/clients/control.py). The answer is written before the request is deleted, so that a
request survives a crash. It may then be served twice, which does no harm: each verb allows it.
"""

import json
from typing import Any, Dict, List, NamedTuple

from pyspark.sql import SparkSession

from spark_jobs.hudi.table_services import COMPACT, DELETE_ORPHANS
from spark_jobs.runtime import storage

ENDING = ".json"
DONE, FAILED, WRONG = 0, 1, 2
REPLAY, DROP = "replay", "drop"  # quarantine_requests.py serves them
REREAD = "reread"  # reads the topic of a table again from some offsets on
# The arguments of the others: {"table"}, {"table", "bound"}, {"table", "offsets"}.
VERBS = (COMPACT, DELETE_ORPHANS, REREAD, REPLAY, DROP)


class Request(NamedTuple):
    """What an operator requests from this job."""

    id: str
    verb: str
    arguments: Dict[str, Any]


class Control:
    """The requests in one folder."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark = spark
        self._folder = folder

    def has_requests(self) -> bool:
        """True if an operator waits for an answer."""
        return bool(self._names())

    def pending(self, *verbs: str) -> List[Request]:
        """The requests with one of these verbs. A file that is no such request is answered at once."""
        requests = [self._read(name) for name in self._names()]
        for one in requests:
            if one.verb not in VERBS:
                self.answer(one, WRONG, {"error": "there is no verb '{}'".format(one.verb)})
        return [one for one in requests if one.verb in verbs]

    def answer(self, request: Request, code: int, result: Dict[str, Any]) -> None:
        """Writes the answer and deletes the request."""
        content = json.dumps({"id": request.id, "code": code, "result": result})
        storage.write_text(self._spark, "{}/answers/{}{}".format(self._folder, request.id, ENDING), content)
        storage.delete(self._spark, "{}/{}{}".format(self._folder, request.id, ENDING))

    def _names(self) -> List[str]:
        return sorted(name for name in storage.names(self._spark, self._folder) if name.endswith(ENDING))

    def _read(self, name: str) -> Request:
        text = storage.read_text(self._spark, "{}/{}".format(self._folder, name))
        try:
            content = json.loads(text)
            return Request(name[: -len(ENDING)], content["verb"], dict(content["arguments"]))
        except (ValueError, KeyError, TypeError):
            return Request(name[: -len(ENDING)], "", {})
