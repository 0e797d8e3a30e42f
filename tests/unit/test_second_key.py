"""Data may be deleted only where the environment file and the context of the CDK both say so."""

from pathlib import Path

import pytest

from lake.aws.environment import AwsEnvironment, load_aws_environment
from lake.aws.second_key import check_second_key
from lake.config.errors import BadInput

PROJECT = Path(__file__).parents[2]


def named(name: str, *, keep_data: bool) -> AwsEnvironment:
    return load_aws_environment(PROJECT, "dev").model_copy(update={"name": name, "keep_data": keep_data})


def test_a_copied_file_is_refused_until_the_context_names_it() -> None:
    copied = named("staging", keep_data=False)
    with pytest.raises(BadInput, match=r"the second key is missing; environments/staging.yaml, .*cdk.json"):
        check_second_key(copied, "dev,demo")
    check_second_key(copied, "dev, staging")


def test_kept_data_need_no_key() -> None:
    check_second_key(named("staging", keep_data=True), "")
