"""Avatars in a pre-fork server: `gunicorn --preload -w 2 examples.preforked_app:app`.

    curl 'http://127.0.0.1:8000/?prompt=6*7'

A WSGI application of the standard library alone. With `--preload` it is imported before the workers
are forked: the engine is made there, and nothing runs yet. Its first call, in a worker, starts the
avatar in that worker; an engine that was used before the fork would be the parent's alone.
"""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from avatar_actors import AvatarEngine

engine = AvatarEngine("embedded", permissions="safe")


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    [prompt] = parse_qs(environ["QUERY_STRING"]).get("prompt", ["help"])
    answer = engine.chat_sync(prompt)
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    start_response("200 OK" if answer else "502 Bad Gateway", headers)
    return [(answer.content if answer else answer.error).encode()]
