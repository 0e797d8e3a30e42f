"""The command `lake init`: from a server to a definition."""

import sys
from collections.abc import Sequence

import typer

from lake.cli import init_output, options
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import BadInput
from lake.config.files import replace_json
from lake.config.names import refuse_unknown
from lake.config.patterns import first_met, patterns_of, resolved_path
from lake.config.source import source_of
from lake.config.yaml_file import read_mapping
from lake.discovery import writing
from lake.discovery.candidates import Candidate, Found, candidates
from lake.discovery.dsn import Target, place_of_password, target
from lake.plan.run import apply_all
from lake.sources.postgres import survey
from lake.sources.postgres.limit import SET_LIMIT, UNLIMITED
from lake.sources.postgres.survey import Survey

INCLUDE = typer.Option([], "--include", metavar="PATTERN", help="Take the tables that match, such as 'sales.*'.")
EXCLUDE = typer.Option([], "--exclude", metavar="PATTERN", help="Leave out the tables that match, such as '*_tmp'.")
ENV = typer.Option(None, "--password-env", metavar="NAME", help="The environment variable that has the password.")
FILE = typer.Option(None, "--password-file", metavar="PATH", help="The file whose first line is the password.")
SECRET = typer.Option(None, "--password-secret", metavar="NAME", help="The secret of AWS Secrets Manager.")


def init(
    source: str = typer.Argument("", metavar="[DSN|DATABASE]", help="A server without password, or a database."),
    include: list[str] = INCLUDE,
    exclude: list[str] = EXCLUDE,
    yes: bool = typer.Option(False, "--yes", help="Take all that can be captured, and ask nothing."),
    apply: bool = typer.Option(False, "--apply", help="Go on to capture, as lake apply does."),
    check: bool = typer.Option(False, "--check", help="Only report what is there and what stands in the way."),
    replace: bool = typer.Option(False, "--replace", help="Write a definition that exists anew."),
    update: bool = typer.Option(False, "--update", help="Ask again what the patterns of a definition mean."),
    password_env: str | None = ENV,
    password_file: str | None = FILE,
    password_secret: str | None = SECRET,
    as_json: bool = options.JSON,
) -> None:
    """Read a PostgreSQL server, choose tables, and write databases/<name>.yaml.

    A DSN names a server of your own; it never holds a password, which is in a place that an option names, or in
    ~/.pgpass. A name is that of a database of the lake's own server. Without a database, all are listed. What cannot
    be captured is left out, with its reasons: they are those of lake plan.

    Example: lake init postgresql://postgres@db.example.com/shop?sslmode=require --password-env PGPASSWORD --apply
    """
    if update:
        return _update(load_environment(), source, apply)
    home, wanted = load_environment(), target(source, place_of_password(password_env, password_file, password_secret))
    if not wanted.database:
        return init_output.databases(survey.databases(home, wanted.source), as_json)
    read = _read(home, wanted)
    wanted = accept_limit(wanted, read, yes, ask=not check)
    found = _judged(home, wanted, read)
    offered = [one for one in found.capturable if is_wanted(one, include, exclude)]
    if check:
        return _report(found, offered, as_json)
    _refuse(found, offered)
    chosen = _chosen(found, offered, ask=not (yes or include))
    path = writing.path_of(PROJECT, wanted.database)
    writing.write(path, writing.text(wanted, found, chosen), replace)
    init_output.show_result(found, chosen, path, as_json)
    return _apply(home, wanted.database) if apply else None


def _update(home: Environment, name: str, apply: bool) -> None:
    """Keeps what the patterns of a definition mean now; tables that are gone from the catalog leave it."""
    path = writing.path_of(PROJECT, name)
    content = read_mapping(path)
    patterns = patterns_of(content)
    if not patterns:
        raise BadInput("the definition has no pattern", str(path), "write public.*: below tables, for example")
    own = Target(source_of(content, path), {}, name)
    found = _judged(home, own, _read(home, own))
    met = [one for one in found.capturable if first_met(patterns, one.full_name)]
    replace_json(resolved_path(path), {one.full_name: one.settings for one in met}, writing.PUBLIC)
    init_output.show(found, met)
    print(f"{resolved_path(path)}: {len(met)} tables. See: lake plan; then: lake apply")
    if apply:
        _apply(home, name)


def _apply(home: Environment, database: str) -> None:
    made = apply_all(home.name, report=options.say)
    made.demand(database)
    options.say(f"{len(made.changes)} changes applied. See: lake status --watch")


def _read(home: Environment, wanted: Target) -> Survey:
    if wanted.source is None:
        names = [one.name for one in survey.databases(home, None)]
        refuse_unknown("database", [wanted.database], names)
    with options.progress(f"reading the catalog of {wanted.database}"):
        return survey.survey(home, wanted.source, wanted.database)


def _judged(home: Environment, wanted: Target, read: Survey) -> Found:
    with options.progress(f"checking the tables of {wanted.database}"):
        return candidates(home, wanted, read)


def is_wanted(one: Candidate, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """True if the options mean the table."""
    is_in = not include or first_met(include, one.full_name) is not None
    return is_in and first_met(exclude, one.full_name) is None


def _report(found: Found, offered: Sequence[Candidate], as_json: bool) -> None:
    """Exit code 1 if nothing can be captured."""
    if as_json:
        options.print_json(init_output.facts(found, offered))
    else:
        init_output.show(found, offered)
    if found.reasons or not offered:
        raise typer.Exit(1)


def _refuse(found: Found, offered: Sequence[Candidate]) -> None:
    """BadInput if the definition would be refused as a whole."""
    where = f"PostgreSQL database {found.database}"
    if found.reasons:
        what, now = "; ".join(one.what for one in found.reasons), "; ".join(one.now for one in found.reasons)
        raise BadInput(what, where, now)
    if not offered:
        raise BadInput("no table can be captured", where, "see what stands in the way: lake init --check")


def _chosen(found: Found, offered: Sequence[Candidate], ask: bool) -> Sequence[Candidate]:
    if not ask:
        return offered
    if not sys.stdin.isatty():
        raise BadInput("nobody can choose tables: this is no terminal", "lake init", "give --yes or --include")
    return init_output.choose(found, offered)


def accept_limit(wanted: Target, read: Survey, yes: bool, ask: bool) -> Target:
    """The target, with a log without a limit accepted; otherwise that is a reason to refuse it."""
    if wanted.source is None or not read.is_unlimited:
        return wanted
    if not yes and not (ask and sys.stdin.isatty() and typer.confirm(f"{UNLIMITED}. Go on?", err=True)):
        return wanted
    options.say(f"warning: {UNLIMITED}; {SET_LIMIT}")
    return wanted.with_unlimited_log()
