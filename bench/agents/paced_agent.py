"""What paced_agent.c does, where there is no compiler: a program on the standard library."""

import json
import sys
import time
from typing import Any

RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
    "session/new": {"sessionId": "paced"},
    "session/prompt": {"stopReason": "end_turn"},
}


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def _sleep_until(when: int) -> None:
    time.sleep(max(0, when - time.monotonic_ns()) / 1e9)


def _play(prompt: str) -> None:
    start, every, count, linger = map(int, prompt.split()[1:])
    start = start or time.monotonic_ns()
    for number in range(count):
        _sleep_until(start + number * every)
        content = {"type": "text", "text": f"{time.monotonic_ns()} "}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        _say({"method": "session/update", "params": {"sessionId": "paced", "update": update}})
    _sleep_until(time.monotonic_ns() + linger)


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            if message["method"] == "session/prompt":
                _play(message["params"]["prompt"][0]["text"])
            _say({"id": message["id"], "result": RESULTS.get(message["method"], {})})


if __name__ == "__main__":
    main()
