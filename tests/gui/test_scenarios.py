"""The fifteen scenarios of the app, by Textual's pilot; docs/gui.md lists them."""

from pathlib import Path
from typing import Any

import pytest

from avatar_actors import Budget, Timeouts
from avatar_actors.picture import Mood
from tests.gui.flight import Flight, flown
from tests.runtime.test_interrupting import runs
from tests.thorough import for_conformance

EDIT = {"path": "notes.txt", "content": "hello"}


def tool(name: str, tool_id: str, parent: str = "", status: str = "in_progress") -> dict[str, Any]:
    """A raw tool call, below another one where a parent is named."""
    update: dict[str, Any] = {
        "sessionUpdate": "tool_call",
        "toolCallId": tool_id,
        "title": name,
        "status": status,
    }
    if parent:
        update["_meta"] = {"claudeCode": {"parentToolUseId": parent}}
    return {"update": update}


def ended(tool_id: str) -> dict[str, Any]:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": tool_id, "status": "completed"}
    return {"update": update}


def test_simple_chat_streams_text_with_a_cursor_and_the_figure_talks(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "**one** two"}, flight.go("a"), {"say": " three"})
        await flight.sees("one two▌")
        assert flight.mood is Mood.TALKING
        flight.goes("a")
        await flight.over()
        await flight.sees("one two three\n")
        await flight.until(lambda: "▌" not in flight.said)
        assert [flight.moods[0], *flight.moods[-2:]] == [Mood.IDLE, Mood.TALKING, Mood.IDLE]
        assert Mood.LOADING in flight.moods

    flown(tmp_path, fly)


