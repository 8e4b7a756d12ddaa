"""An ACP agent on the standard library that writes exactly the lines which the prompt orders.

The prompt is a JSON list of steps: {"write": TEXT, "times": 1}, where $ID is the prompt's id;
{"hear": true} says the next message of the client as a text; {"deaf": true} closes stdin,
{"wait": true} does nothing more, {"die": true} exits.
"""

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                answer(message["id"], {"protocolVersion": 1})
            case "session/new":
                answer(message["id"], {"sessionId": "s-1"})
            case "session/prompt":
                text = message["params"]["prompt"][0]["text"]
                # What a schema asks for follows the orders.
                for step in json.JSONDecoder().raw_decode(text)[0]:
                    play(step, str(message["id"]))
            case _:
                pass


def play(step: dict[str, Any], prompt_id: str) -> None:
    if "write" in step:
        line = step["write"].replace("$ID", prompt_id).encode() + b"\n"
        for _ in range(step.get("times", 1)):
            write(line)
    elif "hear" in step:
        say(sys.stdin.readline())
    elif "deaf" in step:
        os.close(0)
    elif "wait" in step:
        time.sleep(600)
    elif "die" in step:
        os._exit(3)


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "s-1", "update": update}
    write(json.dumps({"method": "session/update", "params": params}).encode() + b"\n")


def answer(rpc_id: object, result: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": rpc_id, "result": result}).encode() + b"\n")


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
