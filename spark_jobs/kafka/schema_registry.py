"""Schemas and their ids, by the Confluent-compatible interface of the schema registry."""

import base64
import http.client
import json
import urllib.error
import urllib.request
from typing import Any, Dict, List, Optional

TIMEOUT_S = 10


class UnknownSchema(Exception):
    """The registry does not have a schema that a message or a topic names."""


class Unreachable(Exception):
    """The registry does not answer, or its answer is not a schema."""


class Registry:
    """Schemas never change once they have an id, so each is fetched once.

    login: "user:password" of one that may register schemas; "" where all may who reach the registry, or to read only.
    """

    def __init__(self, url: str, login: str = "") -> None:
        self._url = url
        self._login = login
        self._known: Dict[int, Dict[str, Any]] = {}

    def schema(self, schema_id: int) -> Dict[str, Any]:
        """The Avro schema of an id, parsed; UnknownSchema when the registry has none; Unreachable."""
        if schema_id not in self._known:
            self._known[schema_id] = self._fetch(schema_id)
        return self._known[schema_id]

    def versions(self, subject: str) -> List[Dict[str, Any]]:
        """All schemas of a subject ("moma.public.artists-value"), oldest first; UnknownSchema when it has none."""
        return [dict(json.loads(answer["schema"])) for answer in self._answers(subject)]

    def by_id(self, subject: str) -> Dict[int, Dict[str, Any]]:
        """All schemas of a subject by the id that messages are framed with; UnknownSchema when it has none."""
        return {int(answer["id"]): dict(json.loads(answer["schema"])) for answer in self._answers(subject)}

    def id_of(self, subject: str, schema: Dict[str, Any]) -> int:
        """The id of a schema of a subject; UnknownSchema when the subject does not have it."""
        missing = "subject {} does not have this schema in the registry {}".format(subject, self._url)
        return int(self._ask("subjects/{}".format(subject), missing, schema)["id"])

    def register(self, subject: str, schema: Dict[str, Any]) -> int:
        """The id of the schema, which is a new version of the subject unless it has it already. Unreachable."""
        path = "subjects/{}/versions".format(subject)
        return int(self._ask(path, "the registry {} has no such path".format(self._url), schema)["id"])

    def require(self, subject: str) -> List[int]:
        """The numbers of a subject's versions, oldest first; UnknownSchema when it has none."""
        return list(self._ask("subjects/{}/versions".format(subject), self._no_subject(subject)))

    def _answers(self, subject: str) -> List[Any]:
        path, missing = "subjects/{}/versions".format(subject), self._no_subject(subject)
        return [self._ask("{}/{}".format(path, number), missing) for number in self.require(subject)]

    def _no_subject(self, subject: str) -> str:
        return "subject {} is not in the registry {}: nothing was captured yet".format(subject, self._url)

    def _request(self, path: str, schema: Optional[Dict[str, Any]]) -> urllib.request.Request:
        request = urllib.request.Request("{}/{}".format(self._url, path))
        if schema is not None:
            # Sorted, because the registry compares texts: another order would be another version.
            request.data = json.dumps({"schema": json.dumps(schema, sort_keys=True)}).encode("utf-8")
            request.add_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        if self._login:
            given = base64.b64encode(self._login.encode("utf-8")).decode("ascii")
            request.add_header("Authorization", "Basic {}".format(given))
        return request

    def _fetch(self, schema_id: int) -> Dict[str, Any]:
        missing = "schema id {} is not in the registry {}".format(schema_id, self._url)
        schema = json.loads(self._ask("schemas/ids/{}".format(schema_id), missing)["schema"])
        return schema if isinstance(schema, dict) else {"type": schema}  # "string" is a schema, too

    def _ask(self, path: str, missing: str, schema: Optional[Dict[str, Any]] = None) -> Any:
        """The answer to GET, or to POST with a schema."""
        try:
            with urllib.request.urlopen(self._request(path, schema), timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise UnknownSchema(missing) from None
            raise Unreachable("the registry {} answers: {}".format(self._url, error)) from None
        except (OSError, http.client.HTTPException, ValueError) as error:  # while the answer is read, or it is no JSON
            reason = getattr(error, "reason", error)
            raise Unreachable("the registry {} does not answer: {}".format(self._url, reason)) from None
