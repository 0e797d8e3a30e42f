"""What Kafka holds of each captured table: partitions, and the offsets between which its changes lie.

spark-submit spark_jobs/topics.py --config <pipeline.json> --output <result.json>
"""

from typing import Any, Dict, List

from pyspark.sql import SparkSession

from spark_jobs.kafka import admin
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.pipeline import Pipeline, read_pipeline


def facts(spark: SparkSession, pipeline: Pipeline) -> List[Dict[str, Any]]:
    """One entry per topic, by name; offsets by partition; a topic that does not exist has no partitions."""
    names = sorted({table.topic for table in pipeline.tables})
    return [_facts(name, admin.topic_offsets(spark, pipeline, name)) for name in names]


def _facts(topic: str, offsets: admin.Offsets) -> Dict[str, Any]:
    held = {number: end - offsets.begin[number] for number, end in offsets.end.items()}
    return {
        "topic": topic,
        "partitions": len(offsets.end),
        "begin": {str(number): offset for number, offset in sorted(offsets.begin.items())},
        "end": {str(number): offset for number, offset in sorted(offsets.end.items())},
        "messages": sum(held.values()),
    }


def all_topics(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The facts of all topics."""
    return {"topics": facts(spark, read_pipeline(spark, args.config))}


if __name__ == "__main__":
    batch_job.run(batch_job.parser("topics", __doc__, "--config"), all_topics)
