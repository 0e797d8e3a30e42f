"""The streaming job: keeps one query per Hudi table and one per archived topic running, as the pipeline file says.

spark-submit spark_jobs/stream.py --config <pipeline.json> [--layers silver,bronze]
"""

import logging
import signal
import sys

from pyspark.sql import SparkSession

from spark_jobs.hudi.claims import Held
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.jvm import keep_names
from spark_jobs.streaming.streaming_job import StreamingJob

LOG = logging.getLogger("stream")


def main() -> int:
    """Runs the job until SIGTERM."""
    parser = batch_job.parser("stream", __doc__, "--config")
    parser.add_argument("--layers", default="silver,bronze")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    spark = SparkSession.builder.appName("lake stream").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    keep_names(spark)
    job = StreamingJob(spark, args.config, args.layers.split(","))
    signal.signal(signal.SIGTERM, job.stop)
    try:
        job.admit()
        job.run()
    except Held as held:
        LOG.error("refused: %s", held.args[0])
        job.failed = True
    spark.stop()
    return 1 if job.failed else 0


if __name__ == "__main__":
    sys.exit(main())
