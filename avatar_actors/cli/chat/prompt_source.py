"""Reads the prompt from the command line's words and from piped input."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Sequence
from typing import Final

import click
from msgspec import Struct

from avatar_actors import PromptOptions

EXAMPLE: Final = 'avatar chat "what is in this directory?"'
# More than any model reads; stops an endless pipe.
MOST: Final = 32 * 1024 * 1024
PATIENCE: Final = 3.0
_READ: Final = 1024 * 1024


class PromptInput(Struct, frozen=True):
    """A prompt, and the piped text that goes with it."""

    prompt: str
    context: str = ""

    @property
    def options(self) -> PromptOptions:
        """The options of `avatar.turn`."""
        return {"context": {"stdin": self.context}} if self.context else {}


def read_prompt(words: Sequence[str]) -> PromptInput:
    """The prompt from these words and stdin; the word `-` reads stdin whatever it is."""
    said = " ".join(word for word in words if word != "-").strip()
    _check_words(said)
    piped = _read_stdin() if "-" in words or _is_piped() else ""
    if said:
        return PromptInput(said, piped)
    if piped.strip():
        return PromptInput(piped)
    if words or _is_piped():
        raise click.UsageError(f"the prompt is empty; for example: {EXAMPLE}")
    raise click.UsageError(f"a prompt is missing; for example: {EXAMPLE}")


def _check_words(said: str) -> None:
    try:
        said.encode()
    except UnicodeEncodeError:
        raise click.UsageError("the prompt is not UTF-8; set LANG, or pipe it in") from None


def _is_piped() -> bool:
    """Whether stdin is a pipe or a file, not a terminal or /dev/null."""
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read_stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed; give the prompt as an argument")
    descriptor, data = sys.stdin.fileno(), bytearray()
    if not os.isatty(descriptor) and not select.select([descriptor], [], [], PATIENCE)[0]:
        click.echo("avatar: waiting for stdin; without input, add: </dev/null", err=True)
    while len(data) <= MOST and (piece := os.read(descriptor, _READ)):
        data += piece
    if len(data) > MOST:
        raise click.UsageError(
            f"stdin is larger than {MOST // 2**20} MiB; name the file in the prompt instead, "
            "and the agent reads what it needs"
        )
    return _text(bytes(data))


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise click.UsageError("stdin is not text; name the file in the prompt instead")
    text = data.decode("utf-8", "replace")
    # Not counting those that were there before.
    if bad := text.count("�") - data.count("�".encode()):
        click.echo(f"avatar: stdin is not valid UTF-8; {bad} places became �", err=True)
    return text
