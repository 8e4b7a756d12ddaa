"""MCP servers as Claude Code takes them: the text of the file that --mcp-config names."""

from __future__ import annotations

import msgspec

from avatar_actors.model.values import JsonObject, McpServer


def mcp_config(servers: tuple[McpServer, ...]) -> str:
    """The configuration; it may hold secrets."""
    config: dict[str, JsonObject] = {}
    for one in servers:
        if one.url:
            kind = "sse" if one.transport == "sse" else "http"
            config[one.name] = {"type": kind, "url": one.url, "headers": one.headers}
        else:
            config[one.name] = {"command": one.command, "args": list(one.args), "env": one.env}
    return msgspec.json.encode({"mcpServers": config}).decode()
