"""A remote agent's session ids go into a header, so they are checked first."""

import httpx
import pytest

from avatar_actors.model.values import JsonObject
from avatar_actors.session.remote.http import Establishing


class Server:
    """Opens the stream of any session, and keeps the ids."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def open_stream(self, session_id: str) -> httpx.Response:
        self.asked.append(session_id)
        return httpx.Response(200)


def answer(session_id: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": session_id}}


@pytest.mark.parametrize("session_id", ["a\r\nX-Other: 1", "a b", "-rf", "x" * 201, "ü"])
async def test_an_id_that_no_session_can_have_is_an_error_and_reaches_no_header(
    session_id: str,
) -> None:
    server, message = Server(), answer(session_id)
    sessions = Establishing(server.open_stream)
    sessions.asked({"id": 1, "method": "session/new"})
    assert await sessions.is_established(message)
    assert server.asked == []
    assert "result" not in message
    assert "the agent named a session by" in str(message["error"])


async def test_stream_of_a_usual_id_is_opened() -> None:
    server, message = Server(), answer("ses_0123-abc")
    sessions = Establishing(server.open_stream)
    sessions.asked({"id": 1, "method": "session/new"})
    assert await sessions.is_established(message)
    assert server.asked == ["ses_0123-abc"]
    assert message["result"] == {"sessionId": "ses_0123-abc"}
