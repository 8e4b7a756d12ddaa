"""The HTTP server of the examples, driven over loopback."""

import http.client
import json
import re
import select
import signal
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.examples.programs import Signpost, ended_by, run, running, script
from tests.examples.terminal import PATIENCE

LONG = script({"say": "one"}, {"wait": 600})


class Server:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], PATIENCE)[0], "it never said its address"
        self.process = process
        self.url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", self.url)
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)

    def chat(self, prompt: str, avatar: str) -> tuple[int, dict[str, str]]:
        response = self.client.post("/chat", json={"prompt": prompt, "avatar": avatar})
        return response.status_code, response.json()


@pytest.fixture(name="server")
def start_server(tmp_path: Path) -> Generator[Server]:
    with running(tmp_path, "asyncio_server", "--port", "0") as process:
        server = Server(process)
        with server.client:
            yield server


def told(event: str) -> dict[str, str]:
    """The data of one server-sent event."""
    values: dict[str, str] = json.loads(event.rpartition("data: ")[2])
    return values


def test_a_prompt_is_answered_with_json_by_each_avatar(server: Server) -> None:
    answer = {"content": "42", "outcome": "completed", "error": ""}
    for avatar in ("aria", "bela", "cleo"):
        assert server.chat("6*7", avatar) == (200, answer)
    assert server.client.post("/chat", json={"prompt": "6*7"}).json() == answer


def test_avatars_of_different_names_have_conversations_of_their_own(server: Server) -> None:
    server.chat("my word is lighthouse", "aria")
    assert "lighthouse" in server.chat("what did I say?", "aria")[1]["content"]
    assert "lighthouse" not in server.chat("what did I say?", "bela")[1]["content"]


def test_a_turn_that_fails_says_why(server: Server) -> None:
    broken = script({"error": {"code": 1, "message": "broken"}})
    failure = {"content": "", "outcome": "failed", "error": "broken"}
    assert server.chat(broken, "aria") == (502, failure)


def test_all_avatars_are_healthy(server: Server) -> None:
    health = server.client.get("/health")
    assert (health.status_code, health.json()) == (200, dict.fromkeys(("aria", "bela", "cleo"), 1))


def test_wrong_requests_are_refused_in_words(server: Server) -> None:
    for body in (b"", b"{", b"[1]", b"{}", b'{"prompt": 5}', b'{"prompt": " "}'):
        refused = server.client.post("/chat", content=body)
        assert (refused.status_code, refused.text[:13]) == (400, "send a prompt")
    assert server.client.get("/chat/stream").status_code == 400
    nobody = server.client.get("/chat/stream", params={"prompt": "Hello", "avatar": "zoe"})
    assert (nobody.status_code, nobody.text) == (
        404,
        "no avatar 'zoe'; there are: aria, bela, cleo",
    )
    assert server.client.get("/chat").status_code == 405


def test_a_stream_brings_text_while_the_turn_goes_on(server: Server, signpost: Signpost) -> None:
    prompt = script({"say": "one"}, signpost.stop_at(), {"say": "two"})
    with server.client.stream("GET", "/chat/stream", params={"prompt": prompt}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        pieces = stream.iter_text()
        assert told(next(pieces)) == {"text": "one"}
        signpost.let_go()
        *texts, end = "".join(pieces).removesuffix("\n\n").split("\n\n")
    assert "".join(told(text)["text"] for text in texts) == "two"
    assert end.startswith("event: end\n")
    assert told(end) == {"content": "onetwo", "outcome": "completed", "error": ""}


def test_a_client_that_leaves_its_stream_cancels_the_turn(server: Server) -> None:
    asked = {"prompt": LONG, "avatar": "cleo"}
    with httpx.stream("GET", f"{server.url}/chat/stream", params=asked, trust_env=False) as stream:
        assert told(next(stream.iter_text())) == {"text": "one"}
    assert server.chat("1+1", "cleo")[1]["content"] == "2"


def test_a_client_that_leaves_before_its_answer_cancels_the_turn(
    server: Server, signpost: Signpost
) -> None:
    prompt = script(signpost.pass_by(), {"wait": 600})
    left = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=PATIENCE)
    left.request("POST", "/chat", json.dumps({"prompt": prompt, "avatar": "cleo"}))
    signpost.wait()
    left.close()
    assert server.chat("1+1", "cleo")[1]["content"] == "2"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_turns_and_server_in_order(server: Server, number: signal.Signals) -> None:
    with server.client.stream("GET", "/chat/stream", params={"prompt": LONG}) as stream:
        pieces = stream.iter_text()
        assert told(next(pieces)) == {"text": "one"}
        assert ended_by(server.process, number) == 0
        assert told("".join(pieces))["outcome"] == "cancelled"
    assert server.process.communicate() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--provider", "clod"), "no provider 'clod'"),
        (("--provider", "acp"), "acp needs a command or an address"),
        (("--port", "70000"), "port must be 0-65535"),
    ],
)
def test_what_cannot_be_served_is_told_without_a_traceback(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    done = run(tmp_path, "asyncio_server", "--port", "0", *arguments)
    assert problem in done.stderr
    assert (done.stdout, "Traceback" in done.stderr, done.returncode) == ("", False, 1)


def test_a_port_that_is_taken_is_told_without_a_traceback(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(tmp_path, "asyncio_server", "--port", str(taken.getsockname()[1]))
    assert "in use" in done.stderr
    assert (done.stdout, "Traceback" in done.stderr, done.returncode) == ("", False, 1)
