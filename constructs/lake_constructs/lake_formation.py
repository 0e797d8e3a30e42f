"""Lake Formation in front of the catalog: it decides who may read which table, instead of the policies of roles."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Aws, Fn, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lakeformation as lakeformation
from aws_cdk import aws_s3 as s3
from aws_cdk import custom_resources as custom
from constructs import Construct

from lake_constructs.private_bucket import read_objects

EVERYBODY = "IAM_ALLOWED_PRINCIPALS"  # the group by which Lake Formation leaves a database to the policies of roles
READ = ("SELECT", "DESCRIBE")
WRITE = (*READ, "INSERT", "DELETE", "ALTER")


class LakeFormation(Construct):
    """Registers the bucket, makes the deployment an administrator, and takes IAM_ALLOWED_PRINCIPALS off the databases.

    prefixes: the folders of the tables. databases: constructs of the catalog by name.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        bucket: s3.IBucket,
        prefixes: Sequence[str],
        key: kms.IKey,
        databases: Mapping[str, Construct],
    ) -> None:
        super().__init__(scope, id)
        role = ReadingRole(self, "Role", bucket=bucket, prefixes=prefixes, key=key)
        self.location = lakeformation.CfnResource(
            self,
            "Location",
            resource_arn=bucket.bucket_arn,
            use_service_linked_role=False,  # it could not use our key
            role_arn=role.role_arn,
        )
        self.location.node.add_dependency(role)
        revoked: dict[str, custom.AwsCustomResource] = {}
        handler = None
        for name in databases:
            revoked[name] = self._revoke(name, handler)
            handler = handler or revoked[name].grant_principal
        assert isinstance(handler, iam.Role)
        self.settings = administrators(self, "Administrators", [deployer(self), handler.role_arn])
        first = next(iter(revoked.values()))
        for name, call in revoked.items():
            call.node.add_dependency(databases[name], self.settings, *([] if call is first else [first]))

    def _revoke(self, database: str, handler: iam.IRole | None) -> custom.AwsCustomResource:
        """handler: the role of all these calls, which gets its right with the first one.

        A database that never had this permission is no failure.
        """
        call = custom.AwsSdkCall(
            service="LakeFormation",
            action="revokePermissions",
            parameters={
                "Principal": {"DataLakePrincipalIdentifier": EVERYBODY},
                "Resource": {"Database": {"Name": database}},
                "Permissions": ["ALL"],
            },
            physical_resource_id=custom.PhysicalResourceId.of(database),
            ignore_error_codes_matching="InvalidInputException",
        )
        right = iam.PolicyStatement(actions=["lakeformation:RevokePermissions"], resources=["*"])
        return custom.AwsCustomResource(
            self,
            f"Close-{database}",
            on_update=call,  # on_create, too
            **({"role": handler} if handler else {"policy": custom.AwsCustomResourcePolicy.from_statements([right])}),
            install_latest_aws_sdk=False,
        )


class ReadingRole(iam.Role):
    """The rights that Lake Formation passes on to those who may read. The jobs write with their own."""

    def __init__(
        self, scope: Construct, id: str, *, bucket: s3.IBucket, prefixes: Sequence[str], key: kms.IKey
    ) -> None:
        limits = {
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            "ArnLike": {"aws:SourceArn": f"arn:{Aws.PARTITION}:lakeformation:{Aws.REGION}:{Aws.ACCOUNT_ID}:*"},
        }
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal("lakeformation.amazonaws.com", conditions=limits))
        for statement in (
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
            *(read_objects(bucket, prefix) for prefix in prefixes),
            iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn]),
        ):
            self.add_to_policy(statement)


def administrators(scope: Construct, id: str, arns: Sequence[str]) -> lakeformation.CfnDataLakeSettings:
    """Only administrators may grant and revoke. The settings are the account's: APPEND leaves what others wrote."""
    principals = [{"dataLakePrincipalIdentifier": arn} for arn in arns]
    return lakeformation.CfnDataLakeSettings(scope, id, admins=principals, mutation_type="APPEND")


def deployer(scope: Construct) -> str:
    """The role with which CloudFormation makes the stack, as `cdk bootstrap` made it."""
    arn = getattr(Stack.of(scope).synthesizer, "cloud_formation_execution_role_arn", "")
    return Fn.sub(arn)


class Grants(Construct):
    """What one role may do with the tables of the databases.

    writes: the ARN of the registered bucket, for a role that also makes and changes tables there; "" for a reader.
    dropped: a database whose tables it may replace.
    """

    def __init__(
        self, scope: Construct, id: str, *, role: str, databases: Sequence[str], writes: str = "", dropped: str = ""
    ) -> None:
        super().__init__(scope, id)
        self._role = role
        if writes:
            place = {"dataLocation": {"catalogId": Aws.ACCOUNT_ID, "resourceArn": writes}}
            self._grant("Location", place, ["DATA_LOCATION_ACCESS"])
        for name in databases:
            database = {"database": {"catalogId": Aws.ACCOUNT_ID, "name": name}}
            tables = {"table": {"catalogId": Aws.ACCOUNT_ID, "databaseName": name, "tableWildcard": {}}}
            self._grant(name, database, ["DESCRIBE", *(["CREATE_TABLE"] if writes else [])])
            drop = ["DROP"] if name == dropped else []
            self._grant(f"{name}-tables", tables, [*(WRITE if writes else READ), *drop])

    def _grant(self, id: str, resource: Mapping[str, Any], permissions: Sequence[str]) -> None:
        lakeformation.CfnPrincipalPermissions(
            self,
            id,
            principal={"dataLakePrincipalIdentifier": self._role},
            resource=resource,
            permissions=list(permissions),
            permissions_with_grant_option=[],
        )
