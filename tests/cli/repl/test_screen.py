from pathlib import Path

from tests.cli.programs import avatar, script
from tests.cli.repl.conftest import OpenRepl
from tests.cli.repl.pressing import ALT_ENTER, CTRL_J, assert_left, leave, said, say, typed
from tests.cli.terminal import CTRL_C, ENTER, Terminal, avatar_in_terminal
from tests.thorough import for_conformance

ECHO = script({"echo": "prompt"})


def test_lines_are_added_by_keys_a_backslash_and_a_paste(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        terminal.press("\x1b[200~" + ECHO + " pasted\r\nmore\x1b[201~")
        typed(terminal, "  more")
        terminal.press(f"{ALT_ENTER}alt{CTRL_J}ctrl\\{ENTER}backslash")
        typed(terminal, "  backslash")
        terminal.press(ENTER)
        quoted = ["  more", "  alt", "  ctrl", "  backslash"]
        terminal.wait_until(lambda: rows(terminal.text)[1:5] == quoted, "the prompt above")
        assert rows(terminal.text)[0].endswith("pasted")
        terminal.wait_until(lambda: terminal.text.count("backslash") == 2, "the echo")
        leave(terminal)


def rows(text: str) -> list[str]:
    """From the prompt on."""
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if "SCRIPT" in line), len(lines))
    return lines[first:]


def test_czech_and_emoji_survive_the_line_the_agent_and_a_narrow_window(
    open_repl: OpenRepl,
) -> None:
    wish = "Příliš žluťoučký 🐎 kůň"
    with open_repl(size=(80, 24)) as terminal:
        terminal.press(wish[:-1])
        terminal.press("x\x7fň")
        typed(terminal, f"> {wish}")
        terminal.resize(40, 12)
        typed(terminal, f"> {wish}")
        terminal.press("\x01" + ECHO + "\x05")
        terminal.press(ENTER)
        whole = "".join(f"{ECHO}{wish}".split())
        terminal.wait_until(lambda: unwrapped(terminal).count(whole) == 2, "prompt and echo")
        leave(terminal)


def unwrapped(terminal: Terminal) -> str:
    return "".join(terminal.text.split())


@for_conformance
def test_a_line_with_a_space_in_front_is_said_and_not_remembered(
    open_repl: OpenRepl, tmp_path: Path
) -> None:
    with open_repl() as terminal:
        say(terminal, " 6*7")
        said(terminal, "42")
        say(terminal, "6*8")
        said(terminal, "48")
        leave(terminal)
    assert (tmp_path / ".state/avatar-actors/history").read_text() == '"6*8"\n'


def test_a_command_that_the_agent_has_too_is_completed_and_the_current_mode_is_marked(
    open_repl: OpenRepl,
) -> None:
    with open_repl() as terminal:
        terminal.press("/he")
        terminal.wait_for("show this")
        terminal.press("\t")
        typed(terminal, "> /help")
        terminal.press("\x15/mode" + ENTER)
        said(terminal, "* ask   Ask before writing")
        leave(terminal)


@for_conformance
def test_commands_and_their_words_are_completed(open_repl: OpenRepl) -> None:
    with open_repl() as terminal:
        terminal.press("/sess")
        terminal.wait_for("list the stored sessions")
        terminal.press("\t")
        typed(terminal, "> /sessions")
        terminal.press(ENTER)
        said(terminal, "no stored sessions for this directory")
        say(terminal, "6*7")
        said(terminal, "42")
        terminal.press("/resume ")
        terminal.wait_until(lambda: terminal.text.count("6*7") == 2, "its title in the menu")
        terminal.press(CTRL_C)
        typed(terminal, ">")
        leave(terminal)


def test_an_agent_that_does_not_start_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    refusal = '[{"initialize_error": {"code": -32603, "message": "out of order"}}]'
    env = {"AVATAR_EMBEDDED_START": refusal}
    with avatar_in_terminal(tmp_path, "repl", env=env) as terminal:
        assert_left(terminal, 1)
        [line] = [line for line in terminal.text.splitlines() if "out of order" in line]
        assert line.startswith("avatar: ")


def test_without_a_terminal_one_line_says_what_to_use(tmp_path: Path) -> None:
    piped = avatar(tmp_path, "repl", stdin=b"6*7\n")
    assert piped.returncode == 2
    assert piped.stderr == "avatar: repl needs a terminal; for scripts use: avatar chat\n"
    asked = avatar(tmp_path, "repl", "--json")
    assert asked.returncode == 2
    assert asked.stderr == "avatar: --json is for scripts; use: avatar chat --json\n"
