"""Who takes part, on which wire, and which versions; data, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

OURS = "avatar-actors"
LOCKS = Path(__file__).parent / "locks"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A library and the program in `work` that drives it.

    `packages` are those whose versions are told. One with a lock has an environment of its own.
    """

    name: str
    program: str
    packages: tuple[str, ...]
    lock: Path | None = None

    @property
    def versions(self) -> str:
        return ", ".join(f"{package} {self._version(package)}" for package in self.packages)

    def _version(self, package: str) -> str:
        if self.lock is None:
            return version(package)
        pins = (line.split()[0] for line in self.lock.read_text("utf-8").splitlines() if line)
        return next(pin.partition("==")[2] for pin in pins if pin.startswith(f"{package}=="))


AVATAR_ACTORS = Contestant(OURS, "with_avatar_actors", (OURS, "trio"))
ACP_SDK = Contestant("ACP SDK", "with_acp_sdk", ("agent-client-protocol",))
CLAUDE_AGENT_SDK = Contestant(
    "claude-agent-sdk",
    "with_claude_agent_sdk",
    ("claude-agent-sdk",),
    LOCKS / "claude-agent-sdk.txt",
)
AVATAR_ENGINE = Contestant(
    "avatar-engine",
    "with_avatar_engine",
    ("avatar-engine", "agent-client-protocol"),
    LOCKS / "avatar-engine.txt",
)

WIRES: Mapping[str, tuple[Contestant, ...]] = {
    "acp": (AVATAR_ACTORS, ACP_SDK, AVATAR_ENGINE),
    "claude": (AVATAR_ACTORS, CLAUDE_AGENT_SDK, AVATAR_ENGINE),
}
# What is in the project's own environment, so that nothing has to be fetched.
QUICK_WIRES: Mapping[str, tuple[Contestant, ...]] = {"acp": (AVATAR_ACTORS, ACP_SDK)}
