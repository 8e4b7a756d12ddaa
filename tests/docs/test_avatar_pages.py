"""The pages about avatars name everything that is public, and nothing that is not there."""

import inspect
import re
from enum import Enum

import msgspec
import pytest

import avatar_actors
from avatar_actors import (
    Avatar,
    AvatarEngine,
    AvatarEvent,
    AvatarSettings,
    BridgeResponse,
    Budget,
    CancelResult,
    ChatHandle,
    Continuity,
    EventEmitter,
    EventStream,
    HealthStatus,
    HostStream,
    McpServer,
    Outcome,
    Price,
    ProviderCapabilities,
    Restarts,
    Retry,
    Runtime,
    RuntimeThread,
    StallVerdict,
    StoredSession,
    Timeouts,
    ToolCall,
    Turn,
    Usage,
    WhileBusy,
)
from avatar_actors.providers import acp, claude, codex, embedded, gemini
from tests.docs.test_snippets import FENCE, ROOT

FOLDER = ROOT / "docs" / "avatars"
DATA = (
    *(AvatarSettings, Budget, McpServer, Price, Restarts, Retry, Timeouts),
    *(BridgeResponse, HealthStatus, ProviderCapabilities, StoredSession, ToolCall, Usage),
)
WORD = re.compile(r"`([^`]+)`")


def page(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text("utf-8")


def named(text: str) -> set[str]:
    """Every identifier that stands in code style, or in the drawing of the errors."""
    drawn = {word for block in FENCE.finditer(text) for word in re.findall(r"\w+", block["body"])}
    text = FENCE.sub("", text)
    return drawn | {word for code in WORD.findall(text) for word in re.findall(r"\w+", code)}


def public_events() -> list[type[AvatarEvent]]:
    found = [getattr(avatar_actors, name) for name in avatar_actors.__all__]
    return [each for each in found if inspect.isclass(each) and issubclass(each, AvatarEvent)]


def event_table(text: str, event: type[AvatarEvent]) -> str:
    """The rows below the line that begins with the event's name."""
    return text.partition(f"| `{event.__name__}`")[2].partition("\n\n")[0]


@pytest.mark.parametrize("event", public_events(), ids=lambda event: event.__name__)
def test_every_event_is_described_with_exactly_its_fields(event: type[AvatarEvent]) -> None:
    table = event_table(page("events"), event)
    inherited = set(AvatarEvent.__struct_fields__) if event is not AvatarEvent else set[str]()
    rows = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    described = {name for row in rows for name in WORD.findall(row)}
    assert described == set(event.__struct_fields__) - inherited


@pytest.mark.parametrize("event", public_events(), ids=lambda event: event.__name__)
def test_every_event_is_described_with_its_tag(event: type[AvatarEvent]) -> None:
    tag = event.__struct_config__.tag
    assert event is AvatarEvent or f"| `{event.__name__}` (`{tag}`) |" in page("events")


def test_every_public_name_is_in_the_reference() -> None:
    assert sorted(set(avatar_actors.__all__) - named(page("reference"))) == []


@pytest.mark.parametrize(
    "kind",
    [
        *(Avatar, Turn, Runtime, EventStream),
        *(AvatarEngine, ChatHandle, EventEmitter, HostStream, RuntimeThread),
    ],
)
def test_every_public_method_is_in_the_reference(kind: type) -> None:
    for_the_hub = {"push", "close"} if kind is EventStream else set[str]()
    public = {name for name in vars(kind) if not name.startswith("_")} - for_the_hub
    assert sorted(public - named(page("reference")) - {"turn_id", "kinds"}) == []


@pytest.mark.parametrize("kind", DATA, ids=lambda kind: kind.__name__)
def test_every_field_of_settings_and_answers_is_in_the_reference(
    kind: type[msgspec.Struct],
) -> None:
    assert sorted(set(kind.__struct_fields__) - named(page("reference"))) == []


@pytest.mark.parametrize(
    "words",
    [Outcome, WhileBusy, CancelResult, Continuity, StallVerdict],
    ids=lambda words: words.__name__,
)
def test_every_word_of_the_turn_rules_has_its_row(words: type[Enum]) -> None:
    rows = re.findall(r"^\| `(\w+)`", page("turns"), re.MULTILINE)
    assert [word.name for word in words if word.name not in rows] == []


def test_the_times_on_the_page_are_the_defaults() -> None:
    table = page("turns").partition("| `Timeouts` |")[2]
    told: dict[str, float] = {}
    for names, values in re.findall(r"^\| ([^|]+) \| ([\d, ∞]+) \|", table, re.MULTILINE):
        numbers = [float(value.replace("∞", "inf")) for value in values.split(",")]
        told |= dict(zip(WORD.findall(names), numbers, strict=True))
    assert told == msgspec.structs.asdict(Timeouts())


def test_the_capacity_on_the_pages_is_the_default() -> None:
    capacity = inspect.signature(Avatar.events).parameters["capacity"].default
    for name in ("events", "reference"):
        assert f"capacity={capacity})" in page(name)


@pytest.mark.parametrize(
    ("provider", "options"),
    [
        ("acp", acp.OPTIONS),
        ("claude", (*claude.FLAGS, *claude.VARIABLES)),
        ("codex", codex.OPTIONS),
        ("embedded", embedded.OPTIONS),
        ("gemini", gemini.OPTIONS),
    ],
)
def test_every_option_of_a_provider_is_named(provider: str, options: tuple[str, ...]) -> None:
    table = page("providers").partition("## Options of their own")[2]
    row = table.partition(f"| {provider} |")[2].partition("\n")[0]
    assert sorted(set(options) - named(row)) == []
