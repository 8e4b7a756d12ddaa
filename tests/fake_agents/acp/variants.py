"""The ACP agents that are impersonated: what each announces, offers and does in its own way."""

from __future__ import annotations

from avatar_actors.programs.embedded.acp.messages import INTERNAL_ERROR, AcpFeatures
from avatar_actors.programs.embedded.json_lines import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

SETTERS = ("session/set_mode", "session/set_config_option")
ALLOW_ONCE = "allow_once"
ALLOW_ALWAYS = "allow_always"
REJECT_ONCE = "reject_once"


class AcpVariant(AcpFeatures):
    """What the agents differ in, besides what they announce and offer."""

    name: str
    extra_capabilities: ClassVar[Record] = {}
    initialize_meta: ClassVar[Record] = {}
    edit_modes: tuple[str, ...] = ()
    """The modes in which edits are not asked about."""
    lists_models = False
    shown_before_asking: tuple[str, ...] | None = None
    """The kinds of tools that are shown before their permission is asked; None: all."""
    rejection_ends_turn = False
    rejection_is_shown = True
    has_string_ids = False
    has_message_ids = False
    thought_prefix = ""
    new_prompt_cancels = False
    cancel_waits_for_answer = False
    runs_tools_in_turn = False
    usage_forms: tuple[str, ...]


class Gemini(AcpVariant):
    """Gemini CLI 0.61.0."""

    name = "gemini"
    info: ClassVar[Record] = {"name": "gemini-cli", "title": "Gemini CLI", "version": "0.61.0"}
    auth_methods = (
        {"id": "oauth-personal", "name": "Log in with Google", "description": "Google account"},
        {
            "id": "gemini-api-key",
            "name": "Gemini API key",
            "description": "Use an API key with Gemini Developer API",
            "_meta": {"api-key": {"provider": "google"}},
        },
    )
    prompt_capabilities: ClassVar[Record] = {"image": True, "audio": True, "embeddedContext": True}
    session_capabilities = ()
    modes = (
        ("default", "Default"),
        ("autoEdit", "Auto Edit"),
        ("yolo", "YOLO"),
        ("plan", "Plan"),
    )
    mode = "default"
    free_modes = ("yolo",)
    edit_modes = ("autoEdit",)
    models = ("auto", "gemini-2.5-pro")
    model = "auto"
    lists_models = True
    methods = ("session/set_mode", "session/set_model")
    permission = (
        ("proceed_always", "Allow for this session", ALLOW_ALWAYS),
        ("proceed_once", "Allow", ALLOW_ONCE),
        ("cancel", "Reject", REJECT_ONCE),
    )
    shown_before_asking = ()
    rejection_is_shown = False
    new_prompt_cancels = True
    cancel_waits_for_answer = True
    runs_tools_in_turn = True
    usage_forms = ("quota",)
    load_error = (INTERNAL_ERROR, "Internal error", "No previous sessions found for this project.")


class CodexZed(AcpVariant):
    """Zed's codex-acp 0.16.0."""

    name = "codex-zed"
    info: ClassVar[Record] = {"name": "codex-acp", "title": "Codex", "version": "0.16.0"}
    auth_methods = (
        {"id": "chatgpt", "name": "Login with ChatGPT", "description": "Use your ChatGPT login"},
        {
            "type": "env_var",
            "id": "openai-api-key",
            "name": "Use OPENAI_API_KEY",
            "description": "Requires setting the `OPENAI_API_KEY` environment variable.",
            "vars": [{"name": "OPENAI_API_KEY"}],
        },
    )
    prompt_capabilities: ClassVar[Record] = {"image": True, "audio": False, "embeddedContext": True}
    mcp_capabilities: ClassVar[Record] = {"http": True, "sse": False, "acp": False}
    session_capabilities = ("list", "resume", "close")
    extra_capabilities: ClassVar[Record] = {"auth": {"logout": {}}}
    modes = (("read-only", "Read Only"), ("auto", "Default"), ("full-access", "Full Access"))
    mode = "read-only"
    free_modes = ("full-access",)
    edit_modes = ("auto",)
    models = ("gpt-5.5", "gpt-5.4")
    model = "gpt-5.4"
    permission = (
        ("approved", "Yes, proceed", ALLOW_ONCE),
        ("approved-execpolicy-amendment", "Yes, and don't ask again", ALLOW_ALWAYS),
        ("abort", "No, and tell Codex what to do differently", REJECT_ONCE),
    )
    shown_before_asking = ("edit",)
    rejection_ends_turn = True
    rejection_is_shown = False
    has_string_ids = True
    thought_prefix = "\n\n"
    usage_forms = ("update",)


class CodexAcp(AcpVariant):
    """The codex-acp of the protocol's own people, 2.6.0."""

    name = "codex-acp"
    info: ClassVar[Record] = {
        "name": "@agentclientprotocol/codex-acp",
        "title": "Codex",
        "version": "2.6.0",
    }
    auth_methods = (
        {
            "id": "api-key",
            "name": "API Key",
            "description": "Use an API key to authenticate",
            "_meta": {"api-key": {"provider": "openai"}},
        },
    )
    prompt_capabilities: ClassVar[Record] = {"embeddedContext": True, "image": True}
    mcp_capabilities: ClassVar[Record] = {"acp": False, "http": True, "sse": False}
    session_capabilities = (
        *("resume", "list", "close", "delete", "fork"),
        *("title", "additionalDirectories", "subagents", "systemPrompt"),
    )
    extra_capabilities: ClassVar[Record] = {
        "auth": {"logout": {}},
        "providers": {},
        "_meta": {"authStatus": {}},
    }
    initialize_meta: ClassVar[Record] = {"steering": {"supported": True}}
    modes = (
        ("read-only", "Read-only"),
        ("workspace-write", "Workspace access"),
        ("agent", "Agent"),
        ("agent-full-access", "Full access"),
    )
    mode = "agent"
    free_modes = ("agent-full-access",)
    edit_modes = ("workspace-write",)
    models = ("gpt-5.5[low]", "gpt-5.5[medium]", "gpt-6.1-sol[low]", "gpt-6.1-sol[medium]")
    model = "gpt-5.5[medium]"
    lists_models = True
    methods = (*SETTERS, "session/set_model")
    permission = (
        ("allow_once", "Yes, proceed", ALLOW_ONCE),
        ("accept_execpolicy_amendment", "Yes, and don't ask again", ALLOW_ALWAYS),
        ("cancel", "No, and tell Codex what to do differently", REJECT_ONCE),
    )
    rejection_ends_turn = True
    has_message_ids = True
    thought_prefix = "\n\n"
    usage_forms = ("update", "response", "quota")
    load_error = (INTERNAL_ERROR, "Internal error", "no rollout found for thread id")


VARIANTS: dict[str, type[AcpVariant]] = {each.name: each for each in (Gemini, CodexZed, CodexAcp)}
