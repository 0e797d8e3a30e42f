"""What a person does with one environment, and with two, played once; the tests look at what was kept of it."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from tests.emulated_account.account import Account, Door
from tests.emulated_account.changed import SPLIT, Announced, Changed, announce, change, watched
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.inventory import inventory
from tests.emulated_account.sight import Sight, look, statuses
from tests.synth.synthesis import synthesize

T = TypeVar("T")
HOME, AWAY = "eu-central-1", "eu-west-1"
FOREIGN = "moma_cow"  # a database of the catalog that is there before the lake comes


@dataclass(frozen=True)
class One:
    """The development environment, from nothing to nothing, and built once more; the account is empty at the end."""

    empty: set[str]
    refused: Done
    refused_stacks: dict[str, str]
    deployed: Changed
    first: Sight
    same: Done
    changes: list[dict[str, Any]]
    differs: Done
    announced: Announced
    moved: dict[str, Changed]
    changed: Done
    second: Sight
    destroyed: Changed
    after: set[str]
    rebuilt: Changed
    third: Sight | None  # None: it was not rebuilt


def play_one(door: Door, folder: Path) -> One:
    account, cdk = door.account, Cdk(door.account, HOME)
    more = edited(folder / "more", "dev", workers="connect: {replicas: 2}")
    assembly, other = together(
        lambda: cdk.synth("dev", folder / "dev.out"),
        lambda: cdk.synth("dev", folder / "more.out", more / "environments"),
    )
    succeeded(cdk.bootstrap())
    empty = inventory(account, HOME)
    refused, refused_stacks = _meet_foreign_database(cdk, assembly)
    deployed, first = watched(cdk, lambda: succeeded(cdk.deploy(assembly))), look(account, HOME, "dev")
    put_objects(account, HOME, first)
    same = cdk.diff(assembly)
    changes = change_set(account, HOME, other / "lake-dev-connect.template.json")
    differs, announced = cdk.diff(other), announce(door, cdk, folder / "announced", SPLIT)
    moved = change(door, cdk, folder)
    changed, second = succeeded(cdk.deploy(other)), look(account, HOME, "dev")
    destroyed, after = watched(cdk, lambda: succeeded(cdk.destroy(other))), inventory(account, HOME)
    rebuilt = watched(cdk, lambda: cdk.deploy(assembly))
    third = look(account, HOME, "dev") if rebuilt.code == 0 else None
    succeeded(cdk.destroy(assembly))
    moved |= {"deploy": deployed, "teardown": destroyed, "rebuild": rebuilt}
    before = (empty, refused, refused_stacks, deployed, first, same, changes)
    return One(*before, differs, announced, moved, changed, second, destroyed, after, rebuilt, third)


@dataclass(frozen=True)
class Two:
    """The demonstration and the production environment side by side, in two regions of one account."""

    empty: set[str]
    deployed: list[Done]
    demo: Sight
    prod: Sight
    same: list[Done]
    demo_destroyed: Done
    prod_after: dict[str, str]
    demo_left: set[str]
    kept: Changed
    refusing: set[str]
    kept_stacks: dict[str, str]
    lost: set[str]
    protected: Done
    protected_stacks: dict[str, str]
    prod_destroyed: Done
    prod_left: set[str]
    rebuilt: Done


def play_two(account: Account, folder: Path) -> Two:
    home, away = Cdk(account, HOME), Cdk(account, AWAY)
    together(lambda: succeeded(home.bootstrap()), lambda: succeeded(away.bootstrap()))
    empty = inventory(account, HOME) | inventory(account, AWAY)
    demo = synthesize("demo").folder
    prod = synthesize("prod", edited(folder / "away", "prod", region=f"region: {AWAY}")).folder
    deployed = together(lambda: succeeded(home.deploy(demo)), lambda: succeeded(away.deploy(prod)))
    sights = look(account, HOME, "demo"), look(account, AWAY, "prod")
    put_objects(account, AWAY, sights[1])
    same = together(lambda: home.diff(demo), lambda: away.diff(prod))
    demo_destroyed, prod_after = succeeded(home.destroy(demo)), statuses(account, AWAY, "lake-prod")
    demo_left = inventory(account, HOME)
    before_all, kept = inventory(account, AWAY), watched(away, lambda: away.destroy(prod))
    refusing = stacks_that_refuse(account)
    kept_stacks, lost = statuses(account, AWAY, "lake-prod"), before_all - inventory(account, AWAY)
    unprotect_stacks(account)
    protected, protected_stacks = away.destroy(prod), statuses(account, AWAY, "lake-prod")
    unprotect(account)
    prod_destroyed, prod_left = succeeded(away.destroy(prod)), inventory(account, AWAY)
    forget_automatic_snapshots(account)
    before = (empty, deployed, *sights, same, demo_destroyed, prod_after, demo_left, kept, refusing, kept_stacks, lost)
    return Two(*before, protected, protected_stacks, prod_destroyed, prod_left, away.deploy(prod))


def together(*tasks: Callable[[], T]) -> list[T]:
    """The results of commands that have nothing to do with each other, in the order of the commands."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [started.result() for started in [pool.submit(task) for task in tasks]]


