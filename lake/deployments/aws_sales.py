"""The jobs about sales as steps of a cluster, with the files that they read."""

from typing import Any

from lake.aws import steps
from lake.aws.processing import Size
from lake.aws.rendering import STATE
from lake.aws.steps import StackOutputs
from lake.config.errors import BadInput
from lake.config.report import Report
from lake.deployments.steps import Steps
from lake.rendering import sales
from lake.rendering.sales import SalesOptions

RUN_WITHIN_S = 4 * 3600.0  # a producer is as slow as it is told to be


class AwsSales:
    """BadInput where the environment does not have these jobs."""

    def __init__(self, at: Steps) -> None:
        self._at = at

    def run(self, name: str, options: SalesOptions, report: Report) -> dict[str, Any]:
        """The result of a job that ends."""
        sales.check_ends(name, options)
        self._size()
        words = self._words(name, options, self._at.outputs())
        return self._at.run(sales.SCRIPT, words, report, RUN_WITHIN_S, name)

    def start(self, name: str, options: SalesOptions) -> str:
        """The id of the step that starts a job that streams, in place of the one that runs."""
        return self._at.start_sales(name, self._words(name, options, self._at.outputs()), self._size())

    def forget(self, name: str) -> None:
        """Forgets how far a job is. It must not run."""
        account, bucket = self._at.account, self._at.bucket()
        for prefix in (f"{steps.SALES_CHECKPOINTS}/{name}/", f"{STATE}/{name}/status.json"):
            for found in account.pages("s3", "list_objects_v2", "Contents", Bucket=bucket, Prefix=prefix):
                account.client("s3").delete_object(Bucket=bucket, Key=found["Key"])

    def check(self, name: str, options: SalesOptions) -> None:
        """BadInput for what the job, or the environment, does not take."""
        sales.check(name, options)
        self._size()

    def _size(self) -> Size:
        environment = self._at.environment
        if environment.processing.sales is None:
            where = f"environments/{environment.name}.yaml, key processing.sales"
            raise BadInput(f"{environment.name} has no jobs about sales", where, "add `sales: {}` there, and deploy")
        return environment.processing.sales

    def _words(self, name: str, options: SalesOptions, outputs: StackOutputs) -> list[str]:
        """The arguments of a job, after its files are on S3."""
        uris = {}
        for key, path in sales.files(name, options).items():
            bucket, target = outputs.places["artifacts"], f"{STATE}/{name}/{key}.csv"
            self._at.account.client("s3").upload_file(str(path), bucket, target)
            uris[key] = f"s3://{bucket}/{target}"
        return steps.sales_words(name, options, uris, self._at.environment.streaming.partitions, outputs)
