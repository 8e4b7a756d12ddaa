"""What a script learns from `avatar chat`: one number, and one line on stderr that helps."""

import os
from pathlib import Path

import pytest
from msgspec import Struct

from tests.cli.programs import avatar, script
from tests.thorough import for_conformance


class End(Struct, frozen=True):
    """A command line, its exit code, and words of its one line."""

    name: str
    arguments: tuple[str, ...]
    code: int
    words: tuple[str, ...]
    stdout: str = ""
    env: dict[str, str] = {}
    is_brief: bool = True


ENDS = (
    End("refused", (script({"stop": "refusal"}),), 5, ("refused", "rephrase")),
    End("failed", (script({"error": {"code": -32603, "message": "no luck"}}),), 1, ("no luck",)),
    End(
        "crashed",
        (script({"say": "So."}, {"kill": 9}),),
        1,
        ("crashed", "SIGKILL", "send it again"),
        stdout="So.\n",
    ),
    End(
        "crashed with a tool",
        (script({"tool": "Bash", "id": "deploy", "leave": True}, {"kill": 9}),),
        1,
        ("crashed", "(Bash)", "--continue"),
        is_brief=False,
    ),
    End(
        "timed out",
        ("--timeout", "0.2", script({"wait": 60})),
        1,
        ("no end within 0.2 s", "--timeout"),
    ),
    End("over budget", ("--budget", "0", "hello"), 4, ("0 USD", "--budget")),
    End("not found", ("-p", "claude", "hello"), 3, ("'claude' was not found", "npm install")),
    End(
        "not signed in",
        ("hello",),
        3,
        ("Authentication required", "log in"),
        env={"AVATAR_EMBEDDED_START": '[{"auth": true}]'},
        is_brief=False,
    ),
    End(
        "ended by the agent",
        (script({"stop": "cancelled"}),),
        1,
        ("the agent ended the turn by itself",),
    ),
    End(
        "signed out since",
        (script({"error": {"code": -32000, "message": "Authentication required"}}),),
        3,
        ("failed: Authentication required", "Log in"),
    ),
    End(
        "start refused",
        ("hello",),
        1,
        ("not today",),
        env={
            "AVATAR_EMBEDDED_START": '[{"initialize_error": {"code": 1, "message": "not today"}}]'
        },
        is_brief=False,
    ),
    End("no session", ("--resume", "no-such", "hello"), 2, ("Session not found",), is_brief=False),
    End("unknown provider", ("-p", "gemni", "hello"), 2, ("did you mean 'gemini'",)),
    End("unreadable configuration", ("-c", "none.yaml", "hello"), 2, ("none.yaml",)),
    End("no prompt", (), 2, ("a prompt is missing", 'avatar chat "')),
    End("empty prompt", ("  ",), 2, ("the prompt is empty",), is_brief=False),
    End("unknown option", ("--nonsense", "x"), 2, ("--nonsense",), is_brief=False),
    End("bad timeout", ("--timeout", "soon", "x"), 2, ("'soon'",), is_brief=False),
    End("no directory", ("-C", "nowhere", "x"), 2, ("nowhere",), is_brief=False),
    End(
        "resume and continue", ("--resume", "x", "--continue", "x"), 2, ("exclude",), is_brief=False
    ),
    End("prompt in no encoding", ("\udcff",), 2, ("not UTF-8",), is_brief=False),
)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(end, id=end.name, marks=[] if end.is_brief else [for_conformance])
        for end in ENDS
    ],
)
def test_what_goes_wrong_is_one_line_that_helps_and_a_code(tmp_path: Path, end: End) -> None:
    env = {"AVATAR_PROVIDER": "embedded", **end.env}
    done = avatar(tmp_path, "chat", *end.arguments, env=env)
    assert (done.returncode, done.stdout) == (end.code, end.stdout), done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("avatar: ")
    assert all(word in line for word in end.words), line


@for_conformance
def test_a_private_place_that_is_not_ours_is_one_line(tmp_path: Path) -> None:
    place = tmp_path / f"avatar-actors-{os.geteuid()}"
    place.write_text("a file")
    done = avatar(tmp_path, "chat", "-p", "embedded", "hello", env={"TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"avatar: {place} is not a directory: remove it\n"
