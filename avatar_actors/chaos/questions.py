"""Numbered prompts: an answer shows whose it is and whether any of it is missing."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

Step: TypeAlias = Mapping[str, object]

# `<a7.41.3>`: avatar a7, its question 41, piece 3; piece `f`: one of a flood.
TOKEN: Final = re.compile(r"<(a\d+)\.(\d+)\.(\d+|f)>")
# `[t=…]`: the moment, in monotonic ns, at which the agent began its fault.
MOMENT: Final = re.compile(r"\[t=(\d+)\]")
FLOOD: Final = "f"
# Longer than any leak check waits.
_LONG: Final = 600


class NumberedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt and what its answer must hold: `pieces` in order, `flood` alike, `tools` ended.

    Without `is_exact` the answer is a model's own words, and only tokens of others are wrong.
    """

    avatar: str
    number: int
    prompt: str
    pieces: int = 0
    flood: int = 0
    tools: int = 0
    is_exact: bool = True
    cancel_after: int | None = None
    timeout: float | None = None


class PromptWriter:
    """Writes the prompts of one avatar, with increasing numbers."""

    def __init__(self, avatar: str, seed: int) -> None:
        self._avatar = avatar
        self._number = 0
        self._dice = random.Random(f"{seed}/{avatar}")

    def plain(self) -> NumberedPrompt:
        """A prompt of the normal load; now and then one that the host cancels on the way."""
        self._number += 1
        kind = self._dice.randrange(10)
        if kind == 0:
            count = self._dice.randint(2, 6)
            steps: list[Step] = [self._pulse(500, 0.02)]
            return self._made(steps, pieces=500, cancel_after=count)
        if kind == 1:
            steps = [self._say(0), {"flood": 40, "text": self._token(FLOOD)}, self._say(1)]
            return self._made(steps, pieces=2, flood=40)
        if kind == 2:  # noqa: PLR2004 - a tenth of them
            tool = {"tool": "Read", "id": f"read-{self._number}", "result": "text"}
            steps = [self._say(0), tool, self._say(1)]
            return self._made(steps, pieces=2)
        pieces = self._dice.randint(3, 8)
        return self._made([self._say(index) for index in range(pieces)], pieces=pieces)

    def faulty(
        self, *fault: Step, flood: int = 0, timeout: float | None = None, leaves: str = ""
    ) -> NumberedPrompt:
        """Two pieces, the time, these steps, and two more pieces if the agent still lives.

        `leaves` is the kind of process that the agent has started by then and will not end.
        """
        self._number += 1
        moment: Step = {"pulse": {"count": 1, "every": 0, "text": "[t={t}]"}}
        full: list[Step] = [{"flood": flood, "text": self._token(FLOOD)}] if flood else []
        before, after = [self._say(0), self._say(1)], [self._say(2), self._say(3)]
        if leaves:
            before.append({"spawn": leaves, "seconds": _LONG})
        steps = [*before, moment, *fault, *full, *after]
        return self._made(steps, pieces=4, flood=flood, timeout=timeout)

    def for_a_model(self) -> NumberedPrompt:
        """A prompt for any agent."""
        self._number += 1
        prompt = f"Reply with exactly this and nothing else: {self._token(0)}"
        return NumberedPrompt(
            avatar=self._avatar, number=self._number, prompt=prompt, is_exact=False
        )

    def _made(
        self,
        steps: list[Step],
        *,
        pieces: int,
        flood: int = 0,
        cancel_after: int | None = None,
        timeout: float | None = None,
    ) -> NumberedPrompt:
        return NumberedPrompt(
            avatar=self._avatar,
            number=self._number,
            prompt=f"SCRIPT:{json.dumps(steps)}",
            pieces=pieces,
            flood=flood,
            tools=sum("tool" in step for step in steps),
            cancel_after=cancel_after,
            timeout=timeout,
        )

    def _say(self, index: int) -> Step:
        return {"say": self._token(index)}

    def _pulse(self, count: int, every: float) -> Step:
        return {"pulse": {"every": every, "count": count, "text": self._token("{i}")}}

    def _token(self, index: int | str) -> str:
        return f"<{self._avatar}.{self._number}.{index}>"
