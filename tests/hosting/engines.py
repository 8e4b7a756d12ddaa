"""Engines on the embedded agent: how they are made, and what their handlers heard."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from avatar_actors import AvatarEngine, AvatarEvent, EngineOptions
from tests.conformance.remains import remains
from tests.runtime.home import Home

# Generous: on a loaded machine everything takes ten times as long.
PATIENCE = 60


class Engines:
    """Where the engines of one test live."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = Home(tmp_path)
        self._before = set(remains())
        self._made: list[AvatarEngine] = []

    def make(self, *start: dict[str, Any], **options: Unpack[EngineOptions]) -> AvatarEngine:
        """An engine; `start` are faults of the agent's start."""
        env = self.home.options(*start, env=options.get("env", {})).get("env", {})
        options["env"] = env
        options.setdefault("priority", "normal")
        engine = AvatarEngine("embedded", working_dir=self.home.work, **options)
        self._made.append(engine)
        return engine

    def remains(self) -> set[str]:
        """What there is now that was not there before."""
        return set(remains()) - self._before

    def stop_all(self) -> None:
        for engine in self._made:
            engine.stop_sync()


class RecordingHandler:
    """A handler that keeps its events, and can be waited for from any thread."""

    def __init__(self) -> None:
        self.heard: list[AvatarEvent] = []
        self.threads: set[str] = set()
        self._news = threading.Condition()

    def __call__(self, event: AvatarEvent) -> None:
        with self._news:
            self.heard.append(event)
            self.threads.add(threading.current_thread().name)
            self._news.notify_all()

    def until(self, is_it: Callable[[list[AvatarEvent]], bool]) -> None:
        """Wait until what was heard is so."""
        with self._news:
            assert self._news.wait_for(lambda: is_it(self.heard), PATIENCE), self.heard
