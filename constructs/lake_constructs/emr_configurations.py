"""The settings of an EMR cluster, by EMR's classification."""

from collections.abc import Mapping

GLUE = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
FACTORY = {"hive.metastore.client.factory.class": GLUE}
# The external shuffle service inside YARN must ask for the same secret as Spark.
SECRET = {"spark.authenticate": "true"}
# Traffic between Spark's own parts is encrypted with or without certificates.
ENCRYPTION = {**SECRET, "spark.network.crypto.enabled": "true", "spark.io.encryption.enabled": "true"}


def configurations(*, spark: Mapping[str, str], attempts: int, glue: bool) -> dict[str, Mapping[str, str]]:
    """All classifications. spark holds the defaults of every application, attempts limits the starts of a driver.

    With glue=False Hive keeps its metastore on the primary node.
    """
    shared: dict[str, Mapping[str, str]] = {
        "spark-defaults": {**spark, **ENCRYPTION},
        "yarn-site": {**SECRET, "yarn.resourcemanager.am.max-attempts": str(attempts)},
        # EMRFS serves s3:// before EMR 7.10. It has a separate connection pool, with another name for the size.
        "emrfs-site": {"fs.s3.maxConnections": spark["spark.hadoop.fs.s3a.connection.maximum"]},
        "hudi-defaults": {"hoodie.datasource.hive_sync.mode": "hms"},
        "livy-conf": {"livy.spark.deploy-mode": "cluster"},
    }
    return shared | ({"hive-site": FACTORY, "spark-hive-site": FACTORY} if glue else {})
