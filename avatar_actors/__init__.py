"""AI agents as supervised actors: each a child process, turned into typed events and kept alive.

Names are imported when they are first used: the embedded agent and the warden run from this package
too, and must start in a few milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs 15 ms to import
if TYPE_CHECKING:
    # fmt: off
    from avatar_actors.avatar.control import Escalation
    from avatar_actors.model.events import BridgeResponse
    from avatar_actors.model.settings import LogSettings, MetricsKind, MetricsSettings, ProviderType, RuntimeOptions
    from avatar_actors.model.values import Attachment, HealthStatus
    from avatar_actors.observe.metrics.open import MetricsOffer
    from avatar_actors.providers.lookup import ready_agents
    from avatar_actors.providers.stores.store import SessionListing, SessionSearch, SessionTranscript
    from avatar_actors.avatar.event_stream import EventStream
    from avatar_actors.avatar.handle import Avatar
    from avatar_actors.avatar.turn import Turn
    from avatar_actors.config.config import AvatarConfig, config_schema, find_config
    from avatar_actors.hosting.engine import AvatarEngine
    from avatar_actors.hosting.executors import Dispatcher
    from avatar_actors.hosting.handlers import EventEmitter
    from avatar_actors.hosting.options import AnswerDetails, EngineOptions
    from avatar_actors.hosting.streams import HostStream
    from avatar_actors.model.errors import AgentDeaf, AgentDied, AgentError, AgentNeedsLogin, AgentNotFound, AgentNotReady, AgentRefused, AvatarDown, AvatarError, AvatarStartError, ConfigError, ConnectionLost, ResumeRefused, SettingsError, ToolUnasked, UnknownRequest, Unsupported, Unwatchable, WireBroken
    from avatar_actors.model.events import ActivityEvent, AvatarEvent, ContextEvent, ContinuityEvent, CostEvent, DiagnosticEvent, EngineStateEvent, ErrorEvent, EventsLostEvent, OrphansReapedEvent, PermissionClosedEvent, PermissionEvent, PlanEvent, QueueEvent, RetryEvent, SessionInfoEvent, StallEvent, StateEvent, SupervisionEvent, TextEvent, ThinkingEvent, ToolEvent, TurnEndedEvent, TurnStartedEvent, UnrecognisedEvent
    from avatar_actors.model.prices import PRICES, PRICES_AS_OF, Price
    from avatar_actors.model.settings import AvatarOptions, AvatarSettings, Budget, PermissionMode, PromptOptions, RateLimit, Restarts, Retry, Timeouts, WhileBusy
    from avatar_actors.model.tool_policy import ToolPolicy
    from avatar_actors.model.values import ActivityStatus, BridgeState, CancelResult, Choice, Continuity, CostSource, EngineState, Level, McpServer, Message, Outcome, PermissionBasis, PermissionOption, Permit, PlanEntry, ProviderCapabilities, StallVerdict, StoredMessage, StoredSession, ThinkingPhase, ToolCall, ToolStatus, Usage
    from avatar_actors.observe.tree.client import ObservableProgram, observable_programs, watch_tree
    from avatar_actors.observe.tree.snapshot import TreeChange, TreeHappening, TreePart, TreeSnapshot
    from avatar_actors.providers.lookup import AgentFound, find_agent, see_agent
    from avatar_actors.providers.stores.queries import list_sessions, read_session
    from avatar_actors.runtime.runtime import Runtime, open_avatar, open_runtime
    from avatar_actors.hosting.chat_handle import ChatHandle
    from avatar_actors.hosting.runtime_thread import RuntimeThread
    from avatar_actors.hosting.signals import stop_on_signals
    from avatar_actors.providers.provider import LaunchPlan, Place, Provider, Remote
    from avatar_actors.providers.provider import SignedIn, SignIn
    from avatar_actors.providers.acp import acp_provider
    from avatar_actors.providers.registry import provider_named
    from avatar_actors.wire.commands import Beginning
    # fmt: on

__version__ = "0.3.0"

# Where the names are; those that cost little to import come first.
_ROOMS = (
    "model.values", "model.errors", "model.events", "model.values", "model.values", "model.prices", "model.events", "model.tool_policy",
    "model.settings", "model.settings", "avatar.event_stream", "observe.tree.snapshot", "observe.tree.client", "runtime.runtime", "avatar.handle",
    "avatar.turn", "hosting.engine", "hosting.options", "hosting.chat_handle", "hosting.executors",
    "hosting.handlers", "hosting.streams", "hosting.runtime_thread", "hosting.signals",
    "avatar.control", "providers.provider", "providers.acp", "providers.registry", "config.config",
    "observe.metrics.open", "providers.stores.store", "providers.stores.store", "providers.stores.queries", "providers.lookup",
    "providers.lookup", "wire.commands",
)  # fmt: skip

# fmt: off
__all__ = [
    "ActivityEvent", "ActivityStatus", "AgentDeaf", "AgentDied", "AgentError", "AgentFound",
    "AgentNeedsLogin", "AgentNotFound", "AgentNotReady", "AgentRefused", "AnswerDetails",
    "Attachment", "Avatar", "AvatarConfig", "AvatarDown", "AvatarEngine", "AvatarError",
    "AvatarEvent", "AvatarOptions", "AvatarSettings", "AvatarStartError", "Beginning",
    "BridgeResponse", "BridgeState", "Budget", "CancelResult", "ChatHandle", "Choice",
    "ConfigError", "ConnectionLost", "ContextEvent", "Continuity", "ContinuityEvent", "CostEvent",
    "CostSource", "DiagnosticEvent", "Dispatcher", "EngineOptions", "EngineState",
    "EngineStateEvent", "ErrorEvent", "Escalation", "EventEmitter", "EventStream",
    "EventsLostEvent", "HealthStatus", "HostStream", "LaunchPlan", "Level", "LogSettings",
    "McpServer", "Message", "MetricsKind", "MetricsOffer", "MetricsSettings", "ObservableProgram",
    "OrphansReapedEvent", "Outcome", "PRICES", "PRICES_AS_OF", "PermissionBasis",
    "PermissionClosedEvent", "PermissionEvent", "PermissionMode", "PermissionOption", "Permit",
    "Place", "PlanEntry", "PlanEvent", "Price", "PromptOptions", "Provider", "ProviderCapabilities",
    "ProviderType", "QueueEvent", "RateLimit", "Remote", "Restarts", "ResumeRefused", "Retry",
    "RetryEvent", "Runtime", "RuntimeOptions", "RuntimeThread", "SessionInfoEvent",
    "SessionListing", "SessionSearch", "SessionTranscript", "SettingsError", "SignIn", "SignedIn",
    "StallEvent", "StallVerdict", "StateEvent", "StoredMessage", "StoredSession",
    "SupervisionEvent", "TextEvent", "ThinkingEvent", "ThinkingPhase", "Timeouts", "ToolCall",
    "ToolEvent", "ToolPolicy", "ToolStatus", "ToolUnasked", "TreeChange", "TreeHappening",
    "TreePart", "TreeSnapshot", "Turn", "TurnEndedEvent", "TurnStartedEvent", "UnknownRequest",
    "UnrecognisedEvent", "Unsupported", "Unwatchable", "Usage", "WhileBusy", "WireBroken",
    "__version__", "acp_provider", "config_schema", "find_agent", "find_config", "list_sessions",
    "observable_programs", "open_avatar", "open_runtime", "provider_named", "read_session",
    "ready_agents", "see_agent", "stop_on_signals", "watch_tree",
]
# fmt: on


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415 - only who uses a name pays for it

        for room in _ROOMS:
            module = import_module(f"avatar_actors.{room}")
            if hasattr(module, name):
                found: object = getattr(module, name)
                globals()[name] = found
                return found
    raise AttributeError(f"module 'avatar_actors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
