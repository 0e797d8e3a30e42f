"""EMR Serverless: applications."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Application(Kind):
    """CloudFormation changes and deletes an application that is stopped, and stops none by itself."""

    type, service = "AWS::EMRServerless::Application", "emr-serverless"

    def create(self, properties: Properties) -> Made:
        answer = self.call("create_application", properties.rest())
        return Made(answer["applicationId"], {"ApplicationId": answer["applicationId"], "Arn": answer["arn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_application(applicationId=made.id)
