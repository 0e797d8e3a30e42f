"""The emulated account, running: one server on loopback for all of its APIs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

# AWS's own policies must be known by name; read when moto's settings are, so before anything of moto is imported.
os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer, make_server

from tests.emulated_account import patches
from tests.emulated_account.clients import ACCOUNT, Clients
from tests.emulated_account.cloudformation.service import CloudFormation
from tests.emulated_account.cloudformation.world import World
from tests.emulated_account.front import Front
from tests.emulated_account.helm import Release
from tests.emulated_account.journal import Journal
from tests.emulated_account.log_writers import LogWriters
from tests.emulated_account.services.athena import Athena
from tests.emulated_account.services.cloudtrail import CloudTrail
from tests.emulated_account.services.ecs import Ecs
from tests.emulated_account.services.eks import Eks
from tests.emulated_account.services.emr import Emr
from tests.emulated_account.services.emr_serverless import EmrServerless
from tests.emulated_account.services.kafka import Kafka
from tests.emulated_account.services.kafka_connect import KafkaConnect
from tests.emulated_account.services.service import Service

HOST = "127.0.0.1"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


class Account:
    """What a test may see: clients of every service, the Helm releases, and what was not known."""

    def __init__(self, port: int) -> None:
        self.id = ACCOUNT
        self.endpoint = f"http://{HOST}:{port}"
        self.client = Clients(self.endpoint)
        self.journal = Journal()
        logs = LogWriters(self.client)
        self.world = World(self.client, self.journal, logs)
        self.emr = Emr(self.client)
        self.emr_serverless = EmrServerless(self.client)
        self.ecs, self.kafka_connect = Ecs(self.client), KafkaConnect(self.client)
        services = [service(self.client) for service in (Athena, CloudTrail, Kafka)]
        own: list[Service] = [
            CloudFormation(self.world),
            self.emr,
            self.emr_serverless,
            self.ecs,
            self.kafka_connect,
            Eks(self.client, logs),
            *services,
        ]
        self.front = Front(own, self.journal)

    def release(self, region: str, cluster: str, name: str) -> Release:
        return self.world.releases[region, cluster, name]

    def variables(self, region: str) -> dict[str, str]:
        """What a command needs in its environment to find this account and no other."""
        place = {"AWS_ENDPOINT_URL": self.endpoint, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
        # Nothing is tried twice, and no file or machine is asked for another account's keys.
        apart = {"AWS_MAX_ATTEMPTS": "1", "AWS_EC2_METADATA_DISABLED": "true"}
        files = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
        return {**KEYS, **place, **apart, **files}


class Door:
    """The server of an account: closed and opened again on the same port, so that a fork may open it, too."""

    def __init__(self) -> None:
        self._server = _listen(0)
        self.account = Account(self._server.port)
        self._serve()

    def _serve(self) -> None:
        self._server.app = self.account.front
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def open(self) -> None:
        self._server = _listen(self._server.port)
        self._serve()


def _listen(port: int) -> BaseWSGIServer:
    return make_server(HOST, port, _not_yet, threaded=True, request_handler=_Quiet)


@contextmanager
def running() -> Iterator[Door]:
    """An account on a free port, empty when it is the first of its process: moto keeps what it knows."""
    patches.apply()
    door = Door()
    try:
        yield door
    finally:
        door.close()


def _not_yet(_: Any, __: Any) -> list[bytes]:
    raise RuntimeError("the account is not there yet")


class _Quiet(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: Any, **__: Any) -> None:
        """A line per request would hide what tests say."""
