"""The least that a host can do with an agent's output: read, split, decode."""

import json
import time
from collections.abc import Callable
from typing import Any

import msgspec

from bench.agents.embedded import ACP, CLAUDE, flood, plain_agent
from bench.contest import Program

DIALECTS = {"acp": ACP, "claude": CLAUDE}
WARM_UP = 200


def floor(dialect: str) -> Program:
    """Microseconds per piece of text, decoding with msgspec."""
    return _floor(dialect, msgspec.json.decode)


def json_floor(dialect: str) -> Program:
    """The same with the standard library's decoder."""
    return _floor(dialect, json.loads)


def _floor(dialect: str, decode: Callable[[bytes], Any]) -> Program:
    def program(n: int) -> float:
        with plain_agent(DIALECTS[dialect]) as agent:
            agent.turn(flood(WARM_UP), decode)
            began = time.process_time()
            lines = agent.turn(flood(n), decode)
            took = time.process_time() - began
        assert lines > n, f"{lines} lines"
        return took / n * 1e6

    return program
