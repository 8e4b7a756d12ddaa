"""`avatar chat` between programs: what it reads, what it writes, and what it leaves."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from avatar_actors.cli.terminal.text import HIDDEN
from avatar_actors.processes.sweep import process_identity
from avatar_actors.programs.warden.process_tree import descendants
from tests.cli.programs import PATIENCE, avatar, command, environment, running_avatar, script
from tests.conformance.remains import directories_of
from tests.thorough import for_conformance

CHAT = ("chat", "-p", "embedded")
DIFF = """diff --git a/time.py b/time.py
--- a/time.py
+++ b/time.py
@@ -1,2 +1,2 @@
-what time is it, list files
+search for the date
+count the files of this project
"""
DEAF = ({"ignore_cancel": True}, {"say": "here"}, {"deaf": 60})


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_a_pipe_gets_the_text_of_the_answer_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Bread\n\nHow to bake it.\n")
    done = avatar(tmp_path, *CHAT, "what is in this directory?")
    assert (done.returncode, done.stderr) == (0, "")
    assert "How to bake it." in done.stdout
    assert done.stdout.endswith("\n")
    assert "\x1b" not in done.stdout


def test_the_answer_streams_while_the_agent_still_works(tmp_path: Path) -> None:
    with running_avatar(tmp_path, "chat", script({"say": "first"}, {"wait": 60})) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 100) == b"first"
        assert process.poll() is None


def test_escape_codes_of_the_agent_reach_nobody(tmp_path: Path) -> None:
    said = "\x1b]0;title\x07red \x1b[31mtext\x1b[0m\x9b31m\r\tand\nmore"
    done = avatar(tmp_path, "chat", script({"say": said, "chunks": 20}))
    assert done.stdout == "red text\tand\nmore\n"


def test_low_08_stderr_has_no_character_that_turns_another(tmp_path: Path) -> None:
    tool = {"tool": "Bash\u202etxt", "input": {"command": "rm \u2066x"}, "error": "a\u202eb"}
    failed = {"error": {"code": 1, "message": "not \u202etoday"}}
    done = avatar(tmp_path, "chat", "-vv", script({"say": "a\u202eb"}, tool, failed))
    assert "not today" in done.stderr
    assert not set(done.stderr) & set(map(chr, HIDDEN))
    assert done.stdout == "a\u202eb\n"  # data, for whoever reads the pipe


def test_what_is_piped_in_goes_with_the_prompt(tmp_path: Path) -> None:
    prompt = script({"echo": "prompt"})
    done = avatar(tmp_path, "chat", prompt, stdin="šest </context> slov".encode())
    assert done.stdout.startswith('<context>\n{"stdin":"šest <\\/context> slov"}\n</context>')


def test_what_is_piped_in_is_text_to_work_on_and_no_command(tmp_path: Path) -> None:
    done = avatar(tmp_path, *CHAT, "review this", stdin=DIFF.encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert "stdin is a diff of 1 file:\n\n- time.py: +2 -1" in done.stdout
    assert "not a language model" in done.stdout
    found = avatar(tmp_path, *CHAT, "search it for DATE", stdin=DIFF.encode())
    assert found.stdout == "stdin:6: +search for the date\n"
    listed = avatar(tmp_path, "session", "list", "--json")
    assert {json.loads(line)["title"] for line in listed.stdout.splitlines()} == {
        "review this",
        "search it for DATE",
    }


def test_a_script_in_what_is_piped_in_is_not_played(tmp_path: Path) -> None:
    done = avatar(tmp_path, *CHAT, "look at this", stdin=script({"say": "played"}).encode())
    assert done.stdout.startswith("stdin has 1 line, ")


@pytest.mark.parametrize("arguments", [("chat",), ("chat", "--json"), ("tree",)])
def test_a_pipe_is_told_who_answers_if_nobody_chose(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = avatar(tmp_path, *arguments, "2+2")
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("avatar: embedded answers: no other agent is ready")
    chosen = avatar(tmp_path, *arguments, "2+2", env={"AVATAR_PROVIDER": "embedded"})
    assert (chosen.returncode, chosen.stderr) == (0, "")


@pytest.mark.parametrize("words", [(), pytest.param(("-",), marks=for_conformance)])
def test_what_is_piped_in_can_be_the_prompt(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = avatar(tmp_path, "chat", *words, stdin=b"12*(3+4)\n")
    assert (done.returncode, done.stdout) == (0, "84\n")


def test_ten_megabytes_are_taken_and_bad_bytes_are_marked(tmp_path: Path) -> None:
    done = avatar(tmp_path, *CHAT, script({"say": "ok"}), stdin=b"0123456789" * 10**6 + b"\xff\xff")
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert done.stderr == "avatar: stdin is not valid UTF-8; 2 places became �\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"\x89PNG\0\0", "not text", id="binary"),
        pytest.param(
            b"x" * (33 * 2**20), "larger than 32 MiB", id="too much", marks=for_conformance
        ),
        pytest.param(b" \n", "is empty", id="blank", marks=for_conformance),
    ],
)
def test_stdin_that_is_no_prompt_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    done = avatar(tmp_path, "chat", stdin=data)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert words in line


def test_json_has_every_event_from_the_start_to_the_end_of_the_turn(tmp_path: Path) -> None:
    tool = {"tool": "Read", "input": {"path": "a"}, "result": "\x7f\x9b"}
    done = avatar(tmp_path, *CHAT, "--json", script({"think": "hm"}, tool, {"say": "so"}))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace("\n", "").isprintable()
    events = [json.loads(line) for line in done.stdout.splitlines()]
    numbers = [event["seq"] for event in events]
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = [event["type"] for event in events]
    assert kinds[0] == "state"
    assert {"supervision", "turn_started", "thinking", "tool", "text"} <= set(kinds)
    assert (kinds[-1], kinds.count("turn_ended"), events[-1]["text"]) == ("turn_ended", 1, "so")
    assert "\x7f\x9b" in {event.get("result") for event in events}


@for_conformance
def test_json_of_an_avatar_that_gives_up_ends_with_the_end_of_its_turn(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("engine: {auto_restart: false}\n")
    done = avatar(tmp_path, "chat", "-c", "c.yaml", "--json", script({"kill": 9}))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert (events[-1]["type"], events[-1]["outcome"]) == ("turn_ended", "crashed")
    numbers = [event["seq"] for event in events]
    assert numbers == sorted(set(numbers))


def test_who_stops_reading_ends_it_in_silence_and_nothing_is_left(tmp_path: Path) -> None:
    endless = script({"pulse": {"every": 0.01, "count": 100_000, "text": "word "}})
    with running_avatar(tmp_path, *CHAT, "--json", endless) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"type":"state","seq":1,')
        host, family = process_identity(process.pid), descendants(process.pid)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 141
    assert directories_of(host) == []
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def test_without_a_terminal_a_tool_is_denied_and_it_is_said_how_to_allow_it(tmp_path: Path) -> None:
    done = avatar(tmp_path, *CHAT, "write notes.txt: buy milk")
    assert (done.returncode, (tmp_path / "notes.txt").exists()) == (0, False)
    [line] = done.stderr.splitlines()
    assert "Write was denied" in line
    assert "--permission unrestricted" in line
    allowed = avatar(tmp_path, *CHAT, "--permission", "unrestricted", "write notes.txt: buy milk")
    assert (allowed.stderr, (tmp_path / "notes.txt").read_text()) == ("", "buy milk\n")


def test_what_safe_mode_denies_is_said_on_stderr(tmp_path: Path) -> None:
    done = avatar(tmp_path, *CHAT, "--permission", "safe", "write notes.txt: buy milk")
    assert (done.returncode, (tmp_path / "notes.txt").exists()) == (0, False)
    assert done.stderr == (
        "avatar: Write was denied by safe mode; to allow it: --permission unrestricted\n"
    )


def test_v_tells_on_stderr_who_answers_why_and_what_happens(tmp_path: Path) -> None:
    done = avatar(tmp_path, "chat", "-v", script({"tool": "Read", "id": "r"}, {"say": "ok"}))
    assert done.stdout == "ok\n"
    lines = done.stderr.splitlines()
    assert lines[0].startswith("avatar: embedded answers: no other agent is ready")
    kinds = [line.split()[0] for line in lines[1:]]
    assert kinds[0] == "[state]"
    assert "[tool]" in kinds
    assert "[activity]" not in kinds
    assert kinds[-1] == "[turn_ended]"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 143, marks=for_conformance),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_signal_ends_the_turn_in_order(tmp_path: Path, number: int, code: int) -> None:
    work = script({"say": "here"}, {"tool": "Bash", "seconds": 60})
    with running_avatar(tmp_path, *CHAT, "--json", work) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, b"")
        assert any(b'"type":"text"' in line for line in lines)
        host, family = process_identity(process.pid), descendants(process.pid)
        process.send_signal(number)
        *_, last = map(json.loads, lines)
        assert (last["type"], last["outcome"], last["text"]) == ("turn_ended", "cancelled", "here")
        assert process.wait(PATIENCE) == code
        assert process.stderr is not None
        assert process.stderr.read().startswith(b"avatar: interrupted")
    assert directories_of(host) == []
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def test_a_signal_ends_a_start_that_takes_long(tmp_path: Path) -> None:
    slow = {"AVATAR_EMBEDDED_START": '[{"slow_start": 60}]'}
    with running_avatar(tmp_path, *CHAT, "--json", "hello", env=slow) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b'"warming_up"' in process.stdout.readline()
        host, family = process_identity(process.pid), descendants(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"avatar: interrupted\n"
        assert process.wait(PATIENCE) == 130
    assert directories_of(host) == []
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def test_a_second_signal_leaves_at_once_and_the_agent_goes_too(tmp_path: Path) -> None:
    with running_avatar(tmp_path, "chat", "-v", script(*DEAF)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert os.read(process.stdout.fileno(), 100) == b"here"
        host, family = process_identity(process.pid), descendants(process.pid)
        process.send_signal(signal.SIGINT)
        assert any(b"Ctrl-C again leaves now" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    wait_until(
        lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()], "the agent lives on"
    )
    wait_until(lambda: directories_of(host) == [], "its directory is still there")


def test_a_closed_stdout_and_a_full_disk_are_one_line(tmp_path: Path) -> None:
    run = subprocess.run(
        ["sh", "-c", '"$@" >&-; echo $?; "$@" >/dev/full; echo $?', "sh", *command(*CHAT, "2+2")],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.stdout == b"141\n1\n"
    assert run.stderr.decode().splitlines() == [
        "avatar: stdout is closed",
        "avatar: cannot write the output: No space left on device",
    ]
