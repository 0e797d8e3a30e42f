"""A statement before it runs, as Spark's parser understands it: whether it only reads, and which tables it names."""

import re
from typing import Any, FrozenSet, Iterator, List, NamedTuple, Tuple

from py4j.java_gateway import is_instance_of
from pyspark.sql import SparkSession

from spark_jobs.runtime.batch_job import Refused

READING = ("Show", "Describe", "Explain")  # how the classes of the commands begin that change nothing
LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
# A script may do anything, and neither it nor a folder that is written to is a command for Spark.
WRITING = tuple(LOGICAL + name for name in ("Command", "ParsedStatement", "InsertIntoDir", "ScriptTransformation"))
CATALOG = "spark_catalog"
# Above a table that an alias or a sample follows: a share of its rows, or a number of them.
FOLLOWED = ("SubqueryAlias", "Sample", "LocalLimit")
COMMAND = re.compile(r"(?i)\btable\s+$")
Name = Tuple[str, ...]


class Named(NamedTuple):
    """A table where a statement names it: its place in the text. bare: True if nothing that follows belongs to it."""

    name: Name  # in lower case, without the catalog: ("moma_cow", "artists")
    begin: int
    end: int
    bare: bool


def parsed(spark: SparkSession, text: str) -> Any:
    """The plan of a statement (a Java LogicalPlan) before anything is resolved or done. Raises ParseException."""
    return spark._jsparkSession.sessionState().sqlParser().parsePlan(text)


def refuse_writing(spark: SparkSession, plan: Any) -> None:
    """Raises Refused for all but queries, SHOW, DESCRIBE and EXPLAIN: the streaming job is a table's only writer."""
    if _kind(plan).startswith(READING):
        return
    gateway, what = spark._sc._gateway, "lake sql only reads: queries, SHOW, DESCRIBE and EXPLAIN; {} was not executed"
    for node in _nodes(plan):
        if _kind(node) != "TimeTravelRelation" and any(is_instance_of(gateway, node, one) for one in WRITING):
            raise Refused(what.format(_kind(node)))


def relations(plan: Any, text: str) -> List[Named]:
    """All tables that a query names, in the order of the text; text: what the plan was parsed from.

    Raises Refused for a statement that reads a table without naming it plainly.
    """
    # A LIMIT is in the plan twice.
    found = {_named(node, above, text) for node, above in _tables(plan, "", frozenset())}
    return sorted(found, key=lambda one: one.begin)


def replaced(text: str, found: List[Named], views: List[str]) -> str:
    """The text with each table replaced by its view, which goes by the table's name where the text gives it none."""
    for one, view in reversed(list(zip(found, views))):
        alias = " AS `{}`".format(one.name[-1].replace("`", "``")) if one.bare else ""
        text = text[: one.begin] + view + alias + text[one.end :]
    return text


def _tables(plan: Any, above: str, known: FrozenSet[str]) -> Iterator[Tuple[Any, str]]:
    """The relations in a plan that are tables, each with the kind of the node above it.

    above: that of the plan itself; known: names that WITH gives to queries, in lower case.
    """
    kind = _kind(plan)
    if kind == "UnresolvedWith":
        for pair in _items(plan.cteRelations()):
            yield from _tables(pair._2(), kind, known)
            known |= {pair._1().lower()}
        yield from _tables(plan.child(), kind, known)
    elif kind == "UnresolvedRelation":
        if len(_name(plan)) > 1 or _name(plan)[0] not in known:
            yield plan, above
    else:
        _refuse_unnamed(plan, kind)
        for below in _below(plan):
            yield from _tables(below, kind, known)


def _refuse_unnamed(plan: Any, kind: str) -> None:
    if "TimeTravel" in kind:
        raise Refused("the statement already names a moment (AS OF); give one or the other")
    if kind == "UnresolvedTableValuedFunction" and [one.lower() for one in _items(plan.name())] != ["range"]:
        raise Refused("{} can't be read as of a moment; name the table itself".format(".".join(_items(plan.name()))))
    if kind.startswith(READING):
        raise Refused("a moment belongs to a query, not to SHOW, DESCRIBE or EXPLAIN")


def _named(relation: Any, above: str, text: str) -> Named:
    """The place of a relation. That of Spark 3.4 includes TABLE before the name, and an alias or a sample after it."""
    name, origin = _name(relation), relation.origin()
    if origin.startIndex().isDefined():
        begin, end = origin.startIndex().get(), origin.stopIndex().get() + 1
        found = re.match(r"(?i)(table\s+)?({})".format(r"\s*\.\s*".join(map(_part, _parts(relation)))), text[begin:end])
        if found:
            bare = above not in FOLLOWED and not (found.group(1) or COMMAND.search(text[:begin]))
            return Named(name, begin + found.start(2), begin + found.end(2), bare)
    raise Refused("to read {} as of a moment, write its name without comments in it".format(".".join(name)))


def _part(part: str) -> str:
    return "(?:{}|`{}`)".format(re.escape(part), re.escape(part.replace("`", "``")))


def _name(relation: Any) -> Name:
    parts = tuple(part.lower() for part in _parts(relation))
    return parts[1:] if len(parts) == 3 and parts[0] == CATALOG else parts


def _parts(relation: Any) -> List[str]:
    return _items(relation.multipartIdentifier())


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for below in _below(plan):
        yield from _nodes(below)


def _below(plan: Any) -> List[Any]:
    """The plans in a plan, with those of its subqueries and of WITH."""
    return _items(plan.children()) + _items(plan.innerChildren())


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> List[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]
