"""Encodes prompts, attachments and MCP servers in ACP's form."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

from avatar_actors.model.values import Attachment, JsonObject, McpServer
from avatar_actors.wire.acp.schema import AgentCapabilities
from avatar_actors.wire.json_values import at


class NotAccepted(Exception):
    """The agent does not advertise that it accepts this."""


def text_block(text: str) -> JsonObject:
    """A text block; a lone surrogate has no UTF-8 and is replaced."""
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def prompt_blocks(
    text: str, attachments: tuple[Attachment, ...], agent: AgentCapabilities
) -> list[JsonObject]:
    """The blocks of a prompt; raises NotAccepted."""
    return [*(_attached(each, agent) for each in attachments), text_block(text)]


def instructions_block(system_prompt: str) -> JsonObject:
    """A system prompt as a marked block, for an agent without a field for it."""
    return text_block(f"<system_instructions>\n{system_prompt}\n</system_instructions>")


def attachment_kinds(agent: AgentCapabilities) -> tuple[str, ...]:
    """The kinds of attachments that the agent accepts."""
    can = agent.prompt_capabilities
    kinds = [kind for kind in ("image", "audio") if at(can, kind) is True]
    return (*kinds, "text", "pdf") if at(can, "embeddedContext") is True else tuple(kinds)


def mcp_server(server: McpServer) -> JsonObject:
    """An MCP server in the form of session/new."""
    if server.transport == "stdio":
        return {
            "name": server.name,
            "command": server.command,
            "args": list(server.args),
            "env": _pairs(server.env),
        }
    return {
        "type": server.transport,
        "name": server.name,
        "url": server.url,
        "headers": _pairs(server.headers),
    }


def refused_server(servers: tuple[McpServer, ...], agent: AgentCapabilities) -> McpServer | None:
    """The first server whose transport the agent lacks; all support stdio."""
    for server in servers:
        if server.transport != "stdio" and at(agent.mcp_capabilities, server.transport) is not True:
            return server
    return None


def _pairs(values: dict[str, str]) -> list[JsonObject]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _attached(attachment: Attachment, agent: AgentCapabilities) -> JsonObject:
    kind = attachment.kind
    if kind not in attachment_kinds(agent):
        takes = ", ".join(attachment_kinds(agent)) or "none"
        raise NotAccepted(
            f"the agent takes no attachment of type {attachment.mime_type!r}; it takes: {takes}"
        )
    data = b64encode(attachment.data).decode()
    if kind in {"image", "audio"}:
        return {"type": kind, "mimeType": attachment.mime_type, "data": data}
    return {"type": "resource", "resource": _resource(attachment, data)}


def _resource(attachment: Attachment, data: str) -> JsonObject:
    resource = {
        "uri": f"attachment:///{quote(attachment.name or 'attachment')}",
        "mimeType": attachment.mime_type,
    }
    try:
        # A PDF whose bytes happen to be valid UTF-8 is not text.
        if attachment.kind == "text":
            return {**resource, "text": attachment.data.decode("utf-8")}
    except UnicodeDecodeError:
        pass
    return {**resource, "blob": data}
