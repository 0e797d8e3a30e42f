"""`lake package`: builds dist/, the files that are deployed to AWS."""

import shutil

import typer

from lake.aws.environment import LOCAL, load_aws_environment
from lake.aws.package import DIST, build, write_manifest
from lake.cli import options
from lake.config.definition import load_databases
from lake.config.environment import PROJECT, environment_path


def package(
    names: list[str] = typer.Option(None, "--env", help="Environments; default all except local."),
    as_json: bool = options.JSON,
) -> None:
    """Build dist/: code, jars, Connect plug-ins and rendered settings, each with its SHA-256 in manifest.json.

    The same sources give the same bytes. `cdk deploy` uploads these very files.

    Example: lake package --env dev
    """
    shutil.rmtree(PROJECT / DIST, ignore_errors=True)
    databases = load_databases(PROJECT)
    for name in names or environments():
        with options.progress(f"building {name}"):
            build(PROJECT, load_aws_environment(PROJECT, name), databases)
    manifest = write_manifest(PROJECT)
    if as_json:
        return options.print_json(manifest)
    rows = ((path, file["sha256"][:16], str(file["bytes"])) for path, file in manifest["files"].items())
    return options.out.print(options.table(["file", "SHA-256", "bytes"], rows))


def environments() -> list[str]:
    """The names of all environments on AWS."""
    folder = environment_path(PROJECT, LOCAL).parent
    return sorted({path.stem for path in folder.glob("*.yaml")} - {LOCAL})
