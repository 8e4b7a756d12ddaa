"""The entry point of `avatar`; it says so if the extra `cli` is not installed."""

from __future__ import annotations

import logging
import signal
import sys


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # There is nothing to clean up yet, and a KeyboardInterrupt can get lost in an import.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The command tells its user of crashes itself, and logs them where it is told to.
    for name in ("avatar_actors", "supervisors"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        from avatar_actors.cli.commands import run  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich", "prompt_toolkit"}:
            raise
        sys.exit(f"avatar: {error.name} is missing; install it: pip install 'avatar-actors[cli]'")
    sys.exit(run(sys.argv[1:]))
