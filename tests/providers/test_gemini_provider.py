import json
from pathlib import Path
from typing import Any

import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.values import McpServer
from avatar_actors.providers.gemini import gemini_provider
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Open
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire

PLACE = Place(private_dir=Path("/private"), session_id="new")


def plan(**settings: Any) -> LaunchPlan:
    return gemini_provider().plan(AvatarSettings(**settings), PLACE)


def test_plain_start_needs_no_files_and_keeps_the_users_home() -> None:
    made = plan()
    assert made.argv == ("gemini", "--acp")
    assert made.env == {"GEMINI_CLI_NO_RELAUNCH": "true", "TMPDIR": "/private"}
    assert made.files == {}


def test_older_version_has_another_flag() -> None:
    made = plan(executable="/opt/gemini", args=("-d",), options={"acp_flag": "--experimental-acp"})
    assert made.argv == ("/opt/gemini", "--experimental-acp", "-d")


def test_model_goes_by_the_flag() -> None:
    assert plan(model="gemini-2.5-pro").argv[2:] == ("--model=gemini-2.5-pro",)


def test_system_prompt_is_a_private_file() -> None:
    made = plan(system_prompt="be brief")
    assert made.files == {"gemini-system.md": "be brief"}
    assert made.env["GEMINI_SYSTEM_MD"] == "/private/gemini-system.md"


@pytest.mark.parametrize(
    ("settings", "trusts"),
    [
        ({}, False),
        ({"mcp_servers": (McpServer(name="a", command="a"),)}, True),
        ({"mode": "yolo"}, True),
        ({"mode": "plan"}, False),
        ({"options": {"trust_workspace": "true"}}, True),
        ({"mode": "yolo", "options": {"trust_workspace": "false"}}, False),
    ],
)
def test_folder_is_trusted_only_where_it_must_be(settings: dict[str, Any], trusts: object) -> None:
    assert ("GEMINI_CLI_TRUST_WORKSPACE" in plan(**settings).env) is trusts


def test_generation_options_make_a_private_home_with_settings() -> None:
    options = {"top_p": "0.9", "top_k": "40", "thinking_budget": "1024"}
    made = plan(model="m", options=options)
    assert made.env["HOME"] == "/private/gemini-home"
    [(name, text)] = made.files.items()
    assert name == "gemini-home/.gemini/settings.json"
    [override] = json.loads(text)["modelConfigs"]["overrides"]
    assert override["match"] == {"model": "m"}
    assert override["modelConfig"]["generateContentConfig"] == {
        "temperature": 1.0,
        "topP": 0.9,
        "topK": 40,
        "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024},
    }


def test_thinking_level_and_temperature_are_passed_on() -> None:
    options = {"temperature": "0", "thinking_level": "high"}
    [text] = plan(model="m", options=options).files.values()
    [override] = json.loads(text)["modelConfigs"]["overrides"]
    assert override["modelConfig"]["generateContentConfig"] == {
        "temperature": 0,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
    }


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"options": {"temperature": "1"}}, "belong to a model"),
        ({"model": "m", "options": {"top_p": "much"}}, "is a number"),
        ({"options": {"temprature": "1"}}, "gemini has no option 'temprature'"),
        ({"options": {"headless": "yes"}}, "is one of false, true"),
        (
            {"model": "m", "options": {"top_k": "3", "auth_method": "oauth-personal"}},
            "log in by GEMINI_API_KEY",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        plan(**settings)


def test_headless_is_another_program_and_wire() -> None:
    settings = AvatarSettings(options={"headless": "true"})
    assert "--output-format=stream-json" in gemini_provider().plan(settings, PLACE).argv
    assert isinstance(gemini_provider().wire(settings), GeminiHeadlessWire)


@pytest.mark.parametrize("permissions", PermissionMode)
def test_wire_is_acp_and_never_offers_to_read_files(permissions: PermissionMode) -> None:
    settings = AvatarSettings(options={"files": "host"}, permissions=permissions)
    wire = gemini_provider().wire(settings)
    assert isinstance(wire, AcpWire)
    wire.command(Open(cwd="/x"))
    hello = json.loads(wire.data_to_send())
    files = hello["params"]["clientCapabilities"]["fs"]
    assert files == {"readTextFile": False, "writeTextFile": True}


def test_thoughts_and_the_length_of_answers_can_be_limited() -> None:
    options = {"include_thoughts": "false", "max_output_tokens": "99"}
    [text] = plan(model="m", options=options).files.values()
    [override] = json.loads(text)["modelConfigs"]["overrides"]
    assert override["modelConfig"]["generateContentConfig"] == {
        "temperature": 1.0,
        "maxOutputTokens": 99,
        "thinkingConfig": {"includeThoughts": False},
    }


def test_login_method_is_tried_when_the_agent_wants_one() -> None:
    settings = AvatarSettings(options={"auth_method": "gemini-api-key"})
    wire = gemini_provider().wire(settings)
    wire.command(Open(cwd="/"))
    wire.receive(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n')
    wire.receive(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in"}}\n')
    sent = [json.loads(line) for line in wire.data_to_send().splitlines()]
    assert sent[-1]["method"] == "authenticate"
    assert sent[-1]["params"] == {"methodId": "gemini-api-key"}
