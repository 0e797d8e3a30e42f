"""Users of the Kafka broker, with passwords, and their rights."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from lake.config.errors import LakeError
from lake.rendering.kafka_acls import Acl

TIMEOUT_S = 10.0
ROUNDS = 4096  # of the hash, the least that Kafka takes
KINDS = {"cluster": ResourceType.BROKER, "group": ResourceType.GROUP, "topic": ResourceType.TOPIC}
ANY_HOST = "*"


class Users:
    """Raises LakeError if the broker refuses a change."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def admit(self, passwords: Mapping[str, str]) -> None:
        """Each user with a password, in place of an earlier one."""
        kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ROUNDS)
        wishes: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(user, kind, word.encode()) for user, word in passwords.items()
        ]
        self._done(self._client.alter_user_scram_credentials(wishes))

    def grant(self, acls: Iterable[Acl]) -> None:
        """These rights beside those that are there."""
        self._create({binding for acl in acls for binding in bindings(acl)})

    def make(self, acls: Iterable[Acl], users: Sequence[str]) -> None:
        """These rights, and no others of these users."""
        wanted = {binding for acl in acls for binding in bindings(acl)}
        found = {binding for user in users for binding in self._found(user)}
        self._create(wanted - found)
        if old := found - wanted:
            self._done(self._client.delete_acls([_only(binding) for binding in sorted(old)]))

    def _create(self, wanted: set[AclBinding]) -> None:
        if wanted:
            self._done(self._client.create_acls(sorted(wanted)))

    def _found(self, user: str) -> list[AclBinding]:
        every: Any = None
        place = (ResourceType.ANY, every, ResourcePatternType.ANY, f"User:{user}", every)
        wish = AclBindingFilter(*place, AclOperation.ANY, AclPermissionType.ANY)
        return list(self._result(self._client.describe_acls(wish)))

    def _done(self, futures: Mapping[Any, Future[Any]]) -> None:
        for future in futures.values():
            self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        try:
            return future.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            reason = error.args[0].str() if isinstance(error, KafkaException) else "no answer in time"
            where = f"users at {self._bootstrap}"
            raise LakeError(f"Kafka refused: {reason}", where, "see: lake logs kafka") from None


def bindings(acl: Acl) -> list[AclBinding]:
    """One entry of Kafka for each operation."""
    pattern = ResourcePatternType.PREFIXED if acl.prefixed else ResourcePatternType.LITERAL
    place = (KINDS[acl.kind], acl.name, pattern, f"User:{acl.user}", ANY_HOST)
    return [AclBinding(*place, AclOperation[name], AclPermissionType.ALLOW) for name in acl.operations]


def _only(one: AclBinding) -> AclBindingFilter:
    place = (one.restype, one.name, one.resource_pattern_type, one.principal, one.host)
    return AclBindingFilter(*place, one.operation, one.permission_type)
