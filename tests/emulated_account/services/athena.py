"""What moto lacks of Athena: the deletion of saved queries."""

from moto.backends import get_backend

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service, refuse


class Athena(Service):
    name, signed = "athena", "athena"

    def delete_named_query(self, region: str, wish: Answer) -> Answer:
        queries = get_backend("athena")[ACCOUNT][region].named_queries
        if wish["NamedQueryId"] not in queries:
            raise refuse("InvalidRequestException", f"NamedQuery {wish['NamedQueryId']} was not found")
        del queries[wish["NamedQueryId"]]
        return {}
