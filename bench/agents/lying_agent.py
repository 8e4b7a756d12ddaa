"""An ACP agent that lies in every field it can: a stdlib-only program, run by its path.

`python -I -S lying_agent.py SEED MEBIBYTES`. It opens a session as any agent does. Its first answer
is so many MiB of text; every other one is a burst of legal messages whose figures, ids, inputs and
words are made to break whoever believes them. Each of its turns ends as it should.
"""

import json
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

BURST = 300
CHUNK = 8 << 10
PAUSE = 0.2
HUGE = int("9" * 400)
# Beyond what `str()` takes of an int, so it is written by hand.
ENDLESS = "9" * 5000
PLACE = '"<endless>"'
FIGURES: list[object] = [
    *(HUGE, -HUGE, 2**63, -1, 0.5, 5000.0, 1e308, -1e308, True, None),
    *("12", "<endless>", [], {}),
]
HALVES = ["\ud83d", "\ude00", "half \ud83d", "\ud83d\ud83d", "\udc00\ud800 whole \U0001f600"]
IDS: list[object] = [0, 1, 2, 3, 4, 5, -1, 1.5, HUGE, "", "1", None, "\ud800", "x" * 10_000]
KINDS = ["read", "think", "edit", "execute", "\ud83d", "x" * 10_000, 7]
STATUSES = ["pending", "in_progress", "completed", "failed", "", "\ud83d", 7]
OPTION_KINDS = ["allow_once", "allow_always", "reject_once", "on fire"]
DEPTHS = [10, 900, 985, 1100, 2500, 20_000]


