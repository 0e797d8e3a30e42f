"""The settings of an EMR cluster, by EMR's classification."""

from collections.abc import Mapping

GLUE = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
FACTORY = {"hive.metastore.client.factory.class": GLUE}
SPARK = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.session.timeZone": "UTC",
    # The old structure cannot hold a NULL element.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
    # What Spark's own parts send each other is encrypted with or without certificates.
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}
# The external shuffle service inside YARN must ask for the same secret.
YARN = {"spark.authenticate": "true"}
HUDI = {"hoodie.datasource.hive_sync.mode": "hms"}


def configurations(*, glue: bool) -> dict[str, Mapping[str, str]]:
    """All classifications; with glue=False Hive keeps a metastore of its own on the primary node."""
    shared: dict[str, Mapping[str, str]] = {
        "spark-defaults": SPARK,
        "yarn-site": YARN,
        "hudi-defaults": HUDI,
        "livy-conf": {"livy.spark.deploy-mode": "cluster"},
    }
    return shared | ({"hive-site": FACTORY, "spark-hive-site": FACTORY} if glue else {})
