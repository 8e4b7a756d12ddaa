import pytest

from avatar_actors.cli.repl.slash_commands import (
    COMMANDS,
    TypedCommand,
    help_rows,
    typed_command,
    unknown,
)


@pytest.mark.parametrize(
    ("line", "name", "argument"),
    [
        ("/help", "help", ""),
        ("/model  opus 4 ", "model", "opus 4"),
        ("/export! a b.md", "export!", "a b.md"),
        ("/nonsense", "nonsense", ""),
        ("/", "", ""),
    ],
)
def test_a_line_with_a_slash_and_a_word_is_a_command(line: str, name: str, argument: str) -> None:
    assert typed_command(line) == TypedCommand(name, argument)


@pytest.mark.parametrize(
    "line", ["hello", " /help", "/etc/hosts: what is it?", "/help\nme with this", "//", "a /help"]
)
def test_any_other_line_is_a_prompt(line: str) -> None:
    assert typed_command(line) is None


def test_a_command_of_the_agent_is_a_prompt_unless_it_is_ours() -> None:
    assert typed_command("/compact now", ["compact", "help"]) is None
    assert typed_command("/help", ["compact", "help"]) == TypedCommand("help", "")


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    assert "did you mean /sessions?" in unknown("session")
    assert "did you mean /cost?" in unknown("COTS")
    assert "did you mean /compact?" in unknown("compac", ["compact"])
    assert "see /help" in unknown("xyzzy")


def test_help_has_every_command_with_its_arguments_in_one_column() -> None:
    rows = help_rows()
    for command in COMMANDS.values():
        [row] = [row for row in rows if row.split()[0] == f"/{command.name}"]
        assert command.arguments in row
        assert row.endswith(command.help)
    assert len({row.index(one.help) for row, one in zip(rows, COMMANDS.values(), strict=True)}) == 1


def test_every_command_that_was_promised_is_there() -> None:
    promised = "help model mode cancel sessions resume tree cost tools export quit"
    assert set(promised.split()) <= set(COMMANDS)
