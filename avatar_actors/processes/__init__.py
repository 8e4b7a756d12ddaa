"""Agent processes from the host's side: the warden, leases, the sweep, and a private directory."""

from avatar_actors.processes.lease import Lease, end_command, open_lease
from avatar_actors.processes.line_socket import Berth
from avatar_actors.processes.pipes import PipeReader, PipeWriter
from avatar_actors.processes.private_root import open_scratch, remove_tree, sweep_scratch
from avatar_actors.processes.sweep import sweep_dead_hosts
from avatar_actors.processes.tree_socket import (
    TreeSocket,
    is_our_user,
    listening_for_watchers,
    sweep_short_place,
    tree_sockets,
)
from avatar_actors.processes.types import (
    Ending,
    Launch,
    LeaseLost,
    ProcessesError,
    Proof,
    ScratchRefused,
    Vitals,
    WardenLost,
    WardenNotStarted,
    exit_words,
)
from avatar_actors.processes.warden_process import WardenProcess

__all__ = [
    "Berth",
    "Ending",
    "Launch",
    "Lease",
    "LeaseLost",
    "PipeReader",
    "PipeWriter",
    "ProcessesError",
    "Proof",
    "ScratchRefused",
    "TreeSocket",
    "Vitals",
    "WardenLost",
    "WardenNotStarted",
    "WardenProcess",
    "end_command",
    "exit_words",
    "is_our_user",
    "listening_for_watchers",
    "open_lease",
    "open_scratch",
    "remove_tree",
    "sweep_dead_hosts",
    "sweep_scratch",
    "sweep_short_place",
    "tree_sockets",
]
