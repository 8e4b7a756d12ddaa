"""The models and modes that a session offers, and the requests that choose one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.values import Choice, JsonObject
from avatar_actors.model.words import suggestion
from avatar_actors.wire.acp.schema import ConfigOption, SessionResult
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.json_values import at, is_array, is_object, text_at
from avatar_actors.wire.jsonrpc import Peer, Reply

# A method that makes the choice, and its parameters without the session's id.
Setter: TypeAlias = tuple[str, JsonObject]
# Called with the error, or with an empty text.
OnChosen: TypeAlias = Callable[[str], list[Fact]]


class Choices(Struct, frozen=True):
    """The choices of one kind, and the current one.

    `listed` are the choices of the kind's own list (`models`, `modes`), `option` is the same as a
    config option. An agent may have both with different ids: codex-acp 2.6.0 lists the models
    as `gpt-5.5[high]` and has the option `gpt-5.5`.
    """

    kind: str
    listed: tuple[Choice, ...] = ()
    current: str = ""
    option: ConfigOption | None = None

    @property
    def all(self) -> tuple[Choice, ...]:
        """The choices to show: the list if there is one, else the option's values."""
        return self.listed or _values(self.option)

    @property
    def marked(self) -> tuple[Choice, ...]:
        """The same, with the current one marked."""
        present = self.present
        return tuple(
            replace(each, is_current=True) if each.choice_id == present else each
            for each in self.all
        )

    @property
    def present(self) -> str:
        """The current choice."""
        value = self.option.current_value if self.option else None
        return self.current or (value if isinstance(value, str) else "")

    def is_chosen(self, wanted: str) -> bool:
        """Whether it is the current choice already."""
        return wanted == self.current or bool(self.option and wanted == self.option.current_value)

    def offers(self, wanted: str) -> bool:
        """Whether it is one of the choices."""
        return any(wanted == choice.choice_id for choice in (*self.listed, *_values(self.option)))

    def setters(self, wanted: str) -> tuple[Setter, ...]:
        """The requests to try, the likeliest first.

        Which agent knows which method: gemini 0.61.0 has no config options, claude-agent-acp
        0.49.0 and zed's codex-acp 0.16.0 no set_model. A name that is not listed is tried all
        the same: gemini accepts any model.
        """
        by_option = self._by_option(wanted)
        by_method = self._by_method(wanted)
        if any(wanted == choice.choice_id for choice in self.listed):
            return by_method + by_option
        return by_option + by_method

    def ids(self) -> list[str]:
        """The ids of all choices."""
        return list(dict.fromkeys(each.choice_id for each in (*self.all, *_values(self.option))))

    def names(self) -> str:
        """The choices as text, for a message."""
        return ", ".join(self.ids()) or f"no {self.kind}s at all"

    def refusal(self, wanted: str, why: str = "it is not offered") -> str:
        """The message for a choice that cannot be made."""
        meant = suggestion(wanted, [each for each in self.ids() if each != wanted])
        return f"the {self.kind} {wanted!r} was not taken ({why}); offered: {self.names()}{meant}"

    def _by_method(self, wanted: str) -> tuple[Setter, ...]:
        if not self.listed:
            return ()
        return ((f"session/set_{self.kind}", {f"{self.kind}Id": wanted}),)

    def _by_option(self, wanted: str) -> tuple[Setter, ...]:
        if self.option is None:
            return ()
        params = {"configId": self.option.id, "value": wanted}
        return (("session/set_config_option", params),)


def choose(
    peer: Peer, session_id: str, choices: Choices, wanted: str, done: OnChosen
) -> list[Fact]:
    """Make a choice by trying the agent's methods, one after the other, until one is accepted."""
    setters = list(choices.setters(wanted))

    def attempt(why: str) -> list[Fact]:
        if not setters:
            return done(choices.refusal(wanted, why))
        method, params = setters.pop(0)
        peer.request(method, {"sessionId": session_id, **params}, answered)
        return []

    def answered(reply: Reply) -> list[Fact]:
        return done("") if reply.error is None else attempt(reply.error.message)

    return attempt("it cannot be chosen")


def models_of(session: SessionResult) -> Choices:
    """The models that a session offers."""
    models, option = session.models, option_of("model", session.config_options or [])
    if models is None:
        return Choices("model", option=option)
    listed = tuple(Choice(each.model_id, each.name or "") for each in models.available_models)
    return Choices("model", listed, models.current_model_id, option)


def modes_of(session: SessionResult) -> Choices:
    """The modes that a session offers."""
    modes, option = session.modes, option_of("mode", session.config_options or [])
    if modes is None:
        return Choices("mode", option=option)
    listed = tuple(Choice(each.id, each.name or "") for each in modes.available_modes)
    return Choices("mode", listed, modes.current_mode_id, option)


def option_of(kind: str, options: list[ConfigOption]) -> ConfigOption | None:
    """The config option of this category."""
    return next((each for each in options if kind in (each.id, each.category)), None)


def _values(option: ConfigOption | None) -> tuple[Choice, ...]:
    if option is None:
        return ()
    choices: list[Choice] = []
    for each in option.options:
        # Values may be in groups.
        group = at(each, "options")
        members = [each] if not is_array(group) else [m for m in group if is_object(m)]
        choices += [Choice(text_at(m, "value"), text_at(m, "name")) for m in members]
    return tuple(choices)
