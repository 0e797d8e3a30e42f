"""Encryption of an EMR cluster: S3, disks and network."""

from typing import Any

from aws_cdk import aws_emr as emr
from aws_cdk import aws_kms as kms
from constructs import Construct


class EmrEncryption(emr.CfnSecurityConfiguration):
    """Always encrypted at rest; TLS between nodes if the operator provides certificates (Spark needs none)."""

    def __init__(
        self, scope: Construct, id: str, *, data_key: kms.IKey, disks_key: kms.IKey, certificates: str | None
    ) -> None:
        encryption: dict[str, Any] = {
            "EnableAtRestEncryption": True,
            "EnableInTransitEncryption": bool(certificates),
            "AtRestEncryptionConfiguration": {
                "S3EncryptionConfiguration": {"EncryptionMode": "SSE-KMS", "AwsKmsKey": data_key.key_arn},
                "LocalDiskEncryptionConfiguration": {
                    "EncryptionKeyProviderType": "AwsKms",
                    "AwsKmsKey": disks_key.key_arn,
                    "EnableEbsEncryption": True,
                },
            },
        }
        if certificates:
            provider = {"CertificateProviderType": "PEM", "S3Object": certificates}
            encryption["InTransitEncryptionConfiguration"] = {"TLSCertificateConfiguration": provider}
        metadata = {"MinimumInstanceMetadataServiceVersion": 2, "HttpPutResponseHopLimit": 1}
        content = {"EncryptionConfiguration": encryption, "InstanceMetadataServiceConfiguration": metadata}
        super().__init__(scope, id, security_configuration=content)  # a name would forbid every change
