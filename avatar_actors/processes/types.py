"""What is asked of a lease, what it reports, and what can go wrong: data and errors."""

import enum
import signal

import msgspec


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What to run: `env` is the agent's whole environment.

    `exit_grace`: seconds that tools have which outlive the agent, before they are killed.
    `close_grace`: seconds that the whole tree has when this program is gone or let go of the lease.
    """

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    exit_grace: float = 0.5
    close_grace: float = 0.5

    def __repr__(self) -> str:
        return f"Launch(argv={self.argv!r}, cwd={self.cwd!r})"  # `env` has keys in it


class Proof(enum.Enum):
    """Who says that a lease's processes are gone."""

    KEEPER = "keeper"  # its waitpid knows of nobody: exact
    WARDEN = "warden"  # the keeper was killed; the warden ended whom it left: exact
    SEARCH = "search"  # both were killed; nobody found who carries the lease's cookie: a search
    NONE = "none"  # nobody says so


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How the end of a lease went.

    `left` are processes that SIGKILL did not end in time, `denied` those of them that belong to
    another user. Both are empty when everybody is gone. `reaped` counts the processes besides the
    agent that were orphans, however they ended.
    """

    proof: Proof
    left: tuple[int, ...] = ()
    denied: tuple[int, ...] = ()
    reaped: int = 0

    @property
    def is_gone(self) -> bool:
        """Whether nobody is known to be left."""
        return self.proof is not Proof.NONE


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """How a lease's processes are: CPU seconds of all of them, the ended ones too.

    `states` counts them by the letter of /proc: R runs, S sleeps, D waits for a disk, T is stopped.
    """

    cpu_seconds: float
    processes: int
    states: dict[str, int]


def exit_words(returncode: int) -> str:
    """How an agent ended, for a person."""
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
    """The helper program is dead. Its keepers are not: agents that run live on."""


class LeaseLost(ProcessesError):
    """Warden or keeper died before the agent was known to run. A fresh lease may work."""


class PrivateRootRefused(ProcessesError):
    """The directory for private files belongs to somebody else, or is open to others."""
