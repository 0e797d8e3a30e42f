"""A service of the account: one method per operation, with the operation's name and parameters."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from moto.core.exceptions import ServiceException

from tests.emulated_account.clients import Clients

Answer = dict[str, Any]
Operation = Callable[[str, Answer], Answer]  # region, parameters -> result


class Service:
    """An operation without a method is moto's; of a service that is `whole` it is unknown."""

    name: ClassVar[str]  # as botocore names it
    signed: ClassVar[str]  # as requests are signed
    whole: ClassVar[bool] = False

    def __init__(self, clients: Clients) -> None:
        self.clients = clients

    def operation(self, name: str) -> Operation | None:
        return operation(self, name)


def operation(part: object, name: str) -> Operation | None:
    """The method that answers."""
    found: Operation | None = getattr(part, snake(name), None)
    return found


def snake(name: str) -> str:
    """CreateClusterV2 as create_cluster_v2."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class ApiError(ServiceException):
    """Defined outside moto's modules: by the module of an error moto would guess its service."""


def refuse(code: str, message: str) -> ApiError:
    return ApiError(code, message)
