"""Web servers as the documentation has them, under the servers that people run."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.conformance.remains import leaving_nothing
from tests.examples.programs import environment
from tests.examples.terminal import PATIENCE, ROOT
from tests.runtime.home import script

PAGE = ROOT / "docs" / "avatars" / "embedding.md"
KILLED = script({"say": "tick"}, {"kill": "KILL"})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def serving(command: list[str], cwd: Path, state: Path) -> Generator[subprocess.Popen[str]]:
    """A server that is ended by SIGTERM, and of which nothing is left then."""
    env = {**environment(state), "AVATAR_EMBEDDED_SCRIPTS": "1", "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    popen = subprocess.Popen(command, cwd=cwd, env=env, stderr=pipe, stdout=pipe, text=True)
    with leaving_nothing(), popen as server:
        try:
            yield server
            server.send_signal(signal.SIGTERM)
            server.wait(PATIENCE)
        finally:
            server.kill()


def answering(url: str, **query: str) -> httpx.Response:
    """The first answer of a server that is just starting."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return httpx.get(url, params=query, timeout=PATIENCE, trust_env=False)
        except httpx.ConnectError:
            assert time.monotonic() < end


def server_of_the_page() -> str:
    """The first import of the page, and its server."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [server] = [block for block in blocks if "Starlette(" in block]
    assert len(server.splitlines()) <= 44
    return f"from avatar_actors import AvatarEngine, TurnFailed\n{server}"


def test_server_of_the_page_tells_its_client_that_the_agent_was_killed(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(server_of_the_page())
    port = free_port()
    command = [sys.executable, "-m", "hypercorn", "app:app", "--bind", f"127.0.0.1:{port}"]
    with serving(command, tmp_path, tmp_path):
        url = f"http://127.0.0.1:{port}/chat"
        whole = answering(url, prompt="6*7").text.split("\n\n")
        assert whole[0] == 'event: text\ndata: {"text": "42"}'
        assert whole[-2].startswith("event: done\n")
        *_, last, end = answering(url, prompt=KILLED).text.split("\n\n")
        assert (last.partition("\n")[0], end) == ("event: error", "")
        told = json.loads(last.partition("data: ")[2])
        assert (told["outcome"], told["can_retry"]) == ("crashed", True)
        assert "killed by SIGKILL" in told["error"]
        assert "42" in answering(url, prompt="6*7").text


def test_preloaded_workers_have_avatars_of_their_own(tmp_path: Path) -> None:
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "--preload", "-w", "2"),
        *("--bind", f"127.0.0.1:{port}", "examples.preforked_app:app"),
    ]
    with serving(command, ROOT, tmp_path) as server:
        url = f"http://127.0.0.1:{port}/"
        assert {answering(url, prompt="6*7").text for _ in range(8)} == {"42"}
        assert answering(url, prompt=KILLED).status_code == 502
    assert server.returncode == 0
