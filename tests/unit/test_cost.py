"""What an instance without a price, and a command about the local lake, are told."""

import json

import pytest
from typer.testing import CliRunner

from lake.aws.cost import estimate, load_prices
from lake.aws.environment import load_aws_environment
from lake.cli.main import app
from lake.config.environment import PROJECT
from lake.config.errors import BadInput


def test_an_instance_without_a_price_is_named() -> None:
    dev = load_aws_environment(PROJECT, "dev")
    dear = dev.model_copy(update={"source": dev.source.model_copy(update={"instance": "db.x2g.large"})})
    with pytest.raises(BadInput, match=r"no price of db\.x2g\.large.*prices\.yaml"):
        estimate(dear, load_prices())


def test_the_lines_add_up() -> None:
    facts = json.loads(CliRunner().invoke(app, ["cost", "--env", "prod", "--json"]).stdout)
    assert facts["total"] == pytest.approx(sum(line["count"] * line["each"] for line in facts["items"]), abs=0.01)


def test_the_local_lake_costs_nothing_here() -> None:
    assert isinstance(CliRunner().invoke(app, ["cost", "--env", "local"]).exception, BadInput)
