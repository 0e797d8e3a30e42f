"""Writer schemas by id, from the Confluent-compatible interface of the schema registry."""

import json
import urllib.error
import urllib.request
from typing import Any, Dict

TIMEOUT_S = 10


class UnknownSchema(Exception):
    """A message names a schema id that the registry does not have."""


class Registry:
    """Schemas never change once they have an id, so each is fetched once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known = {}  # type: Dict[int, Dict[str, Any]]

    def schema(self, schema_id: int) -> Dict[str, Any]:
        """The Avro schema of an id, parsed; UnknownSchema when the registry has none, URLError when it is away."""
        if schema_id not in self._known:
            self._known[schema_id] = self._fetch(schema_id)
        return self._known[schema_id]

    def _fetch(self, schema_id: int) -> Dict[str, Any]:
        address = "{}/schemas/ids/{}".format(self._url, schema_id)
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
                return dict(json.loads(json.loads(answer.read().decode("utf-8"))["schema"]))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise UnknownSchema("schema id {} is not in the registry {}".format(schema_id, self._url)) from None
            raise
