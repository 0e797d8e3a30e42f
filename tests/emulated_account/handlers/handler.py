"""What all custom resources share."""

from typing import Any

from tests.emulated_account.errors import Refused
from tests.emulated_account.resources.kind import Kind, Properties

TOKEN = "ServiceToken"


class Handler(Kind):
    """A custom resource; the function that it names must exist, though what it would do is done here."""

    service = "lambda"

    def function(self, properties: Properties) -> dict[str, Any]:
        arn = properties[TOKEN]
        try:
            found = dict(self.client.get_function(FunctionName=arn)["Configuration"])
        except self.client.exceptions.ResourceNotFoundException as error:
            raise Refused(f"no function {arn}") from error
        self.place.logs.write_as(self.place.region, found["FunctionName"])
        return found
