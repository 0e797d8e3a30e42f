"""One page that shows the health of a lake."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

PER_ROW = 2


class LakeDashboard(cloudwatch.Dashboard):
    """One graph per title, two in a row."""

    def __init__(
        self, scope: Construct, id: str, *, name: str, graphs: Mapping[str, Sequence[cloudwatch.IMetric]]
    ) -> None:
        super().__init__(scope, id, dashboard_name=name)
        widgets = [
            cloudwatch.GraphWidget(title=title, left=list(metrics), width=24 // PER_ROW)
            for title, metrics in graphs.items()
        ]
        for first in range(0, len(widgets), PER_ROW):
            self.add_widgets(*widgets[first : first + PER_ROW])
