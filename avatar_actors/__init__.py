"""AI agents as supervised actors: each a child process, turned into typed events and kept alive.

    model      values: events, settings, errors, prices
    wire       protocols without I/O: bytes to facts, commands to bytes
    providers  agents as data, and the stores of their sessions
    programs   programs of their own, standard library only: warden, embedded agent, Gemini shim
    processes  the host's side of the warden: leases, pipes, the sweep
    session    one life of an agent: bridge, stdio, process, or a remote link
    avatar     what outlives that life: turn queue, limits, permissions, events
    observe    log, metrics, and the supervision tree for other programs
    runtime    many avatars in one tree, above one warden
    config     from YAML and the environment to settings
    hosting    AvatarEngine: avatars for threads, asyncio and GUIs
    chaos      faults on purpose
    picture    what any screen shows of an avatar, folded from its events, by tables
    cli        the command `avatar`
    gui        its app for the terminal: `avatar gui`

A room imports only rooms above it; chaos, cli and gui use the names below. Names are imported when
they are first used: warden and embedded agent run from this package too, and start in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs 15 ms to import
if TYPE_CHECKING:
    # fmt: off
    from avatar_actors.avatar.handle import Escalation
    from avatar_actors.model.events import ActivityEvent, AvatarEvent, BridgeResponse, ContextEvent
    from avatar_actors.model.events import ContinuityEvent, CostEvent, DiagnosticEvent
    from avatar_actors.model.events import EngineStateEvent, ErrorEvent, EventsLostEvent
    from avatar_actors.model.events import OrphansReapedEvent, PermissionClosedEvent
    from avatar_actors.model.events import PermissionEvent, PlanEvent, QuestionClosedEvent
    from avatar_actors.model.events import QuestionEvent, QueueEvent, RetryEvent
    from avatar_actors.model.events import SessionInfoEvent, StallEvent, StateEvent
    from avatar_actors.model.events import SupervisionEvent, TextEvent, ThinkingEvent, ToolEvent
    from avatar_actors.model.events import TurnEndedEvent, TurnStartedEvent, UnrecognisedEvent
    from avatar_actors.model.questions import GivenAnswers, QuestionOption, UserQuestion
    from avatar_actors.model.settings import AvatarOptions, AvatarSettings, Budget, LogSettings
    from avatar_actors.model.settings import MetricsKind, MetricsSettings, PermissionMode
    from avatar_actors.model.settings import PromptOptions, ProviderType, RateLimit, Restarts
    from avatar_actors.model.settings import Retry, RuntimeOptions, Timeouts, WhileBusy
    from avatar_actors.model.values import ActivityStatus, Attachment, BridgeState, CancelResult
    from avatar_actors.model.values import Choice, Continuity, CostSource, EngineState
    from avatar_actors.model.values import HealthStatus, Level, McpServer, Message, Outcome
    from avatar_actors.model.values import PermissionBasis, PermissionOption, Permit, PlanEntry
    from avatar_actors.model.values import ProviderCapabilities, StallVerdict, StoredMessage
    from avatar_actors.model.values import StoredSession, ThinkingPhase, ToolCall, ToolStatus
    from avatar_actors.model.values import Usage
    from avatar_actors.observe.metrics.collector import MetricsOffer
    from avatar_actors.providers.lookup import AgentFound, find_agent, ready_agents, see_agent
    from avatar_actors.providers.stores.store import SessionListing, SessionSearch
    from avatar_actors.providers.stores.store import SessionTranscript
    from avatar_actors.avatar.event_stream import EventStream
    from avatar_actors.avatar.handle import Avatar
    from avatar_actors.avatar.turn import Turn
    from avatar_actors.config.config import AvatarConfig, config_schema, find_config
    from avatar_actors.hosting.engine import AvatarEngine
    from avatar_actors.hosting.executors import Dispatcher
    from avatar_actors.hosting.handlers import EventEmitter
    from avatar_actors.hosting.options import AnswerDetails, EngineOptions
    from avatar_actors.hosting.streams import HostStream
    from avatar_actors.model.errors import AgentDeaf, AgentDied, AgentError, AgentNeedsLogin
    from avatar_actors.model.errors import AgentNotFound, AgentNotReady, AgentRefused, AvatarDown
    from avatar_actors.model.errors import AvatarError, AvatarStartError, ConfigError
    from avatar_actors.model.errors import ConnectionLost, SettingsError
    from avatar_actors.model.errors import ToolUnasked, TurnFailed, UnknownRequest, Unsupported
    from avatar_actors.model.errors import Unwatchable, WireBroken
    from avatar_actors.model.prices import PRICES, PRICES_AS_OF, Price
    from avatar_actors.model.tool_policy import ToolPolicy
    from avatar_actors.observe.tree.client import ObservableProgram, observable_programs
    from avatar_actors.observe.tree.client import watch_tree
    from avatar_actors.observe.tree.snapshot import TreeChange, TreeHappening, TreePart
    from avatar_actors.observe.tree.snapshot import TreeSnapshot
    from avatar_actors.providers.stores.queries import list_sessions, read_session
    from avatar_actors.runtime.runtime import Runtime, open_avatar, open_runtime
    from avatar_actors.hosting.chat_handle import ChatHandle
    from avatar_actors.hosting.runtime_thread import RuntimeThread
    from avatar_actors.hosting.signals import stop_on_signals
    from avatar_actors.providers.provider import LaunchPlan, Place, Provider, Remote, SignIn
    from avatar_actors.providers.provider import SignedIn
    from avatar_actors.providers.acp import acp_provider
    from avatar_actors.providers.registry import provider_named
    from avatar_actors.wire.commands import Beginning
    # fmt: on

__version__ = "0.3.0"

# Where each name is declared.
_MODULES = {
    "ActivityEvent": "model.events", "ActivityStatus": "model.values", "AgentDeaf": "model.errors",
    "AgentDied": "model.errors", "AgentError": "model.errors", "AgentFound": "providers.lookup",
    "AgentNeedsLogin": "model.errors", "AgentNotFound": "model.errors",
    "AgentNotReady": "model.errors", "AgentRefused": "model.errors",
    "AnswerDetails": "hosting.options", "Attachment": "model.values", "Avatar": "avatar.handle",
    "AvatarConfig": "config.config", "AvatarDown": "model.errors",
    "AvatarEngine": "hosting.engine", "AvatarError": "model.errors", "AvatarEvent": "model.events",
    "AvatarOptions": "model.settings", "AvatarSettings": "model.settings",
    "AvatarStartError": "model.errors", "Beginning": "wire.commands",
    "BridgeResponse": "model.events", "BridgeState": "model.values", "Budget": "model.settings",
    "CancelResult": "model.values", "ChatHandle": "hosting.chat_handle", "Choice": "model.values",
    "ConfigError": "model.errors", "ConnectionLost": "model.errors",
    "ContextEvent": "model.events", "Continuity": "model.values",
    "ContinuityEvent": "model.events", "CostEvent": "model.events", "CostSource": "model.values",
    "DiagnosticEvent": "model.events", "Dispatcher": "hosting.executors",
    "EngineOptions": "hosting.options", "EngineState": "model.values",
    "EngineStateEvent": "model.events", "ErrorEvent": "model.events",
    "Escalation": "avatar.handle", "EventEmitter": "hosting.handlers",
    "EventStream": "avatar.event_stream", "EventsLostEvent": "model.events",
    "GivenAnswers": "model.questions", "HealthStatus": "model.values",
    "HostStream": "hosting.streams", "LaunchPlan": "providers.provider", "Level": "model.values",
    "LogSettings": "model.settings", "McpServer": "model.values", "Message": "model.values",
    "MetricsKind": "model.settings", "MetricsOffer": "observe.metrics.collector",
    "MetricsSettings": "model.settings", "ObservableProgram": "observe.tree.client",
    "OrphansReapedEvent": "model.events", "Outcome": "model.values", "PRICES": "model.prices",
    "PRICES_AS_OF": "model.prices", "PermissionBasis": "model.values",
    "PermissionClosedEvent": "model.events", "PermissionEvent": "model.events",
    "PermissionMode": "model.settings", "PermissionOption": "model.values",
    "Permit": "model.values", "Place": "providers.provider", "PlanEntry": "model.values",
    "PlanEvent": "model.events", "Price": "model.prices", "PromptOptions": "model.settings",
    "Provider": "providers.provider", "ProviderCapabilities": "model.values",
    "ProviderType": "model.settings", "QuestionClosedEvent": "model.events",
    "QuestionEvent": "model.events", "QuestionOption": "model.questions",
    "QueueEvent": "model.events", "RateLimit": "model.settings", "Remote": "providers.provider",
    "Restarts": "model.settings", "Retry": "model.settings", "RetryEvent": "model.events",
    "Runtime": "runtime.runtime", "RuntimeOptions": "model.settings",
    "RuntimeThread": "hosting.runtime_thread", "SessionInfoEvent": "model.events",
    "SessionListing": "providers.stores.store", "SessionSearch": "providers.stores.store",
    "SessionTranscript": "providers.stores.store", "SettingsError": "model.errors",
    "SignIn": "providers.provider", "SignedIn": "providers.provider", "StallEvent": "model.events",
    "StallVerdict": "model.values", "StateEvent": "model.events", "StoredMessage": "model.values",
    "StoredSession": "model.values", "SupervisionEvent": "model.events",
    "TextEvent": "model.events", "ThinkingEvent": "model.events", "ThinkingPhase": "model.values",
    "Timeouts": "model.settings", "ToolCall": "model.values", "ToolEvent": "model.events",
    "ToolPolicy": "model.tool_policy", "ToolStatus": "model.values", "ToolUnasked": "model.errors",
    "TreeChange": "observe.tree.snapshot", "TreeHappening": "observe.tree.snapshot",
    "TreePart": "observe.tree.snapshot", "TreeSnapshot": "observe.tree.snapshot",
    "Turn": "avatar.turn", "TurnEndedEvent": "model.events", "TurnFailed": "model.errors",
    "TurnStartedEvent": "model.events", "UnknownRequest": "model.errors",
    "UnrecognisedEvent": "model.events", "Unsupported": "model.errors",
    "Unwatchable": "model.errors", "Usage": "model.values", "UserQuestion": "model.questions",
    "WhileBusy": "model.settings", "WireBroken": "model.errors", "acp_provider": "providers.acp",
    "config_schema": "config.config", "find_agent": "providers.lookup",
    "find_config": "config.config", "list_sessions": "providers.stores.queries",
    "observable_programs": "observe.tree.client", "open_avatar": "runtime.runtime",
    "open_runtime": "runtime.runtime", "provider_named": "providers.registry",
    "read_session": "providers.stores.queries", "ready_agents": "providers.lookup",
    "see_agent": "providers.lookup", "stop_on_signals": "hosting.signals",
    "watch_tree": "observe.tree.client",
}  # fmt: skip

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
    "EventsLostEvent", "GivenAnswers", "HealthStatus", "HostStream", "LaunchPlan", "Level",
    "LogSettings", "McpServer", "Message", "MetricsKind", "MetricsOffer", "MetricsSettings",
    "ObservableProgram", "OrphansReapedEvent", "Outcome", "PRICES", "PRICES_AS_OF",
    "PermissionBasis", "PermissionClosedEvent", "PermissionEvent", "PermissionMode",
    "PermissionOption", "Permit", "Place", "PlanEntry", "PlanEvent", "Price", "PromptOptions",
    "Provider", "ProviderCapabilities", "ProviderType", "QuestionClosedEvent", "QuestionEvent",
    "QuestionOption", "QueueEvent", "RateLimit", "Remote", "Restarts", "Retry", "RetryEvent",
    "Runtime", "RuntimeOptions", "RuntimeThread", "SessionInfoEvent", "SessionListing",
    "SessionSearch", "SessionTranscript", "SettingsError", "SignIn", "SignedIn", "StallEvent",
    "StallVerdict", "StateEvent", "StoredMessage", "StoredSession", "SupervisionEvent", "TextEvent",
    "ThinkingEvent", "ThinkingPhase", "Timeouts", "ToolCall", "ToolEvent", "ToolPolicy",
    "ToolStatus", "ToolUnasked", "TreeChange", "TreeHappening", "TreePart", "TreeSnapshot", "Turn",
    "TurnEndedEvent", "TurnFailed", "TurnStartedEvent", "UnknownRequest", "UnrecognisedEvent",
    "Unsupported", "Unwatchable", "Usage", "UserQuestion", "WhileBusy", "WireBroken", "__version__",
    "acp_provider", "config_schema", "find_agent", "find_config", "list_sessions",
    "observable_programs", "open_avatar", "open_runtime", "provider_named", "read_session",
    "ready_agents", "see_agent", "stop_on_signals", "watch_tree",
]
# fmt: on


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'avatar_actors' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only who uses a name pays for it

    found: object = getattr(import_module(f"avatar_actors.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
