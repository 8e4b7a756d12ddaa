"""How Claude Code is launched."""

import json
from pathlib import Path
from typing import Unpack

import msgspec
import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarOptions, AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import McpServer
from avatar_actors.providers.claude import claude_provider
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.wire.commands import Beginning, Open, Prompt
from tests.providers.flags import value_of, values_of
from tests.wire.claude.replay import success

PRIVATE = Path("/run/avatar/private")
PROVIDER = claude_provider()


def launch(
    *,
    stored: str = "",
    begins: Beginning = Beginning.AS_NAMED,
    private_dir: Path = PRIVATE,
    **options: Unpack[AvatarOptions],
) -> LaunchPlan:
    settings = msgspec.structs.replace(AvatarSettings(), **options)
    place = Place(private_dir=private_dir, session_id="s-new", resume=stored, begins=begins)
    return PROVIDER.plan(settings, place)


def first_message() -> bytes:
    wire = PROVIDER.wire(AvatarSettings())
    wire.command(Open(cwd="/"))
    wire.receive(success("avatar-1"))
    wire.data_to_send()
    wire.command(Prompt(1, "hello"))
    return wire.data_to_send()


def test_the_command_speaks_stream_json_in_both_directions() -> None:
    plan = launch()
    assert plan.argv[:2] == ("claude", "--print")
    assert (
        value_of(plan.argv, "--input-format")
        == value_of(plan.argv, "--output-format")
        == "stream-json"
    )
    assert {"--verbose", "--include-partial-messages"} < set(plan.argv)
    assert value_of(plan.argv, "--permission-prompt-tool") == "stdio"
    assert plan.env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] == "1"


def test_a_fork_has_an_id_of_our_choice() -> None:
    plan = launch(stored="s-old", begins=Beginning.FORK)
    assert value_of(plan.argv, "--resume") == "s-old"
    assert "--fork-session" in plan.argv
    assert value_of(plan.argv, "--session-id") == "s-new"
    assert "--fork-session" not in launch(stored="s-old").argv


def test_the_hosts_own_settings_and_servers_stay_out() -> None:
    plan = launch()
    assert value_of(plan.argv, "--setting-sources") == ""
    assert "--strict-mcp-config" in plan.argv
    assert plan.env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] == "1"
    assert plan.files == {}


def test_a_new_session_has_our_id_and_a_stored_one_is_resumed() -> None:
    assert value_of(launch().argv, "--session-id") == "s-new"
    plan = launch(stored="s-old")
    assert value_of(plan.argv, "--resume") == "s-old"
    assert values_of(plan.argv, "--session-id") == []


def test_model_executable_and_more_arguments_are_the_settings() -> None:
    plan = launch(model="opus", executable="/opt/claude", args=("--add-dir", "/data"))
    assert plan.argv[0] == "/opt/claude"
    assert value_of(plan.argv, "--model") == "opus"
    assert plan.argv[-2:] == ("--add-dir", "/data")


@pytest.mark.parametrize(
    ("permissions", "mode", "flag"),
    [
        (PermissionMode.SAFE, "", "default"),
        (PermissionMode.ASK, "", "default"),
        (PermissionMode.UNRESTRICTED, "", "default"),
        (PermissionMode.ASK, "acceptEdits", "acceptEdits"),
    ],
)
def test_the_permission_mode(permissions: PermissionMode, mode: str, flag: str) -> None:
    plan = launch(permissions=permissions, mode=mode)
    assert value_of(plan.argv, "--permission-mode") == flag
    assert "IS_SANDBOX" not in plan.env


def test_denied_tools_are_denied_by_the_agent_too() -> None:
    plan = launch(tools=ToolPolicy(deny=("WebFetch", "Bash(git *)")))
    assert value_of(plan.argv, "--disallowedTools") == "WebFetch,Bash(git *)"


@pytest.mark.parametrize("text", ["Be brief.", "x" * 200_000])
def test_the_system_prompt_goes_by_a_private_file(text: str) -> None:
    plan = launch(system_prompt=text)
    path = Path(value_of(plan.argv, "--append-system-prompt-file"))
    assert path.parent == PRIVATE
    assert plan.files == {path.name: text}
    assert text not in " ".join(plan.argv)


def test_the_schema_of_the_answers_is_a_flag() -> None:
    schema = {"type": "object"}
    assert json.loads(value_of(launch(output_schema=schema).argv, "--json-schema")) == schema
    assert values_of(launch().argv, "--json-schema") == []
    with pytest.raises(SettingsError, match="--json-schema has 200032 bytes"):
        launch(output_schema={"description": "x" * 200_000})


def test_secrets_of_servers_are_in_a_private_file_and_nowhere_else() -> None:
    stdio = McpServer(name="db", command="db-mcp", args=("-v",), env={"TOKEN": "hush-1"})
    remote = McpServer(name="web", url="https://x/sse", transport="sse", headers={"Key": "hush-2"})
    plan = launch(mcp_servers=(stdio, remote))
    path = Path(value_of(plan.argv, "--mcp-config"))
    assert path.parent == PRIVATE
    servers = json.loads(plan.files[path.name])["mcpServers"]
    assert servers["db"] == {"command": "db-mcp", "args": ["-v"], "env": {"TOKEN": "hush-1"}}
    assert servers["web"] == {"type": "sse", "url": "https://x/sse", "headers": {"Key": "hush-2"}}
    assert "hush" not in repr((plan.argv, plan.env))


def test_options_become_flags_and_variables() -> None:
    plan = launch(options={"max_turns": "3", "effort": "low", "sandbox": "1", "max_retries": "0"})
    assert (value_of(plan.argv, "--max-turns"), value_of(plan.argv, "--effort")) == ("3", "low")
    assert (plan.env["IS_SANDBOX"], plan.env["CLAUDE_CODE_MAX_RETRIES"]) == ("1", "0")


def test_the_flag_that_old_versions_do_not_know_is_sent_only_when_asked_for() -> None:
    assert values_of(launch(stored="s").argv, "--system-prompt-snapshot") == []
    plan = launch(options={"system_prompt_snapshot": "off"})
    assert value_of(plan.argv, "--system-prompt-snapshot") == "off"


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"no option 'max_turn'.*effort.*max_turns"):
        launch(options={"max_turn": "3"})


def test_temporary_files_are_private_unless_the_path_is_too_long_for_a_socket() -> None:
    assert launch().env["TMPDIR"] == str(PRIVATE)
    assert "TMPDIR" not in launch(private_dir=Path("/run") / ("x" * 90)).env


def test_the_login_of_the_user_is_passed_and_another_claude_is_not() -> None:
    assert {"ANTHROPIC_*", "CLAUDE_CONFIG_DIR"} < set(PROVIDER.passes)
    assert not {"CLAUDE_*", "CLAUDE_CODE_*", "CLAUDECODE"} & set(PROVIDER.passes)
    assert "@anthropic-ai/claude-code" in PROVIDER.install


def test_every_life_has_its_own_message_ids() -> None:
    assert first_message() != first_message()
