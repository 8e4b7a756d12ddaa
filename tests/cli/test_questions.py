"""A model's question to the person at the terminal: in `chat`, in `tree`, and in a pipe."""

from pathlib import Path
from typing import Any

import pytest

from avatar_actors import PermissionEvent, QuestionEvent, QuestionOption, UserQuestion
from avatar_actors.cli.terminal.permissions import PAUSE, TYPING, AnswerKeys
from avatar_actors.cli.terminal.questions import ESCAPE, QuestionForm
from tests.cli.programs import avatar, script
from tests.cli.terminal import ENTER, Terminal, avatar_in_terminal
from tests.thorough import for_conformance

COLOUR: dict[str, Any] = {
    "question": "Which colour?",
    "header": "Colour",
    "options": ["red", "blue"],
    "text": True,
}
WAIT = {
    "tool": "Bash",
    "run": True,
    "input": {"command": "while [ ! -e go ]; do sleep 0.1; done"},
}
HINT = "1 to 2 or your own words, then Enter; Esc declines"
RED, BLUE = QuestionOption("red"), QuestionOption("blue")
ONE = UserQuestion(question_id="q1", text="Which?", options=(RED, BLUE), takes_text=True)
SEVERAL = UserQuestion(question_id="q2", text="Both?", options=(RED, BLUE), is_multiple=True)
COUNT = UserQuestion(question_id="q3", text="How many?", takes_text=True, kind="integer")


def form_of(*questions: UserQuestion) -> QuestionForm:
    return QuestionForm(QuestionEvent(request_id="1", questions=questions))


@pytest.mark.parametrize(
    ("question", "line", "answer"),
    [
        (ONE, "2", ["blue"]),
        (ONE, " RED ", ["red"]),
        (ONE, "a mild green", ["a mild green"]),
        (SEVERAL, "1, 2", ["red", "blue"]),
        (SEVERAL, "2", ["blue"]),
        (COUNT, "12", ["12"]),
    ],
)
def test_a_line_is_a_number_a_label_or_own_words(
    question: UserQuestion, line: str, answer: list[str]
) -> None:
    form = form_of(question)
    assert form.enter(line) == ""
    assert (form.is_done, form.answers) == (True, {question.question_id: answer})


@pytest.mark.parametrize(
    ("question", "line", "problem"),
    [
        (ONE, "3", "there is no option 3"),
        (ONE, "1 2", "must be one"),
        (ONE, "  ", "type an answer"),
        (SEVERAL, "green", "must be one of 'red', 'blue'"),
        (COUNT, "many", "of the kind integer"),
    ],
)
def test_another_line_is_refused_and_the_question_stays(
    question: UserQuestion, line: str, problem: str
) -> None:
    form = form_of(question)
    assert problem in form.enter(line)
    assert not form.is_done
    assert problem in form.hint()


def test_questions_are_answered_one_after_the_other_and_all_declined_by_escape() -> None:
    form = form_of(ONE, SEVERAL)
    assert "answer 1 of 2" in form.hint()
    form.enter("1")
    assert "answer 2 of 2: 1 to 2, several as 1,2" in form.hint()
    assert not form.is_done
    form.press(ESCAPE)
    assert (form.is_done, form.answers) == (True, None)


def test_keys_are_edited_and_a_paste_does_not_send_itself() -> None:
    form = form_of(ONE)
    form.press("gold\nsilver\n")
    assert (form.is_done, form.line) == (False, "gold silver ")
    for key in ("\x7f", "x", "\x7f", "\n"):
        form.press(key)
    assert form.answers == {"q1": ["gold silver"]}


def test_a_secret_is_not_shown_while_it_is_typed() -> None:
    form = form_of(UserQuestion(question_id="q", text="Key?", takes_text=True, is_secret=True))
    form.press("swordfish")
    assert "swordfish" not in form.hint()
    assert "•" * 9 in form.hint()


