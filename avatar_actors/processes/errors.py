"""What goes wrong between this program and its warden.

ProcessesError
├─ WardenNotStarted     the helper program could not be started; says with which Python
├─ WardenLost           the helper is dead: start another one; agents that run live on
├─ LeaseLost            the lease died before its agent was known to run: take a fresh one
└─ ScratchRefused       the private directory's place is not safely ours
"""


class ProcessesError(Exception):
    """The root of this package's errors."""


class WardenNotStarted(ProcessesError):
    """The helper program could not be started."""


class WardenLost(ProcessesError):
    """The helper program is dead. Its keepers are not: agents that run live on."""


class LeaseLost(ProcessesError):
    """Warden or keeper died before the agent was known to run. A fresh lease may work."""


class ScratchRefused(ProcessesError):
    """The directory for private files belongs to somebody else, or is open to others."""