class Liar:
    """Its dice, and the session that it has opened."""

    def __init__(self, seed: str, mebibytes: int) -> None:
        self._dice = random.Random(seed)
        self._flood = mebibytes
        self._session = "honest-looking"
        self._ids = count(1000)
        self._pause = threading.Event()

    def hear(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "initialize":
                about = {"name": "liar", "version": "\ud83d" + "9" * 10_000}
                hello = {"protocolVersion": 1, "agentInfo": about, "agentCapabilities": {}}
                self._answer(message, hello)
            case "session/new":
                self._answer(message, {"sessionId": self._session})
            case "session/prompt":
                if self._flood:
                    self._write_text(self._flood)
                    self._flood = 0
                self._lie()
                self._answer(message, {"stopReason": "end_turn", "usage": self._usage()})
            case _:
                pass

    def _write_text(self, mebibytes: int) -> None:
        text = {"type": "text", "text": "x" * CHUNK}
        line = self._line(self._news({"sessionUpdate": "agent_message_chunk", "content": text}))
        for _ in range((mebibytes << 20) // CHUNK):
            _write(line)

    def _lie(self) -> None:
        for _ in range(BURST):
            lie = self._dice.choice(self._lies())
            _write(b"".join(lie()))
        self._pause.wait(PAUSE)

    def _lies(self) -> list[Callable[[], Iterator[bytes]]]:
        return [
            self._lying_figures,
            self._lying_tool,
            self._lying_words,
            self._lying_request,
            self._lying_reply,
            self._lying_news,
        ]

    def _usage(self) -> dict[str, object]:
        names = ("inputTokens", "outputTokens", "totalTokens", "cachedReadTokens", "thoughtTokens")
        return {name: self._any(FIGURES) for name in names}

    def _lying_figures(self) -> Iterator[bytes]:
        cost = {"amount": self._any(FIGURES), "currency": self._any(["USD", "EUR", "\ud83d", 7])}
        used, size = self._any(FIGURES), self._any(FIGURES)
        yield self._update({"sessionUpdate": "usage_update", "used": used, "size": size})
        yield self._update({"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": cost})

    def _lying_tool(self) -> Iterator[bytes]:
        tool: dict[str, Any] = {
            "toolCallId": f"tool-{self._dice.randrange(20)}",
            "title": self._any(HALVES),
            "kind": self._any(KINDS),
            "status": self._any(STATUSES),
            "locations": [{"path": "/etc/shadow", "line": self._any(FIGURES)}],
        }
        deep = self._update({"sessionUpdate": "tool_call", **tool, "rawInput": "<deep>"})
        yield deep.replace(b'"<deep>"', self._deep())
        yield self._update({"sessionUpdate": "tool_call_update", **tool, "rawOutput": HUGE})

    def _lying_words(self) -> Iterator[bytes]:
        kind = self._any(["agent_message_chunk", "agent_thought_chunk"])
        for half in (*HALVES, "x" * 100_000):
            text = {"type": "text", "text": half}
            yield self._update({"sessionUpdate": kind, "content": text})

    def _lying_request(self) -> Iterator[bytes]:
        options = [
            {"optionId": f"o{n}", "name": "\ud83d", "kind": self._any(OPTION_KINDS)}
            for n in range(9)
        ]
        session = self._any([self._session, "acp-2", "", HUGE])
        deep = {"toolCallId": "tool-1", "title": self._any(HALVES), "rawInput": "<deep>"}
        method = self._any(["session/request_permission", "fs/read_text_file", "terminal/create"])
        params = {"sessionId": session, "toolCall": deep, "options": options, "path": "/etc/shadow"}
        asked = {"id": self._any([next(self._ids), *IDS]), "method": method, "params": params}
        yield self._line(asked).replace(b'"<deep>"', self._deep())

    def _lying_reply(self) -> Iterator[bytes]:
        # Of requests that nobody made; the prompt's own has a number below these.
        number = self._dice.randrange(500, 10_000)
        yield self._line({"id": number, "result": {"stopReason": HUGE}})
        yield self._line({"id": number, "error": {"code": HUGE, "message": self._any(HALVES)}})

    def _lying_news(self) -> Iterator[bytes]:
        session = self._any(["another", "embedded-1", 7, None])
        text = {"type": "text", "text": "of another session"}
        update = {"sessionUpdate": "agent_message_chunk", "content": text}
        yield self._line(
            {"method": "session/update", "params": {"sessionId": session, "update": update}}
        )
        entries = [{"content": self._any(HALVES), "priority": HUGE, "status": 7}] * 100
        yield self._update({"sessionUpdate": "plan", "entries": entries})
        yield self._update({"sessionUpdate": "current_mode_update", "currentModeId": "--yolo"})
        yield self._update({"sessionUpdate": "session_info_update", "title": "\ud83d" * 10_000})
        commands = [{"name": f"--{n}", "description": "\ud83d"} for n in range(300)]
        yield self._update(
            {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        )

    def _deep(self) -> bytes:
        depth = self._dice.choice(DEPTHS)
        return b'{"command":' * depth + b"1" + b"}" * depth

    def _any(self, choices: list[Any]) -> Any:
        return self._dice.choice(choices)

    def _news(self, update: dict[str, Any]) -> dict[str, Any]:
        return {
            "method": "session/update",
            "params": {"sessionId": self._session, "update": update},
        }

    def _update(self, update: dict[str, Any]) -> bytes:
        return self._line(self._news(update))

    def _answer(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        _write(self._line({"id": message["id"], "result": result}))

    def _line(self, message: dict[str, Any]) -> bytes:
        text = json.dumps({"jsonrpc": "2.0", **message}).replace(PLACE, ENDLESS)
        return text.encode() + b"\n"


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def main() -> None:
    liar = Liar(sys.argv[1], int(sys.argv[2]))
    heard: list[dict[str, Any]] = []
    news = threading.Condition()

    def listen() -> None:
        # The host's answers must not pile up while a burst is written.
        for line in sys.stdin.buffer:
            if b'"method"' in line:
                with news:
                    heard.append(json.loads(line))
                    news.notify()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        with news:
            news.wait_for(lambda: heard)
            message = heard.pop(0)
        liar.hear(message)


if __name__ == "__main__":
    main()
