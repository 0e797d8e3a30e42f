"""The network of an AWS environment: a new VPC, or one that exists."""

from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from lake.aws.part import Cidr, Part, SubnetId, overlap


def _two_or_three(zones: int | tuple[str, ...]) -> int | tuple[str, ...]:
    count = zones if isinstance(zones, int) else len(set(zones))
    if not 2 <= count <= 3 or (isinstance(zones, tuple) and count < len(zones)):
        raise ValueError(f"{count} different zones | write 2 or 3, or the names of two or three zones")
    return zones


# By name, where AWS's choice fails: in us-east-1 one zone, with another letter in each account, has no room for EKS.
Zones = Annotated[StrictInt | tuple[StrictStr, ...], AfterValidator(_two_or_three)]


class ExistingVpc(Part):
    """A VPC that others own: one private subnet with a way out, and its route table, per availability zone."""

    vpc_id: Annotated[StrictStr, Field(pattern=r"^vpc-[0-9a-f]{8,17}$")]
    cidr: Cidr
    availability_zones: Annotated[tuple[StrictStr, ...], Field(min_length=2, max_length=3)]
    private_subnets: Annotated[tuple[SubnetId, ...], Field(min_length=2, max_length=3)]
    route_tables: tuple[Annotated[StrictStr, Field(pattern=r"^rtb-[0-9a-f]{8,17}$")], ...]

    @model_validator(mode="after")
    def _one_of_each_per_zone(self) -> "ExistingVpc":
        for key, found in (("private_subnets", self.private_subnets), ("route_tables", self.route_tables)):
            if len(found) != len(self.availability_zones):
                raise ValueError(
                    f"{len(found)} {key} for {len(self.availability_zones)} availability_zones | "
                    "name one per zone, in the same order"
                )
        return self


class SourceVpc(Part):
    """A separate VPC for the source database, peered with the lake's."""

    cidr: Cidr


class Network(Part):
    """The network of all resources."""

    cidr: Cidr = "10.20.0.0/16"
    availability_zones: Zones = 2
    nat_gateways: Annotated[StrictInt, Field(ge=1, le=3)] = 1
    interface_endpoints: StrictBool = False
    existing: ExistingVpc | None = None
    source_vpc: SourceVpc | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Network":
        if self.existing:
            self.refuse_beside("existing", ("cidr", "availability_zones", "nat_gateways", "interface_endpoints"))
        elif self.nat_gateways > self.zones:
            raise ValueError(
                f"nat_gateways {self.nat_gateways} exceeds availability_zones {self.zones} | "
                "one per zone is the most: lower it"
            )
        if self.source_vpc and overlap(self.source_vpc.cidr, self.lake_cidr):
            raise ValueError(
                f"source_vpc.cidr {self.source_vpc.cidr} overlaps {self.lake_cidr} | peered networks must not overlap"
            )
        return self

    @property
    def lake_cidr(self) -> str:
        return self.existing.cidr if self.existing else self.cidr

    @property
    def named_zones(self) -> tuple[str, ...]:
        """The zones by name; empty if AWS chooses them."""
        if self.existing:
            return self.existing.availability_zones
        return self.availability_zones if isinstance(self.availability_zones, tuple) else ()

    @property
    def zones(self) -> int:
        count = self.availability_zones
        return count if isinstance(count, int) and not self.existing else len(self.named_zones)
