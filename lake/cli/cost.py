"""`lake cost`: what an environment costs per month, before it is deployed."""

import typer

from lake.aws.cost import Item, Prices, estimate, load_prices
from lake.aws.environment import load_aws_environment
from lake.cli import options
from lake.config.environment import PROJECT


def cost(
    env: str = typer.Option(..., "--env", help="An environment on AWS: environments/<name>.yaml."),
    as_json: bool = options.JSON,
) -> None:
    """Show what an environment costs per month at list prices while no data flow: machines, disks, fixed fees.

    Logs are assumed; traffic, requests and storage in S3 are not included. The price list is lake/aws/prices.yaml.
    Exit code 2 if the environment or a price is missing.

    Example: lake cost --env dev
    """
    prices = load_prices()
    items = estimate(load_aws_environment(PROJECT, env), prices)
    options.print_json(as_facts(items, prices)) if as_json else show(items, prices)


def as_facts(items: list[Item], prices: Prices) -> dict[str, object]:
    """US dollars a month."""
    lines = [{"what": one.what, "count": one.count, "each": one.each, "month": round(one.month, 2)} for one in items]
    return {"region": prices.region, "date": prices.date, "items": lines, "total": round(total(items), 2)}


def total(items: list[Item]) -> float:
    return sum(item.month for item in items)


def show(items: list[Item], prices: Prices) -> None:
    rows = [(one.what, f"{one.count:g}", f"{one.each:.2f}", f"{one.month:.2f}") for one in items]
    options.out.print(
        options.table(["what", "count", "each", "USD a month"], [*rows, ("sum", "", "", f"{total(items):.0f}")])
    )
    print(f"List prices of {prices.region}, {prices.date}; without traffic, requests and storage.")
