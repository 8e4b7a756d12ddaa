"""Keeps the agent's open permission requests, and maps an answer to one of their options."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from avatar_actors.model.values import JsonObject, PermissionOption, Permit
from avatar_actors.wire.commands import AnswerPermission
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.jsonrpc import RpcId

MOST_PENDING: Final = 64

KINDS: Final = {permit.value: permit for permit in Permit if permit is not Permit.CANCELLED}

# Used if the agent offers no option of the kind: never one that allows more.
INSTEAD: Final = {
    Permit.ALLOW_ALWAYS: (Permit.ALLOW_ALWAYS, Permit.ALLOW_ONCE),
    Permit.ALLOW_ONCE: (Permit.ALLOW_ONCE,),
    Permit.REJECT_ALWAYS: (Permit.REJECT_ALWAYS, Permit.REJECT_ONCE),
    Permit.REJECT_ONCE: (Permit.REJECT_ONCE, Permit.REJECT_ALWAYS),
    Permit.CANCELLED: (),
}

CANCELLED: Final[JsonObject] = {"outcome": {"outcome": "cancelled"}}


class AcpQuestion(Struct, frozen=True):
    """A permission request, with the id of its JSON-RPC request."""

    rpc_id: RpcId
    tool_id: str
    options: tuple[PermissionOption, ...]


class AcpPermissions:
    """The open requests of a turn. The ids are ours: an agent may use both 1 and "1"."""

    def __init__(self, narrow_options: frozenset[str]) -> None:
        self._narrow = narrow_options
        self._asked = 0
        self._pending: dict[str, AcpQuestion] = {}

    @property
    def is_full(self) -> bool:
        """Whether one more would be too many."""
        return len(self._pending) >= MOST_PENDING

    def add(self, pending: AcpQuestion) -> str:
        """Keep it; returns its id."""
        self._asked += 1
        request_id = f"permission-{self._asked}"
        self._pending[request_id] = pending
        return request_id

    def take(self, request_id: str) -> AcpQuestion | None:
        """Remove and return the request that is answered now."""
        return self._pending.pop(request_id, None)

    def take_all(self) -> dict[str, AcpQuestion]:
        """Remove and return all of them."""
        pending, self._pending = self._pending, {}
        return pending

    def take_by_rpc_id(self, rpc_id: object) -> str:
        """Remove the request that the agent withdrew; its id, or nothing."""
        for request_id, pending in self._pending.items():
            if pending.rpc_id == rpc_id and type(pending.rpc_id) is type(rpc_id):
                del self._pending[request_id]
                return request_id
        return ""

    def chosen(self, pending: AcpQuestion, answer: AnswerPermission) -> PermissionOption | None:
        """The option that the answer means; None if the agent offers none of the kind."""
        for option in pending.options:
            is_named = bool(answer.option_id) and answer.option_id == option.option_id
            if is_named and option.kind.allows == answer.permit.allows:
                return option
        for kind in INSTEAD[answer.permit]:
            fitting = [option for option in pending.options if option.kind is kind]
            narrow = [option for option in fitting if option.option_id in self._narrow]
            if fitting:
                return (narrow or fitting)[0]
        return None


def options_of(offered: list[JsonObject]) -> tuple[PermissionOption, ...]:
    """The options of a known kind, with distinct ids."""
    return tuple(
        PermissionOption(text_at(option, "optionId"), KINDS[kind], text_at(option, "name"))
        for option in offered
        if (kind := text_at(option, "kind")) in KINDS
    )


def selected(option: PermissionOption | None) -> JsonObject:
    """The reply that selects this option."""
    if option is None:
        return CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": option.option_id}}
