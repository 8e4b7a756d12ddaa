"""What the suite finds out of an agent: the rows of the matrix, and the words for its cells."""

from enum import Enum

from msgspec import Struct


class Ability(Enum):
    """One row: what a host wants of an agent."""

    START = "starts"
    TEXT = "text, streamed"
    THINKING = "thinking, apart from the text"
    USAGE = "tokens"
    COST = "cost"
    BUDGET = "budget"
    MODEL = "the model that was asked for"
    SYSTEM_PROMPT = "system prompt"
    SHELL = "shell tool, with its output"
    PARALLEL_TOOLS = "parallel tools"
    PERMISSION_ALLOW = "permission: allow"
    PERMISSION_DENY = "permission: deny"
    PERMISSION_POLICY = "permission: policy of the host"
    QUESTION = "question to the user"
    QUESTION_UNHEARD = "question, nobody there"
    QUESTION_IN_TERMINAL = "question in chat and REPL"
    SAFE_EDIT = "safe: edit"
    SAFE_SHELL = "safe: shell"
    ASK_EDIT = "ask: edit"
    POLICY_UNRESTRICTED = "policy with unrestricted"
    INTERRUPT_TEXT = "interrupt in the text"
    INTERRUPT_TOOL = "interrupt in a tool"
    CANCEL_ACTIVITY = "cancel of one activity"
    TWO_PROMPTS = "two prompts at once"
    MCP = "MCP server"
    ATTACHMENT = "attached image"
    STRUCTURED = "structured output"
    RESUME = "session resumed"
    SESSIONS = "sessions listed"
    CONTINUE = "session continued (last)"
    FORK = "session forked"
    SWITCH_MODEL = "model switched"
    KILLED_IN_TOOL = "kill -9 in a tool"
    API_ERROR = "error of the model's API"
    NO_LOGIN = "no sign-in"
    FOOTPRINT = "zero footprint"
    HOST_FILES = "the host project's own agent files"


class Found(Enum):
    """What a test saw. A cell is never empty."""

    WORKS = "works"
    DIFFERS = "differs"
    NOT_OFFERED = "not offered"
    FAILED = "failed"
    NOT_TESTED = "not tested"


class Cell(Struct, frozen=True, kw_only=True):
    """One cell of the matrix; `note` says how it differs, or what was measured."""

    agent: str
    ability: Ability
    found: Found
    note: str = ""
    seconds: dict[str, float] = {}
