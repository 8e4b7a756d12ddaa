"""What came of a turn over ACP, in short words: more of the tools and tokens than digest tells."""

from collections.abc import Iterable
from itertools import groupby

from avatar_actors.model.events import CostEvent, PlanEvent, SessionInfoEvent, TextEvent, ToolEvent
from avatar_actors.wire.facts import Answered, Fact, FileWanted, Opened, OpenFailed, TurnOver
from tests.wire.digest import digest

# What a tool was given, as far as it tells one call from another.
GIVEN = ("command", "file_path", "path", "text")
LENGTH = 76


def turns(facts: Iterable[Fact]) -> list[list[str]]:
    """The words of each turn, the opening first; what follows the last turn is one more."""
    parts: list[list[Fact]] = [[]]
    for fact in facts:
        parts[-1].append(fact)
        if isinstance(fact, TurnOver | Opened):
            parts.append([])
    return [words(part) for part in parts if part]


def words(facts: Iterable[Fact]) -> list[str]:
    """One line for each fact; pieces of text that follow each other are one."""
    found: list[str] = []
    for kind, group in groupby(facts, type):
        same = list(group)
        if kind is TextEvent:
            pieces = [fact.text for fact in same if isinstance(fact, TextEvent)]
            found.append(cut("text " + "".join(pieces)))
        else:
            told = [_word(fact) for fact in same]
            found += [cut(word) for word in told if word] or list(map(cut, digest(same)))
    return found


def cut(line: str) -> str:
    plain = line.replace("’", "'")  # noqa: RUF001 - as an agent wrote it
    return plain if len(plain) <= LENGTH else f"{plain[:LENGTH]}…"


def _word(fact: Fact) -> str:
    word = ""
    match fact:
        case Opened(capabilities=agent, model=model, mode=mode):
            word = f"opened {agent.agent} {agent.version} model={model} mode={mode}"
        case OpenFailed(failure, message, advice):
            word = f"not opened: {failure.value}: {message} | {advice}"
        case FileWanted(path=path, text=None):
            word = f"read {path}"
        case FileWanted(path=path, text=text):
            word = f"write {path} {text!r}"
        case ToolEvent():
            word = _tool(fact)
        case PlanEvent():
            word = "plan " + ", ".join(f"{each.content} {each.status}" for each in fact.entries)
        case Answered():
            word = f"answered {fact.error or sorted(fact.result or {})}"
        case SessionInfoEvent():
            word = _session(fact)
        case CostEvent():
            word = _used(fact)
        case _:
            pass
    return word


def _used(cost: CostEvent) -> str:
    money = "" if cost.cost_usd is None else f" ${cost.cost_usd:.6f}"
    tokens = f"{cost.input_tokens} in, {cost.output_tokens} out"
    return f"used {tokens}, {cost.cached_tokens} cached, {cost.reasoning_tokens} thought{money}"


def _tool(tool: ToolEvent) -> str:
    told = [str(tool.parameters[name]) for name in GIVEN if name in tool.parameters]
    given = f": {', '.join(told)}" if tool.status.value in {"started", "pending"} else ""
    put_out = "" if tool.result is None else f" {tool.result!r}"
    error = "" if tool.error is None else f" error {tool.error!r}"
    return f"{tool.tool_name} {tool.status.value}{given}{put_out}{error}"


def _session(info: SessionInfoEvent) -> str:
    commands = None if info.commands is None else [each.choice_id for each in info.commands]
    told = {"title": info.title, "mode": info.mode, "model": info.model, "commands": commands}
    changes = ", ".join(f"{name} {told[name]}" for name in told if told[name] is not None)
    return f"session {changes}"
