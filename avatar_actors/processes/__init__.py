"""Agent processes from the host's side: the warden, leases, the sweep, and a private directory."""

from avatar_actors.processes.descriptors import PipeReader, PipeWriter
from avatar_actors.processes.lease import Lease, end_command, open_lease
from avatar_actors.processes.line_socket import KeeperEnd
from avatar_actors.processes.private_root import open_private_root, remove_tree, sweep_private_roots
from avatar_actors.processes.sweep import sweep_dead_hosts
from avatar_actors.processes.tree_socket import (
    TreeSocket,
    is_our_user,
    listening_for_watchers,
    tree_sockets,
)
from avatar_actors.processes.types import (
    Ending,
    Launch,
    LeaseLost,
    PrivateRootRefused,
    ProcessesError,
    Proof,
    Vitals,
    WardenLost,
    WardenNotStarted,
    exit_words,
)
from avatar_actors.processes.warden_process import WardenProcess

__all__ = [
    "Ending",
    "KeeperEnd",
    "Launch",
    "Lease",
    "LeaseLost",
    "PipeReader",
    "PipeWriter",
    "PrivateRootRefused",
    "ProcessesError",
    "Proof",
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
    "open_private_root",
    "remove_tree",
    "sweep_dead_hosts",
    "sweep_private_roots",
    "tree_sockets",
]
