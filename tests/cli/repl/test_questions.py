from pathlib import Path
from typing import Any

from tests.cli.programs import script
from tests.cli.repl.conftest import OpenRepl
from tests.cli.repl.pressing import leave, say, typed
from tests.cli.terminal import ENTER, Terminal
from tests.thorough import for_conformance

COLOUR: dict[str, Any] = {
    "question": "Which colour?",
    "options": ["red", "blue"],
    "text": True,
}
HINT = "1 to 2 or your own words, then Enter; Esc declines"


def wait_to_be_asked(terminal: Terminal) -> None:
    terminal.wait_until(lambda: any(HINT in line for line in terminal.lines), "question")


def test_a_number_or_own_words_answer_and_escape_declines(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        for answer, told in (("2", "[blue]"), ("9", ""), ("mauve", "[mauve]")):
            if told != "[mauve]":
                say(terminal, script(COLOUR))
                wait_to_be_asked(terminal)
            say(terminal, answer)
            terminal.wait_for(told or "there is no option 9")
        say(terminal, script(COLOUR))
        wait_to_be_asked(terminal)
        terminal.press("\x1b")
        terminal.wait_for("[decline]")
        leave(terminal)


def test_a_line_begun_before_the_question_is_a_prompt(open_repl: OpenRepl, tmp_path: Path) -> None:
    until = {"until": "go"}
    with open_repl() as terminal:
        say(terminal, script({"say": "Wait.\n"}, until, COLOUR, {"say": "\nnext"}))
        terminal.wait_for("Wait.")
        terminal.press("1+1")
        typed(terminal, "> 1+1")
        (tmp_path / "go").touch()
        terminal.wait_for("Which colour?")
        terminal.press(ENTER)
        terminal.wait_for("queued: 1+1")
        wait_to_be_asked(terminal)
        say(terminal, "1")
        terminal.wait_for("[red]")
        leave(terminal)


@for_conformance
def test_answers_are_not_kept_in_the_history(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        say(terminal, script(COLOUR))
        wait_to_be_asked(terminal)
        say(terminal, "swordfish")
        terminal.wait_for("[swordfish]")
        terminal.press("\x1b[A")
        terminal.wait_until(lambda: "".join(terminal.lines).count("SCRIPT") == 2, "the prompt")
        assert "> swordfish" not in terminal.lines
        terminal.press("\x15")
        leave(terminal)
