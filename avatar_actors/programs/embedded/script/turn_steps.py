"""Script steps that act on a turn, by their names; `script` finds, checks and plays them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from avatar_actors.programs.embedded.json_lines import (
    Record,
    is_record,
    items_in,
    number_in,
    record_in,
    records_in,
    text_in,
    to_json,
)
from avatar_actors.programs.embedded.script.faults import BadScript
from avatar_actors.programs.embedded.tools import ToolFailed
from avatar_actors.programs.embedded.turn import ALLOWED, AgentTurn, TurnEnded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.script.script import ScriptPlayer


def is_early(step: Record) -> bool:
    """Whether this is one of the first `times` that the step is met; counts it."""
    counter = Path(text_in(step, "file"))
    met = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(met + 1))
    return met < number_in(step, "times")


MEBIBYTE = 1 << 20
FLOOD_BLOCK = 1 << 19
# Seconds between two looks.
LOOKING = 0.01


def say(player: ScriptPlayer, step: Record) -> None:
    """`say`: text, in `chunks` pieces."""
    text = text_in(step, "say")
    pieces = max(1, int(number_in(step, "chunks", 1)))
    size = max(1, -(-len(text) // pieces))
    for start in range(0, max(1, len(text)), size):
        player.turn.say(text[start : start + size])


def data(player: ScriptPlayer, step: Record) -> None:
    """`data`: structured output, as text, unless the agent has another form for it."""
    player.turn.give_data(step["data"])


def think(player: ScriptPlayer, step: Record) -> None:
    """`think`: a thought."""
    player.turn.think(text_in(step, "think"))


def tool(player: ScriptPlayer, step: Record) -> None:
    """`tool`: one tool; with `leave` it is begun and never ended."""
    call = player.call(step)
    if step.get("leave") is True:
        player.turn.show_tool_start(call)
    else:
        player.turn.run_tools([call])


def parallel(player: ScriptPlayer, step: Record) -> None:
    """`parallel`: tools side by side."""
    player.turn.run_tools([player.call(tool) for tool in records_in(step, "parallel")])


def task(player: ScriptPlayer, step: Record) -> None:
    """`task`: a background task where the agent has them, else a tool."""
    if step.get("background") is False:
        player.turn.run_tools([player.call(step)])
    else:
        player.turn.start_task(step)


def plan(player: ScriptPlayer, step: Record) -> None:
    """`plan`: entries, as texts or as objects with `content` and `status`."""
    entries: list[Record] = []
    for item in items_in(step, "plan"):
        given = item if is_record(item) else {"content": str(item)}
        entries.append({"priority": "medium", "status": "pending", **given})
    player.turn.show_plan(entries)


def ask(player: ScriptPlayer, step: Record) -> None:
    """`ask`: a permission; the reply is said."""
    call = player.call(step)
    answer = player.turn.ask_permission(call)
    if answer == ALLOWED:
        call.perform()
        player.turn.show_tool_end(call)
    player.turn.say(f"[{answer}]")


def question(player: ScriptPlayer, step: Record) -> None:
    """`question`: the user, by `options`, `multiple` or `text` of their own; the answer is said."""
    player.turn.say(f"[{player.turn.ask_user(step)}]")


def usage(player: ScriptPlayer, step: Record) -> None:
    """`usage`: counts and `cost` that the turn reports in its own form."""
    given = record_in(step, "usage")
    player.turn.add_usage({key: number_in(given, key) for key in given}, number_in(step, "cost"))


def wait(player: ScriptPlayer, step: Record) -> None:
    """`wait`: seconds, which a cancel cuts short."""
    player.turn.wait(number_in(step, "wait"))


def until(player: ScriptPlayer, step: Record) -> None:
    """`until`: a path; waits until there is something, which a cancel cuts short."""
    path = os.path.join(player.turn.session.cwd, text_in(step, "until"))  # noqa: PTH118
    while not os.path.exists(path):  # noqa: PTH110 - pathlib is slow to import
        player.turn.wait(LOOKING)


def line(player: ScriptPlayer, step: Record) -> None:
    """`line`: one text message of so many mebibytes."""
    player.turn.show_text("x" * int(number_in(step, "line") * MEBIBYTE))


def flood(player: ScriptPlayer, step: Record) -> None:
    """`flood`: so many text messages as fast as possible."""
    text = text_in(step, "text", "x")
    rest = int(number_in(step, "flood"))
    line = player.turn.text_line(text)
    per_block = max(1, FLOOD_BLOCK // len(line))
    block = line * min(rest, per_block)
    player.turn.note_text(text * rest)
    while rest > 0:
        player.turn.check()
        player.turn.output.write(block if rest >= per_block else line * rest)
        rest -= per_block


def pulse(player: ScriptPlayer, step: Record) -> None:
    """`pulse`: `count` texts, one `every` so many seconds, kept to the clock."""
    given = record_in(step, "pulse")
    text = text_in(given, "text", "{i} ")
    start = time.monotonic()
    for index in range(int(number_in(given, "count", 1))):
        due = start + (index + 1) * number_in(given, "every")
        player.turn.wait(max(0, due - time.monotonic()))
        now = str(time.monotonic_ns())
        player.turn.say(text.replace("{i}", str(index)).replace("{t}", now))


def lines(player: ScriptPlayer, step: Record) -> None:
    """`lines`: texts that leave together with the result in one write."""
    player.turn.output.hold()
    for text in items_in(step, "lines"):
        player.turn.say(str(text))


def one_write(player: ScriptPlayer, step: Record) -> None:
    """`one_write`: all of this turn, result included, leaves in one write."""
    if step["one_write"] is True:
        player.turn.output.hold()


def write(player: ScriptPlayer, step: Record) -> None:
    """`write`: a file, through the client where it offers that."""
    try:
        player.turn.write_file(text_in(step, "write"), text_in(step, "text"))
    except ToolFailed as failure:
        player.turn.say(f"[error: {failure}]")
    else:
        player.turn.say("[written]")


def read(player: ScriptPlayer, step: Record) -> None:
    """`read`: a file, through the client where it offers that; its text is said."""
    try:
        player.turn.say(player.turn.read_file(text_in(step, "read")))
    except ToolFailed as failure:
        player.turn.say(f"[error: {failure}]")


def request(player: ScriptPlayer, step: Record) -> None:
    """`request`: any request to the client; the reply is said as JSON."""
    reply = player.turn.request(text_in(step, "request"), record_in(step, "params"))
    player.turn.say(to_json(reply))


def notify(player: ScriptPlayer, step: Record) -> None:
    """`notify`: any notification to the client."""
    player.turn.notify(text_in(step, "notify"), record_in(step, "params"))


def update(player: ScriptPlayer, step: Record) -> None:
    """`update`: a raw session/update, in ACP."""
    params: Record = {"sessionId": player.turn.session.id, "update": step["update"]}
    player.turn.notify("session/update", params)


def play_late(player: ScriptPlayer, step: Record) -> None:
    """`late`: steps for after the result."""
    player.turn.late.extend(records_in(step, "late"))


def result_twice(player: ScriptPlayer, step: Record) -> None:
    """`result_twice`: the result is told a second time."""
    player.turn.ending.is_told_twice = step["result_twice"] is True


def stop(player: ScriptPlayer, step: Record) -> None:
    """`stop`: ends the turn here, with that reason."""
    player.turn.ending.reason = text_in(step, "stop")
    raise TurnEnded


def error(player: ScriptPlayer, step: Record) -> None:
    """`error`: the prompt is answered with this error."""
    player.turn.ending.error = record_in(step, "error")
    raise TurnEnded


def ack_after(player: ScriptPlayer, step: Record) -> None:
    """`ack_after`: a cancel takes effect only after so many seconds."""
    player.turn.acknowledges_after = number_in(step, "ack_after")


def ignore_cancel(player: ScriptPlayer, step: Record) -> None:
    """`ignore_cancel`: a cancel does nothing in this turn."""
    player.turn.ignores_cancel = step["ignore_cancel"] is True


def echo(player: ScriptPlayer, step: Record) -> None:
    """`echo`: says what the agent was given."""
    player.turn.say(echoed(player.turn, text_in(step, "echo")))


def repeat(player: ScriptPlayer, step: Record) -> None:
    """`repeat`: the `steps`, so many times."""
    steps = records_in(step, "steps")
    for _ in range(int(number_in(step, "repeat"))):
        player.play(steps)


def times(player: ScriptPlayer, step: Record) -> None:
    """`times`: the `steps`, only the first so many times; `file` counts them."""
    if is_early(step):
        player.play(records_in(step, "steps"))


def echoed(turn: AgentTurn, what: str) -> str:
    """What the agent was given under that name."""
    session = turn.session
    name, _, key = what.partition(":")
    values: Record = {
        "prompt": turn.prompt,
        "cwd": session.cwd,
        "env": os.environ.get(key, ""),
        "argv": turn.session.argv,
        "system": session.system,
        "model": session.model,
        "mode": session.mode,
        "mcp": session.mcp,
        "history": session.history[:-1],
        "session": session.id,
        "pid": os.getpid(),
    }
    if name not in values:
        raise BadScript(f"unknown echo {what!r}; known: {', '.join(values)}")
    value = values[name]
    return value if isinstance(value, str) else to_json(value)


TURN_STEPS: dict[str, Callable[[ScriptPlayer, Record], None]] = {
    "say": say,
    "data": data,
    "think": think,
    "tool": tool,
    "parallel": parallel,
    "task": task,
    "plan": plan,
    "ask": ask,
    "question": question,
    "usage": usage,
    "wait": wait,
    "until": until,
    "line": line,
    "flood": flood,
    "pulse": pulse,
    "lines": lines,
    "one_write": one_write,
    "write": write,
    "read": read,
    "request": request,
    "notify": notify,
    "update": update,
    "late": play_late,
    "result_twice": result_twice,
    "stop": stop,
    "ack_after": ack_after,
    "ignore_cancel": ignore_cancel,
    "echo": echo,
    "repeat": repeat,
    "times": times,
    "error": error,
}
