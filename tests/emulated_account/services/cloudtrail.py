"""What moto lacks of CloudTrail: the command line looks there for the reason of a failure."""

from tests.emulated_account.services.service import Answer, Service


class CloudTrail(Service):
    """No call is recorded, so none is found."""

    name, signed = "cloudtrail", "cloudtrail"

    def lookup_events(self, _: str, __: Answer) -> Answer:
        return {"Events": []}
