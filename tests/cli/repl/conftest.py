"""A REPL in a terminal, of a person whose home is empty; nothing of it is left afterwards."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from avatar_actors.processes.sweep import host_identity, process_identity
from tests.cli.repl.pressing import input_line
from tests.cli.terminal import Terminal, avatar_in_terminal
from tests.conformance.remains import directories_of, processes_of

OpenRepl: TypeAlias = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def open_repl(tmp_path: Path) -> OpenRepl:
    """`with open_repl("-p", "embedded", size=(80, 24)) as terminal:` until it takes prompts."""

    @contextmanager
    def repl(*arguments: str, size: tuple[int, int] = (80, 24), **env: str) -> Generator[Terminal]:
        with avatar_in_terminal(tmp_path, "repl", *arguments, size=size, env=env) as terminal:
            host = process_identity(terminal.pid)
            terminal.wait_for("/help shows the commands")
            terminal.wait_until(lambda: input_line(terminal) == ">", "an input line")
            yield terminal
        here = host_identity().rpartition(":")[0]
        assert not processes_of(f"{here}:{host}")
        assert not directories_of(host)

    return repl