def test_thinking_shows_its_phase_its_subject_and_its_text(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        thought = "**Analyzing code structure**\nThree modules look like the heart."
        await flight.send({"think": thought}, flight.go("a"), {"say": "done"}, flight.go("b"))
        await flight.until(lambda: flight.mood is Mood.ANALYZING)
        await flight.until(lambda: "Analyzing code structure" in flight.shown("headline"))
        await flight.until(lambda: "Three modules look" in flight.shown("thoughts"))
        flight.goes("a")
        await flight.until(lambda: flight.mood is Mood.TALKING)
        assert "Three modules" not in flight.said
        flight.goes("b")
        await flight.over()
        await flight.until(lambda: flight.moods[-1] is Mood.IDLE)

    flown(tmp_path, fly)


def test_parallel_tools_stand_side_by_side_and_are_counted(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send(
            tool("Read a.txt", "1"), tool("Grep auth", "2"), flight.go("a"), ended("1"),
            flight.go("b"), ended("2"), {"say": "done"},
        )  # fmt: skip
        await flight.until(lambda: "running 2 · done 0" in flight.shown("counts"))
        await flight.until(lambda: "2 tools side by side" in flight.shown("headline"))
        assert flight.mood is Mood.WORKING
        assert "Read a.txt" in flight.tree
        assert "Grep auth" in flight.tree
        flight.goes("a")
        await flight.until(lambda: "running 1 · done 1" in flight.shown("counts"))
        assert "✓ Read a.txt" in flight.tree
        flight.goes("b")
        await flight.sees("✓ Grep auth")

    flown(tmp_path, fly)


def test_the_jobs_of_a_sub_agent_stand_below_it_and_fold_after_its_end(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send(
            tool("Task research", "1"), tool("Grep src", "2", "1"), flight.go("a"), ended("2"),
            ended("1"), flight.go("b"),
        )  # fmt: skip
        await flight.until(lambda: "\n│ " in flight.tree and "Grep src" in flight.tree)
        assert flight.tree.startswith("▾ ")
        flight.goes("a")
        await flight.until(lambda: flight.tree.startswith("▸ "))
        assert "Grep src" not in flight.tree
        flight.goes("b")
        await flight.over()

    flown(tmp_path, fly)


def test_escape_ends_the_turn_and_f8_ends_one_tool(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        sleep = {"tool": "Bash", "input": {"command": "sleep 600"}, "run": True}
        await flight.send(sleep, {"say": "went on"}, {"wait": 600})
        await flight.until(lambda: "Bash" in flight.tree and runs("sleep 600"))
        await flight.pilot.press("f8")
        await flight.sees("went on")
        await flight.until(lambda: "✗ Bash" in flight.tree)
        await flight.pilot.press("escape")
        await flight.over()
        await flight.sees("⊘ interrupted")
        await flight.until(lambda: flight.mood is Mood.IDLE)

    flown(tmp_path, fly)


def test_another_provider_adapts_the_panels(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "first"})
        await flight.over()
        flight.app.action_provider()
        await flight.until(lambda: len(flight.app.screen_stack) > 1)
        await flight.pilot.press("end", "enter")
        await flight.sees("switching to embedded")
        await flight.until(lambda: flight.pane.host.choice.name == "embedded")
        await flight.until(lambda: flight.pane.has_class("introduced"))
        await flight.send(text="6*7")
        await flight.sees("42")
        can = flight.pane.host.engine.capabilities
        assert flight.pane.has_class("thoughtless") is not can.thinking_supported

    flown(tmp_path, fly)


def test_a_crash_is_told_and_the_figure_comes_back(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "half an ans"}, {"exit": 3})
        await flight.sees("the turn broke off: the agent exited with code 3")
        await flight.sees("back; the conversation was resumed")
        assert Mood.RESTARTING in flight.moods
        await flight.until(lambda: any("exited with code 3" in one for one in flight.toasts))
        await flight.send({"say": "here again"})
        await flight.sees("here again")

    flown(tmp_path, fly)


def test_a_stored_session_is_continued_with_what_was_said(tmp_path: Path) -> None:
    async def first(flight: Flight) -> None:
        await flight.send(text="what did I say? It was rhubarb")
        await flight.over()

    async def then(flight: Flight) -> None:
        await flight.pilot.press("ctrl+r")
        await flight.until(lambda: len(flight.app.screen_stack) > 1)
        await flight.pilot.press("enter")
        await flight.sees("continued:")
        assert "It was rhubarb" in flight.prompts

    flown(tmp_path, first)
    (tmp_path / "work").rmdir()
    flown(tmp_path, then)


def test_cost_and_context_are_in_the_header_and_the_budget_warns(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        usage = {"input": 80, "output": 10, "used": 5, "size": 100}
        await flight.send({"usage": usage, "cost": 0.01}, {"say": "done"})
        await flight.until(lambda: any("90% of the" in one for one in flight.toasts))
        await flight.over()
        await flight.until(lambda: "90 tokens · $0.01 · context 5%" in flight.shown("header"))
        await flight.send({"usage": {"input": 80}}, {"say": "more"})
        await flight.over()
        await flight.send({"say": "not sent"})
        await flight.until(lambda: flight.mood is Mood.OVER_BUDGET)
        await flight.sees("over budget")

    flown(tmp_path, fly, budget=Budget(tokens=100))


def test_the_system_prompt_reaches_the_agent(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"echo": "system"})
        await flight.sees("You are Aria")

    flown(tmp_path, fly, system_prompt="You are Aria")


def test_eleven_operations_collapse_and_typing_goes_on(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        tools = [tool(f"Read {number}", str(number)) for number in range(12)]
        await flight.send(*tools, flight.go("a"), *(ended(str(n)) for n in range(12)))
        await flight.until(lambda: "12 operations" in flight.tree)
        assert "Read 3" not in flight.tree
        await flight.until(lambda: "running 12" in flight.shown("counts"))
        await flight.pilot.press(*"still here")
        assert flight.pane.prompt.text == "still here"
        flight.goes("a")
        await flight.until(lambda: "✓ Read 3" in flight.tree)

    flown(tmp_path, fly)


def test_what_is_sent_during_a_turn_is_asked_about(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "first"}, {"wait": 600})
        await flight.sees("first")
        await flight.send({"say": "second"})
        await flight.until(lambda: len(flight.app.screen_stack) > 1)
        await flight.pilot.press("c")
        assert flight.pane.prompt.text
        await flight.pilot.press("enter")
        await flight.until(lambda: len(flight.app.screen_stack) > 1)
        await flight.pilot.press("s")
        await flight.until(lambda: "1 queued" in flight.shown("header"))
        await flight.send({"say": "third"})
        await flight.until(lambda: len(flight.app.screen_stack) > 1)
        await flight.pilot.press("i")
        await flight.sees("third")
        await flight.over()
        await flight.sees("second")

    flown(tmp_path, fly)


def test_a_question_of_the_model_is_answered_by_what_is_sent_or_declined_by_escape(
    tmp_path: Path,
) -> None:
    question = {"question": "Which colour?", "options": ["red", "blue"], "text": True}

    async def fly(flight: Flight) -> None:
        keys = flight.pane.answer_keys
        for answer, told in (("2", "[blue]"), ("", "[decline]")):
            await flight.send(question)
            await flight.until(lambda: keys.form_since(flight.now()) is not None)
            if answer:
                assert "2 blue" in flight.screen()
                await flight.send(text=answer)
                await flight.until(lambda: len(flight.app.screen_stack) > 1)
                await flight.pilot.press("a")
            else:
                await flight.pilot.press("escape")
            await flight.sees(told)
            await flight.over()

    flown(tmp_path, fly)


def test_the_end_of_a_background_task_is_a_toast(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"task": "Research", "seconds": 0.5}, {"say": "now"})
        await flight.until(lambda: "Research" in flight.tree)
        await flight.until(lambda: any("Research" in one for one in flight.toasts))
        await flight.until(lambda: "✓" in flight.tree)

    flown(tmp_path, fly, agent="claude")


def test_stop_all_ends_the_turn_and_the_background(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"task": "Bash", "seconds": 600}, {"say": "now"}, {"wait": 600})
        await flight.until(lambda: "running 1" in flight.shown("counts"))
        await flight.sees("now")
        await flight.pilot.press("ctrl+k")
        await flight.over()
        await flight.until(lambda: "running 0" in flight.shown("counts"))

    flown(tmp_path, fly, agent="claude")


