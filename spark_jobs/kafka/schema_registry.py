"""Writer schemas by id, from the Confluent-compatible interface of the schema registry."""

import http.client
import json
import urllib.error
import urllib.request
from typing import Any, Dict, List

TIMEOUT_S = 10


class UnknownSchema(Exception):
    """The registry does not have a schema that a message or a topic names."""


class Unreachable(Exception):
    """The registry does not answer, or its answer is not a schema."""


class Registry:
    """Schemas never change once they have an id, so each is fetched once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: Dict[int, Dict[str, Any]] = {}

    def schema(self, schema_id: int) -> Dict[str, Any]:
        """The Avro schema of an id, parsed; UnknownSchema when the registry has none; Unreachable."""
        if schema_id not in self._known:
            self._known[schema_id] = self._fetch(schema_id)
        return self._known[schema_id]

    def versions(self, subject: str) -> List[Dict[str, Any]]:
        """All schemas of a subject ("moma.public.artists-value"), oldest first; UnknownSchema when it has none."""
        path, missing = "subjects/{}/versions".format(subject), self._no_subject(subject)
        answers = [self._ask("{}/{}".format(path, number), missing) for number in self.require(subject)]
        return [dict(json.loads(answer["schema"])) for answer in answers]

    def require(self, subject: str) -> List[int]:
        """The numbers of a subject's versions, oldest first; UnknownSchema when it has none."""
        return list(self._ask("subjects/{}/versions".format(subject), self._no_subject(subject)))

    def _no_subject(self, subject: str) -> str:
        return "subject {} is not in the registry {}: nothing was captured yet".format(subject, self._url)

    def _fetch(self, schema_id: int) -> Dict[str, Any]:
        missing = "schema id {} is not in the registry {}".format(schema_id, self._url)
        schema = json.loads(self._ask("schemas/ids/{}".format(schema_id), missing)["schema"])
        return schema if isinstance(schema, dict) else {"type": schema}  # "string" is a schema, too

    def _ask(self, path: str, missing: str) -> Any:
        try:
            with urllib.request.urlopen("{}/{}".format(self._url, path), timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise UnknownSchema(missing) from None
            raise Unreachable("the registry {} answers: {}".format(self._url, error)) from None
        except (OSError, http.client.HTTPException, ValueError) as error:  # while the answer is read, or it is no JSON
            reason = getattr(error, "reason", error)
            raise Unreachable("the registry {} does not answer: {}".format(self._url, reason)) from None
