"""The real agents of the suite: what each needs to run on the loopback model, as data alone."""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from avatar_actors import AvatarOptions

KEY = "fake-key-for-the-loopback"


class AgentContext(Struct, frozen=True):
    """Where an agent of one test lives: the model's address and directories of its own."""

    url: str
    home: Path


class RealAgent(Struct, frozen=True, kw_only=True):
    """One agent. `needs` gives the options of `open_avatar` that it cannot do without.

    `model` is a model that it does not have by itself but takes by that name, one that sees images,
    and how its requests spell it, or a part of that.
    """

    name: str
    provider: str
    needs: Callable[[AgentContext], AvatarOptions]
    model: str
    model_on_the_wire: str = ""


def _claude(place: AgentContext) -> AvatarOptions:
    return {
        "env": {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": place.url,
            "CLAUDE_CONFIG_DIR": str(place.home / ".claude"),
        },
        "options": {"max_retries": "1"},
    }


def _gemini(place: AgentContext) -> AvatarOptions:
    return {"env": {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": place.url}}


def _codex_model(place: AgentContext) -> dict[str, object]:
    return {
        "name": "loopback",
        "base_url": f"{place.url}/v1",
        "wire_api": "responses",
        "env_key": "OPENAI_API_KEY",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }


def _codex_acp(place: AgentContext) -> AvatarOptions:
    # A file: CODEX_CONFIG, the other way, is what the provider sets the model by.
    lines = [f"{name} = {json.dumps(value)}" for name, value in _codex_model(place).items()]
    toml = ['model_provider = "loopback"', "[model_providers.loopback]", *lines]
    codex_home = place.home / ".codex"
    codex_home.mkdir(exist_ok=True)
    (codex_home / "config.toml").write_text("\n".join(toml))
    return {
        "env": {
            "OPENAI_API_KEY": KEY,
            "CODEX_HOME": str(codex_home),
            "MODEL_PROVIDER": "loopback",
        },
        "options": {"adapter": "acp"},
    }


def _codex_zed(place: AgentContext) -> AvatarOptions:
    toml = ",".join(f"{name}={json.dumps(value)}" for name, value in _codex_model(place).items())
    codex_home = place.home / ".codex"
    codex_home.mkdir(exist_ok=True)
    return {
        "env": {"OPENAI_API_KEY": KEY, "CODEX_HOME": str(codex_home)},
        "options": {"adapter": "zed"},
        "args": ("-c", f"model_providers.loopback={{{toml}}}", "-c", 'model_provider="loopback"'),
    }


def _claude_agent_acp(place: AgentContext) -> AvatarOptions:
    return {
        "env": {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": place.url,
            "CLAUDE_CONFIG_DIR": str(place.home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }
    }


def _opencode(place: AgentContext) -> AvatarOptions:
    model = {
        "name": "Loopback",
        "tool_call": True,
        "reasoning": True,
        "cost": {"input": 1, "output": 2},
        "limit": {"context": 100_000, "output": 8_000},
    }
    seeing = {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Loopback",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": KEY},
        "models": {"scripted-model": model, "seeing-model": model | seeing},
    }
    config = {
        "model": "loopback/scripted-model",
        "small_model": "loopback/scripted-model",
        "share": "disabled",
        "autoupdate": False,
        "provider": {"loopback": provider},
    }
    return {
        "env": {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        },
        "args": ("acp",),
    }


def _qwen(place: AgentContext) -> AvatarOptions:
    seeing = {
        "id": "seeing-model",
        "envKey": "OPENAI_API_KEY",
        "baseUrl": f"{place.url}/v1",
        "generationConfig": {"modalities": {"image": True}},
    }
    folder = place.home / ".qwen"
    folder.mkdir(exist_ok=True)
    settings = {"modelProviders": {"openai": [seeing]}}
    (folder / "settings.json").write_text(json.dumps(settings))
    return {
        "env": {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{place.url}/v1",
            "OPENAI_MODEL": "scripted-model",
        },
        "args": ("--acp",),
    }


AGENTS = (
    RealAgent(name="claude", provider="claude", needs=_claude, model="claude-sonnet-4-5"),
    RealAgent(name="gemini", provider="gemini", needs=_gemini, model="gemini-2.5-flash"),
    RealAgent(name="codex-acp", provider="codex", needs=_codex_acp, model="gpt-5.5"),
    RealAgent(name="codex-zed", provider="codex", needs=_codex_zed, model="gpt-5.4"),
    RealAgent(
        name="claude-agent-acp",
        provider="acp",
        needs=_claude_agent_acp,
        model="sonnet",
        model_on_the_wire="claude-sonnet",
    ),
    RealAgent(
        name="opencode",
        provider="acp",
        needs=_opencode,
        model="loopback/seeing-model",
        model_on_the_wire="seeing-model",
    ),
    RealAgent(
        name="qwen",
        provider="acp",
        needs=_qwen,
        model="seeing-model(openai)",
        model_on_the_wire="seeing-model",
    ),
)
