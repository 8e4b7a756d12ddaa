import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.census import offspring, open_fds
from tests.session.remote.place import TOKEN, Place
from tests.thorough import for_conformance

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def sdk_server(**options: str) -> Generator[int]:
    """The SDK's server in a process of its own; its port."""
    command = [sys.executable, "-m", "tests.session.remote.sdk_server", json.dumps(options)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


@pytest.fixture(scope="session")
def server() -> Generator[int]:
    with sdk_server(token=TOKEN) as port:
        yield port


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of this machine, signed by itself; with its key."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    openssl = shutil.which("openssl") or pytest.skip("needs openssl")
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


# Of what goes wrong on the way, `make test` has a cut in mid-turn.
SLOW = {"test_lost.py", "test_tls.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` has all by WebSocket and one turn by HTTP; `make conformance` the rest."""
    for item in items:
        is_here = Path(__file__).parent in item.path.parents
        is_again = "http" in item.name and "test_text_thoughts" not in item.name
        is_slow = item.path.name in SLOW and "test_after_a_cut" not in item.name
        if is_here and (is_again or is_slow):
            item.add_marker(for_conformance)


@pytest.fixture(params=["ws", "http"])
def place(server: int, tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Place]:
    """Where the agent is, by either way; nothing of ours may be left of a test."""
    scheme: str = request.param
    children, fds, threads = offspring(), open_fds(), _threads()
    yield Place(scheme, server, tmp_path)
    for each in _threads() - threads:
        each.join(60)  # one whose work is done may still be leaving
    left = offspring() - children, open_fds() - fds, _threads() - threads
    assert not left[0], left
    assert left[1] <= 0, left
    assert not left[2], left


def _threads() -> set[threading.Thread]:
    # trio keeps its idle workers for ten seconds.
    return {each for each in threading.enumerate() if not each.name.startswith("Trio")}


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port
