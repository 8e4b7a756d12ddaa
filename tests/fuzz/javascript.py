"""Strings as JavaScript has them, UTF-16 that may be cut anywhere, and the JSON it writes."""

import json
import random
import re
from typing import NamedTuple

LONE = re.compile("[\ud800-\udfff]")
_UNITS = (
    *("a", "b", " ", "x\n", '"', "\\", "/", "\u2028", "\x00", "\x7f", "é", "中", "\\ud83d"),
    *("\ud83d", "\ude00", "\ud83d", "\ude00", "\udbff", "\udc00", "😀", "id", "{", "}", "[", "]"),
)


class Written(NamedTuple):
    """A string, and one way to write it as JSON."""

    text: str
    data: bytes


def heard(text: str) -> str:
    """What must come out: two halves that meet are one sign, any other half is U+FFFD."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return LONE.sub("\ufffd", joined)


def written(dice: random.Random) -> Written:
    """Any string, as JSON.stringify (ES2019) or as a writer of plain ASCII would put it."""
    text = "".join(dice.choice(_UNITS) for _ in range(dice.randrange(1, 8)))
    if dice.random() < 0.5:
        return Written(text, json.dumps(text).encode("ascii"))
    # A pair is one sign here; only a lone half is escaped.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    raw = json.dumps(joined, ensure_ascii=False)
    return Written(text, LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", raw).encode("utf-8"))


def pool(dice: random.Random, count: int = 400) -> list[Written]:
    """Strings to choose from: making one takes longer than reading it."""
    return [written(dice) for _ in range(count)]
