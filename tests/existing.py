"""What an environment of AWS may find there instead of making it."""

from typing import Any

EXISTING_VPC: dict[str, Any] = {
    "vpc_id": "vpc-0123456789abcdef0",
    "cidr": "10.50.0.0/16",
    "availability_zones": ["eu-central-1a", "eu-central-1b"],
    "private_subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    "route_tables": ["rtb-0123456789abcdef0", "rtb-0123456789abcdef1"],
}
EXISTING_DATABASE = {
    "host": "db.example.com",
    "admin_secret": "shop/admin",
    "security_group": "sg-0123456789abcdef0",
}
EXISTING_KAFKA: dict[str, Any] = {
    "arn": "arn:aws:kafka:eu-central-1:123456789012:cluster/shared/01234567-89ab-cdef-0123-456789abcdef-2",
    "security_group": "sg-0123456789abcdef2",
    "brokers": 3,
}
EXISTING_CLUSTER = {"name": "shared", "security_group": "sg-0123456789abcdef1", "load_balancers": "controller"}
