"""The agents of the conformance suite: the embedded one and the fake ones, and what each lacks."""

from collections.abc import Mapping
from enum import Enum

import pytest
from msgspec import Struct

from avatar_actors import Continuity, Provider
from tests.fake_agents import launcher
from tests.thorough import for_conformance


class Trait(Enum):
    """What a fault needs an agent to have."""

    PERMISSIONS = "asks the host before it uses a tool"
    HANDSHAKE = "answers for itself when it is started"
    LOGIN_AT_START = "asks for a login when it is started"
    LIFE_AFTER_RESULT = "lives on when its turn is over"
    RESULT_IS_END = "ends its turn with the result"
    HOST_FILES = "lets the host read and write its files"
    NAMED_SESSIONS = "names its session in every update"
    NAMED_UPDATES = "names the message that an update belongs to"
    TOKENS = "tells how many tokens a turn took"
    VERSIONS = "tells the version of its protocol"
    RESUME_CHECK = "looks for the stored session when it is started"


ONE_SHOT = "a process for each prompt, behind a shim that greets us in its stead"
OWN_FILES = "reads and writes its files by itself"
NAMELESS = "its texts name neither their turn nor their prompt"
VERSIONLESS = "its protocol has no version"


class Dialect(Struct, frozen=True, kw_only=True):
    """One row of the table. `lacks` says why a fault cannot happen to this agent."""

    name: str
    lacks: Mapping[Trait, str] = {}
    # What it says of a session that it takes up again, before the next prompt.
    when_resumed: Continuity = Continuity.RESUMED

    @property
    def provider(self) -> Provider:
        """The agent's own provider, with the fake agent as its program."""
        return launcher.agent(self.name)


DIALECTS = (
    Dialect(
        name="acp",
        lacks={Trait.NAMED_UPDATES: NAMELESS},
    ),
    Dialect(
        name="gemini",
        lacks={Trait.HOST_FILES: OWN_FILES, Trait.NAMED_UPDATES: NAMELESS},
    ),
    Dialect(
        name="gemini-headless",
        when_resumed=Continuity.PENDING,
        lacks={
            Trait.PERMISSIONS: "tools that need approval are not there at all in this mode",
            Trait.HANDSHAKE: ONE_SHOT,
            Trait.LOGIN_AT_START: ONE_SHOT,
            Trait.RESUME_CHECK: ONE_SHOT,
            Trait.LIFE_AFTER_RESULT: "its process ends with its result",
            Trait.HOST_FILES: OWN_FILES,
            Trait.NAMED_UPDATES: "its process ends with its result",
            Trait.NAMED_SESSIONS: "one session for each process",
            Trait.VERSIONS: VERSIONLESS,
        },
    ),
    Dialect(
        name="codex-zed",
        lacks={
            Trait.HOST_FILES: OWN_FILES,
            Trait.NAMED_UPDATES: NAMELESS,
            Trait.TOKENS: "it tells only how full its context is",
        },
    ),
    Dialect(
        name="codex-acp",
        lacks={Trait.HOST_FILES: OWN_FILES},
    ),
    Dialect(
        name="claude",
        lacks={
            Trait.RESULT_IS_END: "its turn ends when it is idle, which it says after the result",
            Trait.HOST_FILES: OWN_FILES,
            Trait.NAMED_UPDATES: NAMELESS,
            Trait.NAMED_SESSIONS: "one session for each process",
            Trait.VERSIONS: VERSIONLESS,
        },
    ),
)


# `make test` runs the two that most avatars speak, `make conformance` the others.
BRIEF = {"acp", "claude"}


def dialects_with(*needed: Trait) -> list[Dialect]:
    return [dialect for dialect in DIALECTS if not any(trait in dialect.lacks for trait in needed)]


def every_dialect(*needed: Trait) -> pytest.MarkDecorator:
    """Run the test with each agent to which its fault can happen."""
    each = [
        pytest.param(one, id=one.name, marks=[] if one.name in BRIEF else [for_conformance])
        for one in dialects_with(*needed)
    ]
    return pytest.mark.parametrize("dialect", each)


def dialect_named(name: str) -> Dialect:
    return next(dialect for dialect in DIALECTS if dialect.name == name)
