"""Types of ACP agents' replies and requests; update_types has their updates.

Only what is used is typed. A missing or null field has a default, an unknown field is ignored, and
a message that does not fit is reported as not understood.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from avatar_actors.model.values import JsonObject


class ConfigOption(Struct, rename="camel", gc=False):
    """Something that can be chosen; `category` says whether it is the mode or the model."""

    id: str
    category: Any = None
    current_value: Any = None
    options: list[JsonObject] = []


class ModeInfo(Struct, gc=False):
    """A mode."""

    id: str
    name: str | None = None


class Modes(Struct, rename="camel", gc=False):
    """The modes and the current one."""

    available_modes: list[ModeInfo] = []
    current_mode_id: str = ""


class ModelInfo(Struct, rename="camel", gc=False):
    """A model."""

    model_id: str
    name: str | None = None


class Models(Struct, rename="camel", gc=False):
    """The models and the current one; not in the schema any more, but still sent by agents."""

    available_models: list[ModelInfo] = []
    current_model_id: str = ""


class SessionResult(Struct, rename="camel", gc=False):
    """The answer to session/new, load, resume and fork."""

    session_id: str | None = None
    modes: Modes | None = None
    models: Models | None = None
    config_options: list[ConfigOption] | None = None


class AgentInfo(Struct, gc=False):
    """The agent's name and version."""

    name: str | None = None
    version: str | None = None


class AuthMethod(Struct, gc=False):
    """A way to log in; one of type env_var names the variables it reads."""

    id: str
    name: str | None = None
    vars: list[JsonObject] | None = None


class AgentCapabilities(Struct, rename="camel", gc=False):
    """What the agent advertises."""

    load_session: bool = False
    prompt_capabilities: JsonObject | None = None
    mcp_capabilities: JsonObject | None = None
    session_capabilities: JsonObject | None = None


class Initialized(Struct, rename="camel", gc=False):
    """The answer to initialize."""

    protocol_version: int
    agent_info: AgentInfo | None = None
    agent_capabilities: AgentCapabilities | None = None
    auth_methods: list[AuthMethod] | None = None
    meta: JsonObject | None = field(name="_meta", default=None)

    @property
    def capabilities(self) -> AgentCapabilities:
        """The advertised capabilities; an agent that says nothing has none."""
        return self.agent_capabilities or AgentCapabilities()


class ReadFileParams(Struct, rename="camel", gc=False):
    """A file to read, from a line on."""

    path: str
    line: int | None = None
    limit: int | None = None


class WriteFileParams(Struct, rename="camel", gc=False):
    """A file to write."""

    path: str
    content: str


class PromptResult(Struct, rename="camel", gc=False):
    """The answer to session/prompt."""

    stop_reason: str
    usage: JsonObject | None = None
    meta: JsonObject | None = field(name="_meta", default=None)
