import json
import os
import signal
from pathlib import Path

from avatar_actors.programs.warden.process_tree import descendants
from tests.cli.programs import script
from tests.cli.repl.conftest import OpenRepl
from tests.cli.repl.pressing import UP, WAITING, assert_left, leave, said, say, terminate, typed
from tests.cli.terminal import CTRL_C, ENTER
from tests.conformance.remains import read


def test_two_turns_a_command_and_the_history(open_repl: OpenRepl, tmp_path: Path) -> None:
    with open_repl() as terminal:
        assert "embedded: no other agent is ready" in terminal.text
        say(terminal, "6*7")
        said(terminal, "42")
        say(terminal, "what did I say?")
        terminal.wait_for("6*7")
        say(terminal, "/tre")
        terminal.wait_for("did you mean /tree?")
        terminal.press(UP + UP)
        typed(terminal, "> what did I say?")
        terminal.press(CTRL_C)
        typed(terminal, ">")
        leave(terminal)
    kept = (tmp_path / ".state/avatar-actors/history").read_text().splitlines()
    assert [json.loads(line) for line in kept] == ["6*7", "what did I say?", "/tre"]


def test_what_is_typed_ahead_waits_is_edited_and_goes_out_in_order(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(terminal, WAITING)
        said(terminal, "I am at it.")
        say(terminal, "2+2")
        say(terminal, "3+3")
        said(terminal, "queued: 3+3")
        terminal.press(UP)
        typed(terminal, "> 3+3")
        terminal.wait_until(lambda: "queued: 3+3" not in terminal.text, "a shorter queue")
        say(terminal, "+10")
        said(terminal, "queued: 3+3+10")
        say(terminal, "/cancel")
        said(terminal, "held: 2+2")
        terminal.press(ENTER)
        said(terminal, "16")
        answers = [line for line in terminal.text.splitlines() if line in {"4", "16"}]
        assert answers == ["4", "16"]
        leave(terminal)


def test_ctrl_c_ends_the_turn_and_the_conversation_goes_on(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(terminal, WAITING)
        said(terminal, "I am at it.")
        terminal.press("half a line")
        typed(terminal, "> half a line")
        terminal.press(CTRL_C)
        typed(terminal, ">")
        terminal.press(CTRL_C)
        terminal.wait_for("interrupted")
        say(terminal, "6*7")
        said(terminal, "42")
        leave(terminal)


def test_two_ctrl_c_during_a_turn_leave_with_130(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(
            terminal,
            script({"ignore_cancel": True}, {"say": "Me?"}, {"wait": 600}),
        )
        said(terminal, "Me?")
        terminal.press(CTRL_C + CTRL_C)
        assert_left(terminal, 130)


def test_a_killed_agent_is_told_and_the_next_prompt_is_answered(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(terminal, WAITING)
        said(terminal, "I am at it.")
        [agent] = [pid for pid in descendants(terminal.pid) if is_agent(pid)]
        os.kill(agent, signal.SIGKILL)
        terminal.wait_for("SIGKILL")
        say(terminal, "6*7")
        said(terminal, "42")
        leave(terminal)


def test_sigterm_during_a_turn_leaves_with_143_and_nothing_else(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(terminal, WAITING)
        said(terminal, "I am at it.")
        say(terminal, "never sent")
        said(terminal, "queued: never sent")
        terminate(terminal)
        assert "> never sent" not in terminal.text


def test_an_avatar_that_gave_up_is_replaced_and_what_waited_is_held(
    open_repl: OpenRepl, tmp_path: Path
) -> None:
    (tmp_path / "avatar.yaml").write_text("provider: embedded\nembedded: {max_restarts: 0}\n")
    with open_repl("-c", "avatar.yaml") as terminal:
        assert "embedded: as avatar.yaml says" in terminal.text
        say(terminal, "12*12")
        said(terminal, "144")
        say(terminal, script({"say": "I am at it.\n\n"}, {"wait": 600}))
        said(terminal, "I am at it.")
        say(terminal, "6*7")
        said(terminal, "queued: 6*7")
        [agent] = [pid for pid in descendants(terminal.pid) if is_agent(pid)]
        os.kill(agent, signal.SIGKILL)
        terminal.wait_for("the next prompt starts a new conversation")
        said(terminal, "held: 6*7")
        say(terminal, "/resume")
        terminal.wait_for("resumed: 12*12")
        terminal.wait_for("  you: 12*12\n  embedded: 144\n")
        terminal.press(ENTER)
        said(terminal, "42")
        say(terminal, "/sessions")
        terminal.wait_for("*  1  20")
        leave(terminal)


def is_agent(pid: int) -> bool:
    return b"programs.embedded" in read(Path(f"/proc/{pid}/cmdline"))
