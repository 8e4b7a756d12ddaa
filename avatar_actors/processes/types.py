"""The values and errors of leases and wardens: launches, endings, vital signs."""

import enum
import signal

import msgspec


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """The program that a lease runs."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    """The agent's whole environment."""
    exit_grace: float = 0.5
    """Seconds until tools that outlive the agent are killed."""
    close_grace: float = 0.5
    """Seconds for the whole tree to end when this program dies or closes the lease."""
    nice: int = 0
    """The scheduling priority, from 1 to 19, the lowest; 0: as this program's."""

    def __repr__(self) -> str:
        return f"Launch(argv={self.argv!r}, cwd={self.cwd!r})"  # `env` has keys in it


class Proof(enum.Enum):
    """How it is known that a lease's processes are gone."""

    KEEPER = "keeper"  # its waitpid has no more children: exact
    WARDEN = "warden"  # the keeper was killed; the warden ended the rest: exact
    SEARCH = "search"  # both were killed; no process has the lease's cookie
    NONE = "none"  # it is not known


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The result of ending a lease."""

    proof: Proof
    left: tuple[int, ...] = ()
    """Processes that SIGKILL did not end in time."""
    denied: tuple[int, ...] = ()
    """Those of them that belong to another user."""
    reaped: int = 0
    """Orphaned processes besides the agent, however they ended."""

    @property
    def is_gone(self) -> bool:
        """Whether no process is known to be left."""
        return self.proof is not Proof.NONE


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """Vital signs of a lease's processes."""

    cpu_seconds: float
    """Of all of them, including those that have ended."""
    processes: int
    states: dict[str, int]
    """Their number by the letter of /proc: R runs, S sleeps, D waits for a disk, T is stopped."""


def exit_words(returncode: int) -> str:
    """How an agent ended, in words."""
    if returncode >= 0:
        return f"the agent exited with code {returncode}"
    try:
        return f"the agent was killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"the agent was killed by signal {-returncode}"


class ProcessesError(Exception):
    """The root of this package's errors."""


class WardenNotStarted(ProcessesError):
    """The helper program could not be started."""


class WardenLost(ProcessesError):
    """The helper program is dead; its keepers and the running agents live on."""


class LeaseLost(ProcessesError):
    """Warden or keeper died before the agent was known to run. A fresh lease may work."""


class PrivateRootRefused(ProcessesError):
    """The directory for private files belongs to somebody else, or is open to others."""
