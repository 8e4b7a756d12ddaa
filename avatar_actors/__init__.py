"""AI agents as supervised actors: each a child process, turned into typed events and kept alive.

Names are imported when they are first used: the embedded agent and the warden run from this package
too, and must start in a few milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs 15 ms to import
if TYPE_CHECKING:
    # fmt: off
    from avatar_actors.engine import AvatarEngine
    from avatar_actors.engine_options import AnswerDetails, EngineOptions
    from avatar_actors.hosting.chat_handle import ChatHandle
    from avatar_actors.hosting.delivery import Dispatcher
    from avatar_actors.hosting.emitter import EventEmitter
    from avatar_actors.hosting.host_stream import HostStream
    from avatar_actors.hosting.runtime_thread import RuntimeThread
    from avatar_actors.hosting.signals import stop_on_signals
    from avatar_actors.runtime import Runtime, open_avatar, open_runtime
    from avatar_actors.handle import Avatar
    from avatar_actors.cancelling import Escalation
    from avatar_actors.turn import Turn
    from avatar_actors.subscription import EventStream
    from avatar_actors.settings import AvatarOptions, AvatarSettings, Budget, PermissionMode
    from avatar_actors.settings import PromptOptions, RateLimit, Restarts, Retry, Timeouts
    from avatar_actors.settings import WhileBusy
    from avatar_actors.host_settings import LogSettings, MetricsKind, MetricsSettings
    from avatar_actors.host_settings import ProviderType, RuntimeOptions
    from avatar_actors.tool_policy import ToolPolicy
    from avatar_actors.attachment import Attachment
    from avatar_actors.prices import PRICES, PRICES_AS_OF, Price
    from avatar_actors.response import BridgeResponse
    from avatar_actors.types import ActivityStatus, BridgeState, CancelResult, Choice, Continuity
    from avatar_actors.types import CostSource, EngineState, Level, McpServer
    from avatar_actors.types import Message, Outcome, PermissionBasis, PermissionOption
    from avatar_actors.types import Permit, PlanEntry
    from avatar_actors.types import ProviderCapabilities, StallVerdict, StoredMessage
    from avatar_actors.types import StoredSession, ThinkingPhase, ToolCall, ToolStatus, Usage
    from avatar_actors.health import HealthStatus
    from avatar_actors.events import ActivityEvent, AvatarEvent, ContextEvent, ContinuityEvent
    from avatar_actors.events import CostEvent, DiagnosticEvent, EngineStateEvent, ErrorEvent
    from avatar_actors.events import EventsLostEvent, OrphansReapedEvent, PermissionClosedEvent
    from avatar_actors.events import PermissionEvent, PlanEvent, QueueEvent, RetryEvent
    from avatar_actors.events import SessionInfoEvent, StallEvent, StateEvent, SupervisionEvent
    from avatar_actors.events import TextEvent, ThinkingEvent, ToolEvent, TurnEndedEvent
    from avatar_actors.events import TurnStartedEvent, UnrecognisedEvent
    from avatar_actors.errors import AgentDeaf, AgentDied, AgentError, AgentNeedsLogin
    from avatar_actors.errors import AgentNotFound, AgentNotReady, AgentRefused, AvatarDown
    from avatar_actors.errors import AvatarError, AvatarStartError, ConfigError, ConnectionLost
    from avatar_actors.errors import ResumeRefused, SettingsError, ToolUnasked, UnknownRequest
    from avatar_actors.errors import Unsupported, Unwatchable, WireBroken
    from avatar_actors.providers.provider import LaunchPlan, Place, Provider, Remote
    from avatar_actors.providers.provider import SignedIn, SignIn
    from avatar_actors.providers.acp import acp_provider
    from avatar_actors.providers.registry import provider_named
    from avatar_actors.config import AvatarConfig, config_schema, find_config
    from avatar_actors.metrics.offer import MetricsOffer
    from avatar_actors.sessions.listing import SessionListing, SessionSearch
    from avatar_actors.sessions.transcript import SessionTranscript
    from avatar_actors.stored_sessions import list_sessions, read_session
    from avatar_actors.agent_lookup import AgentFound, find_agent, see_agent
    from avatar_actors.tree_snapshot import TreeChange, TreeHappening, TreePart, TreeSnapshot
    from avatar_actors.watching import ObservableProgram, observable_programs, watch_tree
    from avatar_actors.readiness import ready_agents
    from avatar_actors.wire.commands import Beginning
    # fmt: on

__version__ = "0.3.0"

# Where the names are; those that cost little to import come first.
_ROOMS = (
    "types", "errors", "events", "health", "attachment", "prices", "response", "tool_policy",
    "settings", "host_settings", "subscription", "tree_snapshot", "watching", "runtime", "handle",
    "turn", "engine", "engine_options", "hosting.chat_handle", "hosting.delivery",
    "hosting.emitter", "hosting.host_stream", "hosting.runtime_thread", "hosting.signals",
    "cancelling", "providers.provider", "providers.acp", "providers.registry", "config",
    "metrics.offer", "sessions.listing", "sessions.transcript", "stored_sessions", "agent_lookup",
    "readiness", "wire.commands",
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
