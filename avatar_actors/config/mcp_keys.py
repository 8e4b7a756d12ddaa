"""The keys of an MCP server: one format for all agents."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.config.filling import Environ
from avatar_actors.config.keys import Effect, Key, Named, Section
from avatar_actors.config.kinds import Filled, OneOf, Program
from avatar_actors.config.kinds_of_many import Pairs, Texts
from avatar_actors.config.nodes import Node, Spot
from avatar_actors.model.values import JsonObject, McpServer

_KEYS: Final = Section((
    Key("command", Program(), "command", "The program that is the server."),
    Key("args", Texts(Filled()), "args", "Its arguments."),
    Key("env", Pairs(), "env", "Variables for it; the place for its secrets."),
    Key("url", Filled(), "url", "A server that runs elsewhere, instead of a command."),
    Key("transport", OneOf(("http", "sse")), "transport", "How the URL is spoken to: `http`."),
    Key("headers", Pairs(), "headers", "Sent with each request to the URL."),
))  # fmt: skip
_OF_COMMAND: Final = frozenset({"args", "env"})
_OF_URL: Final = frozenset({"transport", "headers"})


class Servers(Struct, frozen=True):
    """MCP servers by their names."""

    named: Named = Named(_KEYS)

    @property
    def words(self) -> str:
        """Sections by name."""
        return self.named.words

    def read(self, node: Node, at: Spot, environ: Environ) -> tuple[McpServer, ...]:
        """The servers, each with a command or a URL."""
        parts = self.named.parts(node, at)
        return tuple(
            _server(name, spot, self.named.each.effects(one, spot, environ))
            for name, (one, spot) in parts.items()
        )

    def schema(self) -> JsonObject:
        """An object of servers."""
        return self.named.schema()


def _server(name: str, at: Spot, effects: list[Effect]) -> McpServer:
    fields = {effect.target: effect.value for effect in effects}
    if bool(fields.get("command")) == bool(fields.get("url")):
        at.refuse("an MCP server has a command or a url, one of them")
    by, wrong = ("command", _OF_URL) if "command" in fields else ("url", _OF_COMMAND)
    for effect in effects:
        if effect.target in wrong:
            effect.at.refuse(f"an MCP server with a {by} has none; take it out")
    transport = {"transport": "http"} if by == "url" else {}
    return msgspec.convert({"name": name, **transport, **fields}, McpServer)
