"""The same question in each dialect, as an agent's main loop asks it: with a shell to offer."""

from msgspec import Struct

from tests.model_api.recorded import DialectName, Json

SHELL: Json = {"type": "object", "properties": {"command": {"type": "string"}}}


class Question(Struct, frozen=True):
    path: str
    body: Json


def anthropic(prompt: str = "hello", **rest: object) -> Question:
    body = {
        "model": "claude",
        "stream": True,
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"name": "Bash", "input_schema": SHELL}],
    }
    return Question("/v1/messages?beta=true", {**body, **rest})


def gemini(prompt: str = "hello", **rest: object) -> Question:
    tool = {"name": "run_shell_command", "parametersJsonSchema": SHELL}
    body = {
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "tools": [{"functionDeclarations": [tool]}],
    }
    return Question("/v1beta/models/gemini:streamGenerateContent?alt=sse", {**body, **rest})


def responses(prompt: str = "hello", **rest: object) -> Question:
    content = [{"type": "input_text", "text": prompt}]
    body = {
        "model": "gpt",
        "stream": True,
        "input": [{"type": "message", "role": "user", "content": content}],
        "tools": [{"type": "function", "name": "shell_command", "parameters": SHELL}],
    }
    return Question("/v1/responses", {**body, **rest})


def chat(prompt: str = "hello", **rest: object) -> Question:
    body = {
        "model": "any",
        "stream": True,
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
    }
    return Question("/v1/chat/completions", {**body, **rest})


QUESTIONS = {
    DialectName.ANTHROPIC: anthropic,
    DialectName.GEMINI: gemini,
    DialectName.RESPONSES: responses,
    DialectName.CHAT: chat,
}
