"""No random migration leaves an application refused: the sources are prepared, and the guardian looks; no lake runs."""

from collections.abc import Iterator

import pytest

from tests.integration.source_server import SourceServer
from tests.random_databases.database import random_database
from tests.random_databases.harm import harm

pytestmark = pytest.mark.integration
PORTS = 28800
FEW = range(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceServer]:
    server = SourceServer(tmp_path_factory.mktemp("random"), PORTS)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("seed", FEW)
def test_an_application_goes_on_beside_its_capture(server: SourceServer, seed: int) -> None:
    assert harm(server.home, random_database(seed)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(FEW), 200))
def test_each_application_goes_on_beside_its_capture(server: SourceServer, seed: int) -> None:
    assert harm(server.home, random_database(seed)) == []
