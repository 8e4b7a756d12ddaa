"""What is asked: the words of the command line, and what is piped in."""

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
# More than any model reads; an endless pipe ends here.
MOST: Final = 32 * 1024 * 1024
PATIENCE: Final = 3.0
_READ: Final = 1024 * 1024


class PromptInput(Struct, frozen=True):
    """A prompt, and the text that came with it."""

    prompt: str
    context: str = ""

    @property
    def options(self) -> PromptOptions:
        """What `avatar.turn` takes beside the prompt."""
        return {"context": {"stdin": self.context}} if self.context else {}


def asked(words: Sequence[str]) -> PromptInput:
    """The prompt of these words and of stdin. `-` among them asks for stdin whatever it is."""
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
    """Whether somebody sends something: a pipe or a file, not a terminal, not /dev/null."""
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read_stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed; give the prompt as an argument")
    descriptor, data = sys.stdin.fileno(), bytearray()
    if not os.isatty(descriptor) and not select.select([descriptor], [], [], PATIENCE)[0]:
        click.echo("avatar: waiting for stdin; if nothing comes: </dev/null", err=True)
    while len(data) <= MOST and (piece := os.read(descriptor, _READ)):
        data += piece
    if len(data) > MOST:
        raise click.UsageError(
            f"stdin is more than {MOST // 2**20} MiB; name the file in the prompt, "
            "the agent reads what it needs"
        )
    return _text(bytes(data))


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise click.UsageError("stdin is no text; name the file in the prompt instead")
    text = data.decode("utf-8", "replace")
    # Told apart from marks that were there before.
    if bad := text.count("�") - data.count("�".encode()):
        click.echo(f"avatar: stdin is not all UTF-8; {bad} places became �", err=True)
    return text
