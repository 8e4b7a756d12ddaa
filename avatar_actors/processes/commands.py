"""Finding the processes of one tool below an agent, by the command that it runs."""

import contextlib
import signal
from pathlib import Path

from avatar_actors.programs.warden.process_tree import descendants, signal_below, signal_process

# A shorter command may stand in others by chance.
_TELLING = 12
# Claude quotes the command again for its `eval`; who runs it is left with the bare words.
_UNQUOTED = str.maketrans("", "", "'\"\\")


def end_command(agent: int, command: str) -> bool:
    """Kill whoever below the agent runs this command, and their children; False if nobody does."""
    below = descendants(agent)
    roots = [pid for pid in below if _runs(pid, command)]
    for root in roots:
        # Its children first: once it is dead they stand elsewhere.
        signal_below(root, descendants(root), signal.SIGKILL)
        with contextlib.suppress(PermissionError):
            signal_process(root, signal.SIGKILL, lambda pid: _runs(pid, command))
    return bool(roots)


def _runs(pid: int, command: str) -> bool:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    arguments = raw.decode("utf-8", "replace").translate(_UNQUOTED).split("\0")
    words = command.translate(_UNQUOTED).strip()
    if not words:
        return False
    # As one argument of a shell, or as the whole command line; a shell may wrap it in more.
    is_it = words in arguments or words == " ".join(arguments).strip()
    return is_it or (len(words) >= _TELLING and any(words in each for each in arguments))
