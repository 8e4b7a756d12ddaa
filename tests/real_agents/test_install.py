"""The installer of the real agents, without npm and network: pins, cache, missing tools."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_agents.install import AGENTS, InstalledAgent, installed_agents
from tests.real_agents.install.agents import Binary, Script
from tests.real_agents.install.cache import (
    COMPLETE,
    LOCK,
    MANIFEST,
    UNFINISHED,
    is_complete,
    make_complete,
    point_latest_at,
    sole_maker,
)
from tests.real_agents.install.lockfile import (
    locked_packages,
    missing_packages,
    requested,
    this_platform,
    versions,
    without_addresses,
)
from tests.real_agents.install.tools import node_program

CHECKOUT = Path(__file__).resolve().parents[2]
EXACT = re.compile(r"\d+\.\d+\.\d+")
TOOLS_MISSING = 3
# A loaded machine starts Python ten times slower.
PATIENCE = 60


class Interrupted(Exception):
    """Stands for whatever ends an installation early."""


def pinned() -> str:
    return LOCK.read_text("utf-8")


def asked_for() -> dict[str, str]:
    return requested(MANIFEST.read_text("utf-8"))


def put_package(folder: Path, package: str, **manifest: object) -> Path:
    place = folder / "node_modules" / package
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps(manifest), "utf-8")
    return place


def run_installer(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.real_agents.install"],
        cwd=CHECKOUT,
        env={"PATH": str(path), "HOME": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def put_program(folder: Path, name: str, prints: str) -> None:
    program = folder / name
    program.write_text(f"#!{sys.executable}\nprint({prints!r})\n", "utf-8")
    program.chmod(0o755)


def test_versions_asked_for_are_exact() -> None:
    assert [spec for spec in asked_for().values() if not EXACT.fullmatch(spec)] == []


def test_lock_fits_what_is_asked_for() -> None:
    locked = versions(pinned())
    assert {name: locked.get(name) for name in asked_for()} == asked_for()


def test_every_agent_is_asked_for() -> None:
    families = tuple(each.family for each in AGENTS.values() if isinstance(each, Binary))
    scripts = {each.package for each in AGENTS.values() if isinstance(each, Script)}
    natives = asked_for().keys() - scripts
    assert scripts <= asked_for().keys()
    assert all(any(name.startswith(f"{family}-") for name in natives) for family in families)


def test_lock_holds_no_addresses() -> None:
    assert "://" not in pinned()
    assert '"resolved"' not in pinned()


def test_every_locked_package_has_its_hash() -> None:
    bare = [each.path for each in locked_packages(pinned()) if len(each.integrity) < 95]
    assert bare == []
    assert len(locked_packages(pinned())) > len(asked_for())


def test_addresses_are_taken_out_of_a_lock() -> None:
    entry = {"version": "1.0.0", "integrity": "sha512-x"}
    noisy = {**entry, "resolved": "https://x/a.tgz", "funding": {"url": "https://y"}}
    cleaned = without_addresses(json.dumps({"packages": {"": {}, "node_modules/a": noisy}}))
    assert json.loads(cleaned) == {"packages": {"": {}, "node_modules/a": entry}}


def test_without_node_and_npm_one_line_says_what_to_do(tmp_path: Path) -> None:
    ended = run_installer(tmp_path)
    assert ended.returncode == TOOLS_MISSING
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    for words in ("node is missing", "npm is missing", "Node.js 20", "npm 10", "apt install"):
        assert words in line
    assert list(tmp_path.iterdir()) == []


def test_node_that_is_too_old_is_named(tmp_path: Path) -> None:
    put_program(tmp_path, "node", "v18.20.4")
    put_program(tmp_path, "npm", "10.2.4")
    ended = run_installer(tmp_path)
    assert ended.returncode == TOOLS_MISSING
    assert "node is v18.20.4." in ended.stderr
    assert "npm is" not in ended.stderr


def test_nothing_installed_is_no_agents(tmp_path: Path) -> None:
    assert installed_agents(tmp_path / "nowhere") == {}


def test_half_made_installation_is_not_used(tmp_path: Path) -> None:
    put_package(tmp_path, AGENTS["claude"].package, version="1.2.3")
    assert installed_agents(tmp_path) == {}


def test_native_agent_is_run_directly(tmp_path: Path) -> None:
    place = put_package(tmp_path, f"opencode-{this_platform()}", version="1.2.3")
    (tmp_path / COMPLETE).touch()
    expected = InstalledAgent("opencode", "1.2.3", (str(place / "bin/opencode"),), ())
    assert installed_agents(tmp_path) == {"opencode": expected}


def test_script_is_run_by_node_with_the_paths_it_needs(tmp_path: Path) -> None:
    place = put_package(
        tmp_path, "@zed-industries/codex-acp", version="1.2.3", bin={"codex-acp": "bin/x.js"}
    )
    codex = put_package(tmp_path, "@openai/codex-linux-x64", version="4.5.6")
    bwrap = codex / "vendor" / "x86_64-unknown-linux-musl" / "codex-resources" / "bwrap"
    bwrap.parent.mkdir(parents=True)
    bwrap.touch()
    (tmp_path / COMPLETE).touch()
    node = node_program()
    command = (str(node), str(place / "bin/x.js"))
    expected = InstalledAgent("codex-zed", "1.2.3", command, (bwrap.parent,))
    assert installed_agents(tmp_path) == ({"codex-zed": expected} if node else {})


def test_installation_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(scratch: Path) -> None:
        put_package(scratch, AGENTS["claude"].package, version="1.2.3")
        raise Interrupted

    with pytest.raises(Interrupted):
        make_complete(tmp_path / "x", interrupted)
    assert list(tmp_path.iterdir()) == []


def test_installation_takes_the_place_of_remains(tmp_path: Path) -> None:
    put_package(tmp_path / "x", "remains", version="1.2.3")
    put_package(tmp_path / f"x.killed{UNFINISHED}", "remains", version="1.2.3")
    make_complete(tmp_path / "x", lambda scratch: (scratch / "new").touch())
    assert is_complete(tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert {path.name for path in (tmp_path / "x").iterdir()} == {"new", COMPLETE}


def test_second_run_waits_for_the_first(tmp_path: Path) -> None:
    def waits() -> None:
        raise Interrupted

    def never() -> None:
        raise AssertionError("there is nobody to wait for")

    with (
        sole_maker(tmp_path / "x", never),
        sole_maker(tmp_path / "y", never),
        pytest.raises(Interrupted),
        sole_maker(tmp_path / "x", waits),
    ):
        pass
    with sole_maker(tmp_path / "x", never):
        pass


def test_latest_is_the_one_pointed_at_last(tmp_path: Path) -> None:
    for name in ("latest-a", "latest-b"):
        (tmp_path / name).mkdir()
        point_latest_at(tmp_path / name)
    assert (tmp_path / "latest").resolve() == (tmp_path / "latest-b").resolve()
    assert {path.name for path in tmp_path.iterdir()} == {"latest", "latest-a", "latest-b"}


def test_native_package_that_npm_left_out_is_noticed(tmp_path: Path) -> None:
    os, cpu = this_platform().split("-")
    lock = {
        "packages": {
            "": {},
            "node_modules/here": {"version": "1.0.0", "os": [os], "cpu": [cpu]},
            "node_modules/elsewhere": {"version": "1.0.0", "os": ["beos"], "cpu": [cpu]},
            "node_modules/not-elsewhere": {"version": "1.0.0", "os": [f"!{os}"], "cpu": [cpu]},
            "node_modules/there": {"version": "1.0.0", "os": ["!beos"], "cpu": [cpu]},
        }
    }
    put_package(tmp_path, "there")
    assert missing_packages(tmp_path, json.dumps(lock)) == ["here"]
