"""A client of the endpoint that is not ours: what it says goes over a plain socket."""

import socket
from urllib.parse import urlsplit

import trio


async def say(url: str, request: str) -> str:
    """The whole answer to these bytes, until the server closes."""
    place = urlsplit(url)
    stream = await trio.open_tcp_stream(place.hostname or "", place.port or 0)
    async with stream:
        await stream.send_all(request.encode())
        return b"".join([part async for part in stream]).decode()


async def get(url: str, accept: str = "text/plain") -> str:
    """The body of a page that must be there."""
    path = urlsplit(url).path
    answer = await say(url, f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.0 200 "), head
    return body


def is_free(url: str) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(url).port or 0)) != 0
