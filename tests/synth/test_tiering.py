"""Cheaper classes for the archive: of the bucket of bronze, and of no other."""

from pathlib import Path
from typing import Any

from tests.synth.synthesis import Synthesized, varied


def transitions(lake: Synthesized) -> dict[str, list[dict[str, Any]]]:
    """The rules that move objects, by the logical id of the bucket."""
    found = {}
    for id, bucket in lake.resources("AWS::S3::Bucket"):
        rules = [one for one in bucket["LifecycleConfiguration"]["Rules"] if "Transitions" in one]
        if rules:
            found[id] = rules
    return found


def test_objects_of_bronze_move_twice(tmp_path: Path) -> None:
    days = {"infrequent_access_days": 30, "glacier_ir_days": 90}
    lake = varied(tmp_path, "prod", {"storage.bronze_tiering": days})
    ((bucket, (rule,)),) = transitions(lake).items()
    assert bucket.startswith("Bronze")
    assert rule == {
        "Status": "Enabled",
        "Transitions": [
            {"StorageClass": "STANDARD_IA", "TransitionInDays": 30},
            {"StorageClass": "GLACIER_IR", "TransitionInDays": 90},
        ],
    }
    assert lake.failure == ""


def test_or_once(tmp_path: Path) -> None:
    lake = varied(tmp_path, "dev", {"storage.bronze_tiering": {"glacier_ir_days": 7}})
    ((_, (rule,)),) = transitions(lake).items()
    assert rule["Transitions"] == [{"StorageClass": "GLACIER_IR", "TransitionInDays": 7}]


def test_without_the_key_nothing_moves(lake: Synthesized) -> None:
    assert transitions(lake) == {}
