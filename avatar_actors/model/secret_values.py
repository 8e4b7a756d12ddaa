"""Which values of an environment, of headers or of a URL are secret. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

# Anywhere in the name of a variable, a flag or a parameter.
_TELLING: Final = ("key", "token", "secret", "passw", "passphrase", "credential", "auth")
# Whole words of such a name: a PATH, a COMPASS and COOKIECUTTER are no secrets.
_WORDS: Final = frozenset(
    {"pass", "sshpass", "pwd", "pat", "cookie", "cookies", "creds", "jwt", "webhook"}
)
# The present directory, which shells keep there.
_DIRECTORIES: Final = frozenset({"PWD", "OLDPWD"})

# The password ends at the first `@`, whatever is in it, or at the last one before the path.
_PASSWORDS: Final = (r"://[^\s/?#:@]*:([^\s@]+)@", r"://[^\s/?#:@]*:([^\s/?#]+)@")
# Who has a name on the web and no password has a token for a name.
_LOGINS: Final = tuple(map(re.compile, (*_PASSWORDS, r"https?://([^\s/?#:@]+)@")))
_PARAMETER: Final = re.compile(r"(?<![^?&;\s])([\w.-]+)=([^&;\s]+)")


def is_secret_name(name: str) -> bool:
    """Whether what a variable, a flag or a parameter of this name holds is secret."""
    lower = name.lower()
    words = re.split(r"[^a-z0-9]+", lower)
    is_telling = any(part in lower for part in _TELLING) or not _WORDS.isdisjoint(words)
    return is_telling and name not in _DIRECTORIES


def of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    """The values of variables with telling names, and passwords inside any of the others."""
    for name, value in environment.items():
        if is_secret_name(name):
            yield value
        yield from _inside(value)


def of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """All values; of `Bearer KEY` the key alone is as secret."""
    for value in headers.values():
        yield from (value, value.rpartition(" ")[2])


def of_url(url: str) -> Iterator[str]:
    """Its login and every value of its query."""
    yield from _inside(url)
    yield from (value for _, value in parse_qsl(urlsplit(url).query))


def _inside(value: str) -> Iterator[str]:
    """Logins of URLs and values of parameters with telling names, as written and decoded."""
    found: list[str] = []
    if "://" in value:
        found += [text for login in _LOGINS for text in login.findall(value)]
    if "=" in value:
        found += [text for name, text in _PARAMETER.findall(value) if is_secret_name(name)]
    for text in found:
        yield from (text, unquote(text))
