"""`lake images`: the container images that an environment needs, before it is deployed."""

import typer

from lake.aws.environment import load_aws_environment
from lake.aws.images import Image, Images, needed
from lake.cli import options
from lake.config.environment import PROJECT


def images(
    env: str = typer.Option(..., "--env", help="An environment on AWS: environments/<name>.yaml."),
    as_json: bool = options.JSON,
) -> None:
    """Show the container images that an environment pulls, and what to fill in for a registry of your own.

    `images.registry` and `images.digests` of the environment say where they come from. docs/deploy.md has the steps.
    Exit code 2 if the environment is missing.

    Example: lake images --env prod
    """
    settings = load_aws_environment(PROJECT, env).images
    found = list(needed(PROJECT, settings))
    options.print_json(as_facts(found)) if as_json else show(found, settings)


def as_facts(found: list[Image]) -> list[dict[str, str]]:
    """By name: the public image, the one that is pulled, and its digest ("" where the tag decides)."""
    return [{"name": one.name, "source": one.source, "pulled": one.reference, "digest": one.digest} for one in found]


def show(found: list[Image], settings: Images) -> None:
    for one in found:
        print(f"{one.name:12}{one.reference}")
    open_ones = [one.name for one in found if not one.digest]
    if settings.registry is None:
        print("images.registry is not set: each node pulls from public registries, through NAT.")
    if open_ones:
        print(f"images.digests has none for {', '.join(open_ones)}: their tags decide.")
