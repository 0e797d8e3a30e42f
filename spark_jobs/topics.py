"""The topic of each captured table: its partitions, and their first and last offsets in Kafka.

spark-submit spark_jobs/topics.py --config <pipeline.json> --output <result.json>
"""

from typing import Any, Dict

from pyspark.sql import SparkSession

from spark_jobs.kafka import admin
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.pipeline import read_pipeline


def facts(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """One entry per topic, by name; offsets by partition; a topic that does not exist has no partitions."""
    pipeline = read_pipeline(spark, args.config)
    names = sorted({table.topic for table in pipeline.tables})
    return {"topics": [_facts(name, admin.topic_offsets(spark, pipeline, name)) for name in names]}


def _facts(topic: str, offsets: admin.Offsets) -> Dict[str, Any]:
    return {
        "topic": topic,
        "partitions": len(offsets.end),
        "begin": {str(number): offset for number, offset in sorted(offsets.begin.items())},
        "end": {str(number): offset for number, offset in sorted(offsets.end.items())},
        "messages": sum(offsets.end.values()) - sum(offsets.begin.values()),
    }


if __name__ == "__main__":
    batch_job.run(batch_job.parser("topics", __doc__, "--output", "--config"), facts)
