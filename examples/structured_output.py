"""A JSON Schema goes in, an object comes out: `python -m examples.structured_output`.

`--provider claude "Ada Lovelace was born in 1815."` has a sentence of yours read by a real agent.
The embedded agent is no model: it plays what a good agent and a sloppy one would say.
"""

import argparse
import json
import sys
import textwrap
from typing import Any

from avatar_actors import AvatarEngine, AvatarError, PermissionMode

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "born": {"type": "integer", "minimum": 0},
    },
    "required": ["name", "born"],
    "additionalProperties": False,
}
GOOD = {"name": "Ada Lovelace", "born": 1815}
SLOPPY = {"name": "Ada Lovelace", "born": "in December 1815"}


def played(value: object) -> str:
    return "SCRIPT:" + json.dumps([{"data": value}])


def extract(engine: AvatarEngine, sentences: list[str]) -> int:
    wrong = 0
    try:
        for sentence in sentences:
            answer = engine.chat_sync(sentence, schema=PERSON)
            if answer:
                print(f"name: {answer.data['name']}, born: {answer.data['born']}")
            else:
                print(textwrap.fill(f"{answer.outcome.value}: {answer.error}", 78))
                wrong += 1
    finally:
        engine.stop_sync()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser("python -m examples.structured_output", description=__doc__)
    parser.add_argument("sentence", nargs="?", default="")
    parser.add_argument("--provider", default="embedded")
    given = parser.parse_args()
    try:
        if given.sentence:
            engine = AvatarEngine(given.provider, permissions=PermissionMode.SAFE)
            return extract(engine, [f"Who is this about? {given.sentence}"])
        if given.provider != "embedded":
            parser.error("give a sentence for the agent to read")
        engine = AvatarEngine("embedded", options={"scripts": "true"})
        return 0 if extract(engine, [played(GOOD), played(SLOPPY)]) == 1 else 1
    except AvatarError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
