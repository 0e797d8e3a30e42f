"""Parameters."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Made, Properties, Put
from tests.emulated_account.resources.sizes import check_size

LARGE = 8 * 1024  # advanced, or intelligent
SIZES = {"Standard": 4 * 1024}


class Parameter(Put):
    type, service = "AWS::SSM::Parameter", "ssm"

    def create(self, properties: Properties) -> Made:
        return self.put(properties.get("Name") or f"CFN-{self.place.name(stack=False)}", properties)

    def put(self, id: str, properties: Properties) -> Made:
        """Tags are given at creation only: the API takes them and an overwriting apart."""
        exists = bool(self.client.get_parameters(Names=[id])["Parameters"])
        wish = {name: value for name, value in properties.rest().items() if not (exists and name == "Tags")}
        most = SIZES.get(properties.get("Tier", "Standard"), LARGE)
        check_size(f"The value of parameter {id}", len(properties["Value"].encode()), most)
        self.call("put_parameter", {**wish, "Name": id}, Overwrite=exists)
        return Made(id, {"Type": properties["Type"], "Value": properties["Value"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_parameter(Name=made.id)
