"""What a configuration comes to: the options, the launch, the wire's wishes, the runtime."""

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from avatar_actors.config.config import AvatarConfig
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.codex import codex_profile
from avatar_actors.providers.gemini import gemini_provider
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.providers.registry import provider_named
from avatar_actors.wire.commands import Open

PLACE = Place(private_dir=Path("/private"), session_id="new")
SEED = Path(__file__).with_name("seed.yaml")


class Seen(Struct):
    """One provider's part of a configuration."""

    config: AvatarConfig
    settings: AvatarSettings
    plan: LaunchPlan

    def generation(self) -> dict[str, Any]:
        """What gemini is told about its answers."""
        [text] = [text for name, text in self.plan.files.items() if name.endswith("settings.json")]
        [override] = json.loads(text)["modelConfigs"]["overrides"]
        found: dict[str, Any] = override["modelConfig"]["generateContentConfig"]
        return found

    def codex_login(self) -> str:
        return codex_profile(self.settings).auth_method

    def gemini_login(self) -> str:
        """The method that is tried when the agent wants a login."""
        wire = gemini_provider().wire(self.settings)
        wire.command(Open(cwd="/"))
        wire.receive(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n')
        wire.data_to_send()
        refusal = {"code": -32000, "message": "log in"}
        wire.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "error": refusal}).encode() + b"\n")
        sent = json.loads(wire.data_to_send())
        assert sent["method"] == "authenticate"
        return str(sent["params"]["methodId"])


def seen(text: str, provider: str = "", environ: dict[str, str] | None = None) -> Seen:
    config = AvatarConfig.parse(text, "test.yaml", environ or {})
    return seen_in(config, provider)


def seen_in(config: AvatarConfig, provider: str = "") -> Seen:
    kind, options = config.chosen(provider)
    settings = msgspec.structs.replace(AvatarSettings(), **options)
    agent = provider_named(kind) if isinstance(kind, str) else kind
    # An agent at a URL is not launched.
    is_far = agent.remote is not None and agent.remote(settings) is not None
    plan = LaunchPlan(argv=()) if is_far else agent.plan(settings, PLACE)
    return Seen(config, settings, plan)
