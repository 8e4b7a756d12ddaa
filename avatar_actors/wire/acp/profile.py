"""What is particular to one ACP agent, as data that its provider fills in."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from avatar_actors.model.values import PermissionBasis


class SystemPromptBy(Enum):
    """How an agent takes a system prompt.

    LAUNCH: the provider put it into the command. FIELD: `session/new{"systemPrompt"}`, if the agent
    advertises it. META: `session/new{"_meta": {"systemPrompt"}}`. INJECTED: a marked block before
    the first prompt, for all others.
    """

    LAUNCH = "launch"
    FIELD = "field"
    META = "meta"
    INJECTED = "injected"


class FilesOffered(Enum):
    """Which requests about text files the agent may send to us."""

    NONE = "none"
    WRITE = "write"
    READ_AND_WRITE = "read and write"


class HeldBy(Struct, frozen=True):
    """What holds an agent to the host's permissions: a mode of its own, and what that is worth.

    `asks_after_start`: it calls a tool in progress before it asks about it.
    """

    mode: str = ""
    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    asks_after_start: bool = False


class AcpProfile(Struct, frozen=True, kw_only=True):
    """The quirks of one agent. The defaults suit an agent that keeps to the protocol.

    `auth_method` is tried once when the agent wants authentication. `mode` is chosen when the host
    names none and the agent offers it; `permissions` and `asks_after_start` go with it, as in
    HeldBy. `known_agents` has the same by the name that an agent tells, and `asking_modes` are to
    be looked for in an agent that is not known, the best first. `mode_notice` begins a text that is
    no answer but tells a new mode. `tool_name_end` ends the tool's name in a tool call's id.
    `failed_status` is where in the `_meta` of session_info_update a status stands, and its value
    that says that the turn failed; `retry_notice` is where the agent tells there that it tries
    again. `takes_any_model`: also those that it does not list. `replays_late`: a loaded session's
    history also after the answer.
    """

    system_prompt: SystemPromptBy = SystemPromptBy.INJECTED
    files: FilesOffered = FilesOffered.NONE
    auth_method: str = ""
    login_advice: str = ""
    mode: str = ""
    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    known_agents: dict[str, HeldBy] = {}
    asking_modes: tuple[str, ...] = ()
    asks_after_start: bool = False
    mode_notice: str = ""
    tool_name_end: str = ""
    failed_status: tuple[tuple[str, ...], str] = ((), "")
    retry_notice: tuple[str, ...] = ()
    quiet_notifications: frozenset[str] = frozenset()
    # What the output of a cancelled tool is though its status is "completed" (gemini 0.61.0), and
    # how it ends after what was printed (opencode 1.18.33).
    cancelled_outputs: frozenset[str] = frozenset(
        {"Command cancelled by user.", "User aborted the command"}
    )
    cancelled_ending: str = "<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    # Of several options "allow always", the one that allows least: gemini 0.61.0 for MCP tools,
    # codex-acp 2.6.0 and zed's 0.16.0 likewise, qwen 0.15.10.
    narrow_options: frozenset[str] = frozenset(
        {"proceed_always_tool", "allow_session", "approved-for-session", "proceed_always_project"}
    )
    tells_cost: bool = False
    takes_any_model: bool = False
    replays_late: bool = False
