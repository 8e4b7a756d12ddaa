"""The JSON Schema, the page and the example say what the table says."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from avatar_actors.config.config import AvatarConfig, config_schema
from avatar_actors.config.keys import Key, Meanings, Named, RemovedKey, Section, Switch
from avatar_actors.config.schema import ROOT
from tests.config.page import BEGIN, END, PAGE, tables
from tests.config.probes import nested
from tests.config.seen import SEED
from tests.config.test_other_keys import OTHERS
from tests.config.test_seed_keys import ROWS

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


def every_key(section: Section) -> list[Key]:
    found: list[Key] = []
    for key in section.keys:
        found.append(key)
        if isinstance(key.kind, Section):
            found += every_key(key.kind)
        elif isinstance(key.kind, Named):
            found += every_key(key.kind.each)
    return found


def test_every_key_is_explained_and_goes_somewhere() -> None:
    keys = every_key(ROOT)
    assert [
        key.name for key in keys if not key.about and not isinstance(key.kind, RemovedKey)
    ] == []
    says_it_itself = (Section, RemovedKey, Meanings, Switch)
    aimless = [key for key in keys if not key.to and not isinstance(key.kind, says_it_itself)]
    assert [key.name for key in aimless] == []


def test_the_page_has_the_tables_of_the_code() -> None:
    found = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert found.strip() == tables().strip(), "python -m tests.config.page writes them"


def test_every_key_of_the_table_is_on_the_page() -> None:
    names = set(re.findall(r"^\| `([\w.]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    last = {name.rpartition(".")[2] for name in names}
    sections = {"engine", "claude", "gemini", "codex", "acp", "embedded", "providers"}
    assert sorted({key.name for key in every_key(ROOT)} - last - sections) == []


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
