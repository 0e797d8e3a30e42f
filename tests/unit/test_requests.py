"""Who is asked to do something must be there."""

from contextlib import AbstractContextManager, nullcontext

import pytest

from lake.config.environment import load_environment
from lake.config.errors import BadInput
from lake.local import status
from lake.local.status import ServiceStatus, refuse_stopped

REFUSED = pytest.raises(BadInput, match="streaming job, which would do it, does not run")


@pytest.mark.parametrize(
    ("state", "expected"),
    [("running", nullcontext()), ("starting", nullcontext()), ("failing", REFUSED), ("stopped", REFUSED)],
)
def test_who_was_just_started_is_there(
    state: str, expected: AbstractContextManager[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "services", lambda home: [ServiceStatus("stream", state, 7, 1, 1)])
    with expected:
        refuse_stopped(load_environment())
