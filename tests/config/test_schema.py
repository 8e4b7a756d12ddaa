"""The JSON Schema, the page and the example say what the code says."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from avatar_actors.config.config import AvatarConfig, config_schema
from avatar_actors.model.fields import fields_of
from avatar_actors.model.settings import AvatarOptions, AvatarSettings
from tests.config.page import BEGIN, END, PAGE, tables
from tests.config.probes import nested
from tests.config.seen import SEED
from tests.config.table import every_key, values
from tests.config.test_other_keys import OTHERS
from tests.config.test_seed_keys import ROWS

PACKAGE = PAGE.parents[2] / "avatar_actors"
EXAMPLE = PAGE.parents[2] / "examples" / "config.yaml"
VALIDATOR = jsonschema.Draft202012Validator(config_schema())


def problems(text: str) -> list[str]:
    """What an editor would underline."""
    found: Any = VALIDATOR.iter_errors(yaml.safe_load(text))  # pyright: ignore[reportUnknownMemberType]
    return [each.message for each in found]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(config_schema())


@pytest.mark.parametrize("path", [SEED, EXAMPLE], ids=lambda path: path.name)
def test_a_whole_file_fits_the_schema(path: Path) -> None:
    assert problems(path.read_text("utf-8")) == []


@pytest.mark.parametrize(("key", "value"), [row[:2] for row in (*ROWS, *OTHERS)])
def test_each_key_fits_the_schema(key: str, value: str) -> None:
    assert problems(nested(key, value)) == []


@pytest.mark.parametrize(
    "text",
    [
        "claud: {}",
        "claude:",
        "claude: {modle: x}",
        "claude: {model: 5}",
        "claude: {timeout: 120s}",
        "claude: {timeout: -1}",
        "claude: {max_history: 1.5}",
        "claude: {permission_mode: acceptedits}",
        "claude: {strict_mcp_config: false}",
        "claude: {debug: 1}",
        "claude: {allowed_tools: Read}",
        "claude: {mcp_servers: {a: {comand: x}}}",
        "claude: {env: {A: [x]}}",
        "gemini: {preview_features: true}",
        "gemini: {cost_control: {max_turns: 3}}",
        "gemini: {generation_config: {top_p: 1.5}}",
        "providers: {a: {comand: x}}",
        "metrics: {port: 70000}",
        "[a]",
    ],
)
def test_what_is_refused_does_not_fit_the_schema(text: str) -> None:
    assert problems(text)
    with pytest.raises(ValueError, match=r"^<text>:1: "):
        AvatarConfig.parse(text, environ={})


def test_every_key_is_explained_and_goes_somewhere() -> None:
    assert [path for path, key in every_key() if not key.about().strip()] == []
    assert [path for path, key in values() if not key.targets] == []


def test_the_page_has_the_tables_of_the_code() -> None:
    found = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert found.strip() == tables().strip(), "python -m tests.config.page writes them"


def test_the_example_loads() -> None:
    environ = {
        "HOME": "/nobody",
        "LIGHTS_TOKEN": "t",
        "ANTHROPIC_API_KEY": "k",
        "PARROT_TOKEN": "p",
    }
    config = AvatarConfig.load(EXAMPLE, environ)
    assert config.provider == "claude"
    assert [each.name for each in config.providers] == ["parrot", "far-parrot"]


def test_yaml_is_imported_by_who_reads_a_file_only() -> None:
    code = (
        "import sys, avatar_actors; avatar_actors.open_avatar; avatar_actors.AvatarConfig; "
        "avatar_actors.config_schema(); print('yaml' in sys.modules); "
        "avatar_actors.AvatarConfig.parse('provider: acp'); print('yaml' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_a_setting_is_declared_in_one_module() -> None:
    """A new setting is one field with its description; the keys, the page and the schema follow."""
    files = [(path, path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")]
    for name in ("max_answer", "max_line", "stall_warning", "backoff_base", "backup_count"):
        declares = re.compile(rf"^\s+{name}: |[\"']{name}[\"']", re.MULTILINE)
        assert [path.name for path, text in files if declares.search(text)] == ["settings.py"]


# The functions that the options `permissions` and `questions` take.
HANDLERS = {"permission_handler", "question_handler"}
ONLY_IN_PYTHON = {"fork", "prices", *HANDLERS}
# Settings that a file spells in another way, or that only some providers have.
SPELT_OTHERWISE = {
    "budget", "continue_last", "options", "output_schema", "rate_limit", "restarts", "resume",
    "tools",
}  # fmt: skip


def test_every_setting_is_a_key_or_is_known_to_be_none() -> None:
    targets = {target.partition(".")[0] for _, key in every_key() for target in key.targets}
    fields = {field.name for field in fields_of(AvatarSettings)}
    described = {field.name for field in fields_of(AvatarSettings) if field.description}
    assert fields - described == ONLY_IN_PYTHON | SPELT_OTHERWISE
    assert fields - targets == ONLY_IN_PYTHON
    assert fields - HANDLERS == set(AvatarOptions.__annotations__) - {"questions"}
