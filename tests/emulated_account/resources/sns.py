"""Topics and who may send to them."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.resources.kind import Kind, Made, Properties, Put
from tests.emulated_account.resources.sizes import check_size, size

POLICY_SIZE = 30 * 1024


class Topic(Kind):
    type, service = "AWS::SNS::Topic", "sns"

    def create(self, properties: Properties) -> Made:
        name = properties.get("TopicName") or self.place.name(256)
        tags = properties.get("Tags", [])
        arn = self.call("create_topic", Name=name, Tags=tags, Attributes=properties.rest())["TopicArn"]
        return Made(arn, {"TopicArn": arn, "TopicName": name})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_topic(TopicArn=made.id)


class Subscription(Kind):
    type, service = "AWS::SNS::Subscription", "sns"

    def create(self, properties: Properties) -> Made:
        arn = self.call("subscribe", properties.rest(), ReturnSubscriptionArn=True)["SubscriptionArn"]
        return Made(arn, {"Arn": arn})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.unsubscribe(SubscriptionArn=made.id)


class TopicPolicy(Put):
    type, service = "AWS::SNS::TopicPolicy", "sns"

    def create(self, properties: Properties) -> Made:
        return self.put(self.place.name(), properties)

    def put(self, id: str, properties: Properties) -> Made:
        text = json.dumps(properties["PolicyDocument"])
        check_size("The topic policy", size(properties["PolicyDocument"]), POLICY_SIZE)
        for topic in properties["Topics"]:
            self.client.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue=text)
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """The topic is left to its owner, as it was before."""
        for topic in properties["Topics"]:
            text = json.dumps({"Version": "2012-10-17", "Statement": [owners(topic)]})
            self.client.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue=text)


def owners(topic: str) -> dict[str, str]:
    principal = f"arn:aws:iam::{ACCOUNT}:root"
    return {"Effect": "Allow", "Principal": principal, "Action": "SNS:Publish", "Resource": topic}