def stacks_that_refuse(account: Account) -> set[str]:
    """Each is asked to go by itself: `cdk destroy` gives up at the first one that refuses."""
    cloudformation, refusing = account.client("cloudformation", AWAY), set()
    for name in statuses(account, AWAY, "lake-prod"):
        try:
            cloudformation.delete_stack(StackName=name)
        except ClientError as error:
            assert "TerminationProtection is enabled" in str(error)
            refusing.add(name)
    return refusing


def unprotect_stacks(account: Account) -> None:
    """The first thing that docs/deploy.md tells a person to do before the destruction."""
    cloudformation = account.client("cloudformation", AWAY)
    for name in statuses(account, AWAY, "lake-prod"):
        cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=False)


def unprotect(account: Account) -> None:
    """The second."""
    rds = account.client("rds", AWAY)
    rds.modify_db_instance(DBInstanceIdentifier="lake-prod", DeletionProtection=False, ApplyImmediately=True)


def forget_automatic_snapshots(account: Account) -> None:
    """They are named by the minute, and here a database is gone and made again within one."""
    rds = account.client("rds", AWAY)
    for one in rds.describe_db_snapshots(SnapshotType="automated")["DBSnapshots"]:
        rds.delete_db_snapshot(DBSnapshotIdentifier=one["DBSnapshotIdentifier"])


def succeeded(done: Done) -> Done:
    """What comes after would only hide the reason."""
    assert done.code == 0, done.text
    return done


def _meet_foreign_database(cdk: Cdk, assembly: Path) -> tuple[Done, dict[str, str]]:
    """The catalog is deployed where somebody else's database has the name of one of its own."""
    glue = cdk.account.client("glue", HOME)
    glue.create_database(DatabaseInput={"Name": FOREIGN})
    done, found = cdk.deploy(assembly, "lake-dev-catalog"), statuses(cdk.account, HOME, "lake-dev")
    glue.delete_database(Name=FOREIGN)
    return done, found


def edited(folder: Path, name: str, *, region: str = "", workers: str = "") -> Path:
    """A copy of one environment file with another region, or with a line more."""
    (folder / "environments").mkdir(parents=True)
    text = (ROOT / f"environments/{name}.yaml").read_text()
    text = re.sub(r"^region: .*$", region, text, flags=re.MULTILINE) if region else text
    (folder / f"environments/{name}.yaml").write_text(f"{text}{workers}\n")
    return folder


def put_objects(account: Account, region: str, sight: Sight) -> None:
    """Something in every bucket, an old version of it too."""
    s3 = account.client("s3", region)
    for name in sight.buckets.values():
        for text in (b"old", b"new"):
            s3.put_object(Bucket=name, Key="some/object", Body=text)


def change_set(account: Account, region: str, template: Path) -> list[dict[str, Any]]:
    """What CloudFormation says that a template would change."""
    cloudformation = account.client("cloudformation", region)
    names = {"StackName": template.name.split(".")[0], "ChangeSetName": "look"}
    # A request takes 50 KB of a template: this one comes from the bucket of the command line.
    bucket, key = f"cdk-hnb659fds-assets-{account.id}-{region}", f"looked-at/{template.name}"
    account.client("s3", region).put_object(Bucket=bucket, Key=key, Body=template.read_bytes())
    where = f"{account.endpoint}/{bucket}/{key}"
    cloudformation.create_change_set(**names, TemplateURL=where, ChangeSetType="UPDATE")
    found = cloudformation.describe_change_set(**names)["Changes"]
    cloudformation.delete_change_set(**names)
    return [one["ResourceChange"] for one in found]
