"""Hiding secrets in what is shown: events, reasons, log lines. Pure."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit
from weakref import WeakValueDictionary

from msgspec import Struct

MARK: Final = "[secret]"
# Shorter ones are words; hiding them would garble everything.
_SHORTEST = 6
# The first base64 digit that holds nothing of the 0, 1 or 2 bytes before a value.
_FIRST_DIGIT = (0, 2, 3)
# What JavaScript's encodeURIComponent leaves as it is, and Python's quote does not.
_PLAIN_IN_JAVASCRIPT = "!'()*"


class Redactor:
    """Knows values that must never be shown, and puts a mark in their place.

    One thread teaches it, any thread may hide. What it learns costs the same however much it knows.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # How many taught it each form of each secret.
        self._forms: Counter[str] = Counter()
        # By their first characters. Lists grow or are replaced: another thread may be reading one.
        self._by_beginning: dict[str, list[str]] = {}
        # A key of several lines comes line by line.
        lines = {line for secret in secrets for line in secret.splitlines()}
        self._add({form for line in lines for form in _forms(line)})

    @property
    def forms(self) -> Set[str]:
        """All that it hides, as it may be written."""
        return self._forms.keys()

    @property
    def longest(self) -> int:
        """Characters of the longest form."""
        return max(map(len, self._forms), default=0)

    def learn(self, other: Redactor) -> None:
        """Hide what the other hides, too."""
        self._add(other.forms)

    def forget(self, other: Redactor) -> None:
        """Take one `learn` back: what nobody else taught is shown again."""
        for form in other.forms:
            self._forms[form] -= 1
            if not self._forms[form]:
                del self._forms[form]
                self._drop(form)

    def hide(self, text: str) -> str:
        """The text without them, and without the beginning of one at its end: it may be cut.

        Where some overlap, all that belongs to any of them is hidden.
        """
        pieces: list[str] = []
        done = 0
        for start, end in sorted(self._spans(text)):
            if start >= done:
                pieces += (text[done:start], MARK)
            done = max(done, end)
        return "".join((*pieces, text[done:])) if pieces else text

    def _add(self, forms: Iterable[str]) -> None:
        for form in forms:
            self._forms[form] += 1
            if self._forms[form] == 1:
                self._by_beginning.setdefault(form[:_SHORTEST], []).append(form)

    def _drop(self, form: str) -> None:
        beginning = form[:_SHORTEST]
        rest = [other for other in self._by_beginning[beginning] if other != form]
        if rest:
            self._by_beginning[beginning] = rest
        else:
            del self._by_beginning[beginning]

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        # A quote that was put around a text that was cut.
        ends = (len(text), len(text.rstrip("'\"")))
        for start in self._candidates(text):
            forms = self._by_beginning.get(text[start : start + _SHORTEST], ())
            whole = [start + len(form) for form in forms if text.startswith(form, start)]
            cut = [end for form in forms for end in ends if _is_cut(form, text, start, end)]
            if whole or cut:
                yield start, max(whole + cut)

    def _candidates(self, text: str) -> Iterator[int]:
        """Where one may begin: each beginning is looked for, or each place looked up."""
        if len(self._by_beginning) < len(text):
            for beginning in tuple(self._by_beginning):
                start = text.find(beginning)
                while start >= 0:
                    yield start
                    start = text.find(beginning, start + 1)
        else:
            for start in range(len(text) - _SHORTEST + 1):
                if text[start : start + _SHORTEST] in self._by_beginning:
                    yield start


_alive: Final[WeakValueDictionary[frozenset[str], Redactor]] = WeakValueDictionary()


def redactor_of(secrets: Iterable[str]) -> Redactor:
    """A redactor that is taught nothing else: avatars with the same secrets share it."""
    known = frozenset(secrets)
    found = _alive.get(known)
    if found is None:
        found = _alive[known] = Redactor(known)
    return found


def _is_cut(form: str, text: str, start: int, end: int) -> bool:
    """Whether the text from `start` to `end` is the beginning of the form."""
    return _SHORTEST <= end - start < len(form) and form.startswith(text[start:end])


def _forms(line: str) -> set[str]:
    """All ways in which a line of a secret may be written; none if it is too short to hide."""
    if len(line) < _SHORTEST:
        return set()
    as_json = (json.dumps(line), json.dumps(line, ensure_ascii=False))
    # In a text that holds both kinds of quotes, a `repr` escapes the single ones.
    as_repr = (write(f'"{line}')[1:-1] for write in (repr, ascii))
    quoted = (form[1:-1] for form in (*as_json, repr(line), ascii(line)))
    return {line, *quoted, *(form[1:] for form in as_repr), *_in_urls(line), *_in_base64(line)}


def _in_urls(line: str) -> Iterator[str]:
    for safe in ("", "/", _PLAIN_IN_JAVASCRIPT):
        yield quote(line, safe, errors="surrogatepass")
    yield quote_plus(line, errors="surrogatepass")


def _in_base64(line: str) -> Iterator[str]:
    """As it stands alone, and the digits that are its own behind 0, 1 or 2 other bytes."""
    data = line.encode("utf-8", "surrogatepass")
    for altchars in (b"+/", b"-_"):
        alone = b64encode(data, altchars).decode("ascii")
        yield from (alone, alone.rstrip("="))
        for before, first in enumerate(_FIRST_DIGIT):
            digits = b64encode(bytes(before) + data, altchars).decode("ascii")
            yield digits[first : (before + len(data)) * 8 // 6]


def repr_without(settings: Struct, *hidden: str) -> str:
    """The `repr` of a struct whose fields of these names show the names in them, not the values."""
    shown = {name: repr(getattr(settings, name)) for name in settings.__struct_fields__}
    for name in hidden:
        values: Mapping[str, str] = getattr(settings, name)
        shown[name] = repr(dict.fromkeys(values, MARK))
    return f"{type(settings).__name__}({', '.join(f'{name}={shown[name]}' for name in shown)})"


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