@for_conformance
@pytest.mark.parametrize("agent", ["claude", "gemini", "codex-zed", "codex-acp"])
def test_the_app_works_with_every_provider(agent: str, tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        steps = [{"think": "**Planning**\nfirst"}, {"tool": "Read", "result": "x"}]
        await flight.send(*steps, {"say": "**one** two"})
        await flight.sees("one two")
        await flight.over()
        assert "✓" in flight.tree
        assert flight.moods[-1] is Mood.IDLE

    flown(tmp_path, fly, agent=agent)


def test_a_silent_agent_is_told_and_can_be_cancelled(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "x"}, {"wait": 600})
        await flight.until(lambda: flight.mood is Mood.STALLED)
        await flight.until(lambda: "it seems stuck" in flight.shown("headline"))
        await flight.pilot.press("escape")
        await flight.over()

    quick = Timeouts(stall_warning=0.2, health_check_interval=0.1)
    flown(tmp_path, fly, timeouts=quick)


def test_three_agents_have_colours_and_outputs_of_their_own(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        names = ("Research", "Explore", "Analyze")
        starts = [tool(f"Task {name}", name) for name in names]
        below = [tool(f"Grep {name}", f"g{name}", name) for name in names]
        await flight.send(*starts, *below, flight.go("a"))
        await flight.until(lambda: "Grep Analyze" in flight.tree)
        styles = flight.pane.side.activities.row_styles()
        assert len({styles[f"Task {name}"] for name in names}) == 3
        assert all(styles[f"Task {name}"] == styles[f"Grep {name}"] for name in names)
        flight.goes("a")
        await flight.over()

    flown(tmp_path, fly)
