"""What the chart tests need: helm, and the programs of the charts as modules."""

import importlib.util
from types import ModuleType

import pytest

from tests.charts.fake_connect import connect as connect
from tests.charts.rendering import HELM, ROOT

if not HELM.exists():
    raise pytest.UsageError(f"no {HELM.relative_to(ROOT)}: run `make setup`")


def program(chart: str, name: str) -> ModuleType:
    """A program that a chart carries; it lies where no import finds it."""
    path = ROOT / "helm" / chart / "files" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program imports its neighbours, as in the folder that the pod mounts."""
    monkeypatch.syspath_prepend(str(ROOT / "helm/kafka-connect/files"))


@pytest.fixture
def apply_connectors(neighbours: None) -> ModuleType:
    return program("kafka-connect", "apply_connectors")


@pytest.fixture
def answer_requests(neighbours: None) -> ModuleType:
    return program("kafka-connect", "answer_requests")


@pytest.fixture
def unpack_plugins() -> ModuleType:
    return program("kafka-connect", "unpack_plugins")


@pytest.fixture
def write_credentials(neighbours: None) -> ModuleType:
    return program("kafka-connect", "write_credentials")


@pytest.fixture
def write_logins(neighbours: None) -> ModuleType:
    return program("source-database", "write_logins")


@pytest.fixture
def captured_tables() -> ModuleType:
    return program("source-database", "captured_tables")


@pytest.fixture
def registry_properties(neighbours: None) -> ModuleType:
    return program("apicurio-registry", "registry_properties")
