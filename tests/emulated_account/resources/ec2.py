"""Networks."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Ec2(Kind):
    """Made by one call that takes the tags with it."""

    service = "ec2"
    tagged = ""  # the API's word for this type

    def made(self, method: str, properties: Properties, **more: Any) -> dict[str, Any]:
        tags = [*properties.get("Tags", []), *self.place.tags]
        specification = [{"ResourceType": self.tagged, "Tags": _last(tags)}] if tags else []
        return self.call(method, properties.rest(), TagSpecifications=specification, **more)

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Only tags can be changed so far."""
        if {**properties, "Tags": None} != {**before, "Tags": None}:
            return super().update(made, properties, before)
        properties.rest()
        self.client.create_tags(Resources=[made.id], Tags=_last([*properties["Tags"], *self.place.tags]))
        return made


def _last(tags: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in {tag["Key"]: tag["Value"] for tag in tags}.items()]


class Vpc(Ec2):
    type, tagged = "AWS::EC2::VPC", "vpc"
    FLAGS = ("EnableDnsHostnames", "EnableDnsSupport")

    def create(self, properties: Properties) -> Made:
        flags = {name: properties[name] for name in self.FLAGS if name in properties}
        vpc = self.made("create_vpc", properties)["Vpc"]
        for name, value in flags.items():
            self.call("modify_vpc_attribute", {name: {"Value": value}}, VpcId=vpc["VpcId"])
        return Made(vpc["VpcId"], {"VpcId": vpc["VpcId"], "CidrBlock": vpc["CidrBlock"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_vpc(VpcId=made.id)


class Subnet(Ec2):
    type, tagged = "AWS::EC2::Subnet", "subnet"

    def create(self, properties: Properties) -> Made:
        public = properties.get("MapPublicIpOnLaunch", False)
        subnet = self.made("create_subnet", properties)["Subnet"]
        self.call("modify_subnet_attribute", MapPublicIpOnLaunch={"Value": public}, SubnetId=subnet["SubnetId"])
        names = ("SubnetId", "AvailabilityZone", "VpcId")
        return Made(subnet["SubnetId"], {name: subnet[name] for name in names})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_subnet(SubnetId=made.id)


class RouteTable(Ec2):
    type, tagged = "AWS::EC2::RouteTable", "route-table"

    def create(self, properties: Properties) -> Made:
        id = self.made("create_route_table", properties)["RouteTable"]["RouteTableId"]
        return Made(id, {"RouteTableId": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_route_table(RouteTableId=made.id)


class SubnetRouteTableAssociation(Ec2):
    type = "AWS::EC2::SubnetRouteTableAssociation"

    def create(self, properties: Properties) -> Made:
        return Made(self.call("associate_route_table", properties.rest())["AssociationId"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.disassociate_route_table(AssociationId=made.id)


class Route(Ec2):
    type = "AWS::EC2::Route"

    def create(self, properties: Properties) -> Made:
        self.call("create_route", properties.rest())
        return Made(f"{properties['RouteTableId']}|{properties['DestinationCidrBlock']}")

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        table, _, network = made.id.partition("|")
        self.client.delete_route(RouteTableId=table, DestinationCidrBlock=network)


class InternetGateway(Ec2):
    type, tagged = "AWS::EC2::InternetGateway", "internet-gateway"

    def create(self, properties: Properties) -> Made:
        return Made(self.made("create_internet_gateway", properties)["InternetGateway"]["InternetGatewayId"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_internet_gateway(InternetGatewayId=made.id)


class VpcGatewayAttachment(Ec2):
    type = "AWS::EC2::VPCGatewayAttachment"

    def create(self, properties: Properties) -> Made:
        self.call("attach_internet_gateway", properties.rest())
        return Made(f"IGW|{properties['VpcId']}")

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.detach_internet_gateway(
            InternetGatewayId=properties["InternetGatewayId"], VpcId=properties["VpcId"]
        )


class ElasticIp(Ec2):
    type, tagged = "AWS::EC2::EIP", "elastic-ip"

    def create(self, properties: Properties) -> Made:
        address = self.made("allocate_address", properties)
        return Made(address["PublicIp"], {name: address[name] for name in ("AllocationId", "PublicIp")})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.release_address(AllocationId=made.attributes["AllocationId"])


class NatGateway(Ec2):
    type, tagged = "AWS::EC2::NatGateway", "natgateway"

    def create(self, properties: Properties) -> Made:
        id = self.made("create_nat_gateway", properties)["NatGateway"]["NatGatewayId"]
        return Made(id, {"NatGatewayId": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_nat_gateway(NatGatewayId=made.id)


class FlowLog(Ec2):
    type, tagged = "AWS::EC2::FlowLog", "vpc-flow-log"

    def create(self, properties: Properties) -> Made:
        answer = self.made("create_flow_logs", properties, ResourceIds=[properties["ResourceId"]])
        return Made(answer["FlowLogIds"][0])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_flow_logs(FlowLogIds=[made.id])


class VpcEndpoint(Ec2):
    type, tagged = "AWS::EC2::VPCEndpoint", "vpc-endpoint"

    def create(self, properties: Properties) -> Made:
        id = self.made("create_vpc_endpoint", properties)["VpcEndpoint"]["VpcEndpointId"]
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_vpc_endpoints(VpcEndpointIds=[made.id])


class VpcPeeringConnection(Ec2):
    type, tagged = "AWS::EC2::VPCPeeringConnection", "vpc-peering-connection"

    def create(self, properties: Properties) -> Made:
        answer = self.made("create_vpc_peering_connection", properties)
        id = answer["VpcPeeringConnection"]["VpcPeeringConnectionId"]
        # Within one account CloudFormation accepts it by itself.
        self.client.accept_vpc_peering_connection(VpcPeeringConnectionId=id)
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_vpc_peering_connection(VpcPeeringConnectionId=made.id)


class SecurityGroup(Ec2):
    type, tagged = "AWS::EC2::SecurityGroup", "security-group"

    def create(self, properties: Properties) -> Made:
        name = properties.get("GroupName") or self.place.name(255)
        out, into = properties.get("SecurityGroupEgress"), properties.get("SecurityGroupIngress", [])
        text = properties["GroupDescription"]
        id = self.made("create_security_group", properties, GroupName=name, Description=text)["GroupId"]
        if out is not None:
            self._replace_default(id, out)
        if into:
            self.client.authorize_security_group_ingress(GroupId=id, IpPermissions=[permission(one) for one in into])
        return Made(id, {"GroupId": id, "VpcId": properties.get("VpcId")})

    def _replace_default(self, id: str, rules: list[dict[str, Any]]) -> None:
        """A group that names its own ways out has lost the way to everywhere."""
        everywhere = permission({"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"})
        self.client.revoke_security_group_egress(GroupId=id, IpPermissions=[everywhere])
        self.client.authorize_security_group_egress(GroupId=id, IpPermissions=[permission(one) for one in rules])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_security_group(GroupId=made.id)


class Rule(Ec2):
    """A rule apart from its group."""

    way = ""

    def create(self, properties: Properties) -> Made:
        rule = properties.rest()
        answer = self._change("authorize", rule)
        return Made(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self._change("revoke", properties)

    def _change(self, verb: str, rule: Mapping[str, Any]) -> dict[str, Any]:
        return self.call(f"{verb}_security_group_{self.way}", GroupId=rule["GroupId"], IpPermissions=[permission(rule)])


class SecurityGroupIngress(Rule):
    type, way = "AWS::EC2::SecurityGroupIngress", "ingress"


class SecurityGroupEgress(Rule):
    type, way = "AWS::EC2::SecurityGroupEgress", "egress"


def permission(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule of a template as the API takes it."""
    ports = {name: int(rule[name]) for name in ("FromPort", "ToPort") if name in rule}
    described = {"Description": rule["Description"]} if "Description" in rule else {}
    group = rule.get("SourceSecurityGroupId") or rule.get("DestinationSecurityGroupId")
    if group:
        return {"IpProtocol": rule["IpProtocol"], **ports, "UserIdGroupPairs": [{"GroupId": group, **described}]}
    return {"IpProtocol": rule["IpProtocol"], **ports, "IpRanges": [{"CidrIp": rule["CidrIp"], **described}]}
