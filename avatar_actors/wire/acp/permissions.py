"""Maps the answer to a permission request to one of its options; `incoming` keeps the requests."""

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


def chosen(
    question: AcpQuestion, answer: AnswerPermission, narrow: frozenset[str]
) -> PermissionOption | None:
    """The option that the answer means, a `narrow` one first; None if the agent offers none."""
    for option in question.options:
        is_named = bool(answer.option_id) and answer.option_id == option.option_id
        if is_named and option.kind.allows == answer.permit.allows:
            return option
    for kind in INSTEAD[answer.permit]:
        fitting = [option for option in question.options if option.kind is kind]
        if fitting:
            return next((each for each in fitting if each.option_id in narrow), fitting[0])
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
