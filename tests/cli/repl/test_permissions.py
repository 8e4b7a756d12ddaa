import json
from pathlib import Path

from avatar_actors.programs.warden.process_tree import descendants
from tests.cli.programs import script
from tests.cli.repl.conftest import OpenRepl
from tests.cli.repl.pressing import leave, said, say, terminate, typed
from tests.cli.terminal import Terminal
from tests.conformance.remains import read
from tests.fake_agents.launcher import configuration
from tests.thorough import for_conformance

KEYS = "press y, n or a to answer"


def ask(terminal: Terminal, keys: str = KEYS) -> None:
    say(terminal, script({"ask": "Bash", "input": {"command": "make it so"}}))
    terminal.wait_for(keys)


def test_y_and_n_answer_on_an_empty_line_and_are_letters_on_any_other(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        ask(terminal)
        terminal.press("n")
        terminal.wait_for("[denied]")
        ask(terminal)
        terminal.press("q")
        typed(terminal, "> q")
        terminal.press("y")
        typed(terminal, "> qy")
        terminal.wait_until(lambda: KEYS not in terminal.lines, "no keys")
        terminal.press("\x15")
        terminal.wait_until(lambda: KEYS in terminal.lines, "the keys again")
        terminal.press("y")
        terminal.wait_for("[allowed]")
        leave(terminal)


def test_e_edits_the_input_in_the_editor_and_the_tool_gets_it(
    open_repl: OpenRepl, tmp_path: Path
) -> None:
    (tmp_path / "avatar.yaml").write_text(configuration(tmp_path))
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/make it so/make it better/' \"$1\"\n")
    editor.chmod(0o700)
    with open_repl("-c", "avatar.yaml", VISUAL=str(editor)) as terminal:
        ask(terminal, "press y, n, a or e to answer")
        terminal.press("e")
        terminal.wait_for("[allowed]")
        say(terminal, "/tools")
        terminal.wait_for("✓ Bash")
        say(terminal, "/export talk.json")
        terminal.wait_for("turns in talk.json: 1")
        leave(terminal)
    [turn] = json.loads((tmp_path / "talk.json").read_text())["turns"]
    assert "make it better" in turn["tools"][0]["result"]


@for_conformance
def test_sigterm_ends_the_editor_too(open_repl: OpenRepl, tmp_path: Path) -> None:
    (tmp_path / "avatar.yaml").write_text(configuration(tmp_path))
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho at it; exec sleep 600.25 # $1\n")
    editor.chmod(0o700)
    with open_repl("-c", "avatar.yaml", VISUAL=str(editor)) as terminal:
        ask(terminal, "press y, n, a or e to answer")
        terminal.press("e")
        said(terminal, "at it")
        family = descendants(terminal.pid)
        terminate(terminal)
    assert not [pid for pid in family if b"600.25" in read(Path(f"/proc/{pid}/cmdline"))]


@for_conformance
def test_e_is_a_letter_where_the_agent_takes_no_other_input(open_repl: OpenRepl) -> None:
    with open_repl(VISUAL="/nowhere") as terminal:
        ask(terminal)
        terminal.press("e")
        typed(terminal, "> e")
        terminal.wait_until(lambda: KEYS not in terminal.lines, "no keys")
        terminal.press("\x15")
        terminal.wait_until(lambda: KEYS in terminal.lines, "the keys again")
        terminal.press("y")
        terminal.wait_for("[allowed]")
        leave(terminal)