def test_keys_answer_a_question_only_after_a_quiet_moment_and_then_all_of_them() -> None:
    question = QuestionEvent(request_id="1", questions=(ONE,))
    keys = AnswerKeys()
    keys.look((question,), now=10.0)
    assert keys.form(10.1) is None
    keys.typed(10.4)
    assert keys.form(10.0 + PAUSE) is None
    assert "stop typing" in keys.hint(10.0 + PAUSE)
    form = keys.form(10.4 + TYPING)
    assert form is not None
    form.press("g")
    keys.typed(12.0)
    assert keys.form(12.0) is form
    keys.look((question,), now=12.0)
    assert keys.form(12.0) is form


def test_a_line_that_was_begun_before_the_question_does_not_answer_it() -> None:
    question = QuestionEvent(request_id="1", questions=(ONE,))
    keys = AnswerKeys()
    keys.look((question,), now=10.0)
    assert keys.form_since(9.0) is None
    assert keys.form_since(10.0 + PAUSE / 2) is None
    assert keys.form_since(10.0 + PAUSE) is not None


def test_no_key_of_a_permission_answers_a_question_and_the_other_way_round() -> None:
    question = QuestionEvent(request_id="1", questions=(ONE,))
    keys = AnswerKeys()
    keys.look((question, PermissionEvent(request_id="2")), now=0.0)
    assert keys.pressed("y", 10.0) is None
    keys.look((PermissionEvent(request_id="2"),), now=20.0)
    assert (keys.form(30.0), keys.form_since(30.0)) == (None, None)
    assert keys.pressed("y", 30.0) is not None


def wait_to_be_asked(terminal: Terminal) -> None:
    terminal.wait_until(lambda: HINT in terminal.text, "question")


@pytest.mark.parametrize("command", ["chat", "tree"])
def test_a_number_answers_what_the_model_asks(tmp_path: Path, command: str) -> None:
    with avatar_in_terminal(tmp_path, command, script(COLOUR)) as terminal:
        wait_to_be_asked(terminal)
        assert "Which colour?" in terminal.text
        assert "2 blue" in terminal.text
        terminal.press("2")
        terminal.wait_until(lambda: "answer: 2_" in terminal.text, "what was typed")
        terminal.press(ENTER)
        assert terminal.wait() == 0
        assert "answered: Which colour?" in terminal.text
        assert command == "tree" or "[blue]" in terminal.text


@for_conformance
def test_own_words_may_have_the_key_that_leaves_the_tree(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "tree", script(COLOUR)) as terminal:
        wait_to_be_asked(terminal)
        for key in "quite grey":
            terminal.press(key)
        terminal.wait_until(lambda: "answer: quite grey_" in terminal.text, "what was typed")
        terminal.press(ENTER)
        assert terminal.wait() == 0
        assert "answered: Which colour?" in terminal.text


def test_escape_declines(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(COLOUR)) as terminal:
        wait_to_be_asked(terminal)
        terminal.press("\x1b[A")  # an arrow is no Esc
        terminal.wait_until_read()
        terminal.press(ESCAPE)
        assert terminal.wait() == 0
        assert "[decline]" in terminal.text


def test_what_was_typed_before_the_question_is_no_answer(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script({"say": "Wait.\n"}, WAIT, COLOUR)) as terminal:
        terminal.wait_for("Wait.")
        terminal.press("1")
        terminal.press(ENTER)
        terminal.wait_until_read()
        (tmp_path / "go").touch()
        wait_to_be_asked(terminal)
        terminal.press("2")
        terminal.wait_until(lambda: "answer: 2_" in terminal.text, "what was typed")
        terminal.press(ENTER)
        assert terminal.wait() == 0
        assert "[blue]" in terminal.text


def test_in_a_pipe_the_model_is_told_at_once_and_one_line_says_so(tmp_path: Path) -> None:
    run = avatar(tmp_path, "chat", script(COLOUR, {"say": " so I decide"}))
    assert run.returncode == 0
    assert run.stdout.strip() == "[decline] so I decide"
    [line] = [line for line in run.stderr.splitlines() if "asked" in line]
    assert line == (
        "avatar: the agent asked: Which colour?; it was told that nobody can be asked here"
    )
