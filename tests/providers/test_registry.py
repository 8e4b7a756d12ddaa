import subprocess
import sys
from pathlib import Path

import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import ProviderType
from avatar_actors.providers.registry import BUILT_IN, FURTHER, provider_named, provider_names

ENTRY = """
[avatar_actors.providers]
mine = my_agents:mine
ready = my_agents:ready
wrong = my_agents:wrong
"""
MODULE = """
from avatar_actors.providers.acp import acp_provider

def mine():
    return acp_provider("mine", ("mine", "--acp"))

ready = acp_provider("ready", ("ready",))
wrong = 7
"""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A package of somebody else, installed in a folder."""
    info = tmp_path / "my_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY)
    (tmp_path / "my_agents.py").write_text(MODULE)
    return tmp_path


def ask(folder: Path, question: str) -> str:
    """The answer of a fresh interpreter that has the foreign package."""
    program = f"from avatar_actors.providers.registry import *\nprint({question})"
    path = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(Path.cwd())!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", path + program], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("name", sorted({*BUILT_IN, *FURTHER}))
def test_every_built_in_provider_has_its_own_name(name: str) -> None:
    assert provider_named(name).name == name


def test_the_public_list_has_every_provider_that_comes_along() -> None:
    assert {each.value for each in ProviderType} == {*BUILT_IN, *FURTHER}


def test_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="no provider 'chatty'; there are: acp, claude,"):
        provider_named("chatty")


def test_names_are_listed_in_order() -> None:
    assert provider_names() == sorted(set(provider_names()) | set(BUILT_IN))


def test_entry_point_adds_a_provider(foreign: Path) -> None:
    assert ask(foreign, "provider_named('mine').name") == "mine"
    assert ask(foreign, "provider_named('ready').name") == "ready"
    assert "'mine'" in ask(foreign, "provider_names()")


def test_entry_point_that_is_no_provider_is_a_settings_error(foreign: Path) -> None:
    assert "SettingsError: the entry point 'wrong'" in ask(foreign, "provider_named('wrong')")


def test_built_in_modules_are_imported_when_asked_for() -> None:
    modules = (
        "sorted(m for m in __import__('sys').modules if 'providers.' in m or '.wire.acp' in m)"
    )
    assert ask(Path.cwd(), modules) == str(
        [
            f"avatar_actors.providers.{name}"
            for name in ("provider", "registry", "stores", "stores.store")
        ]
    )
