"""Where `avatar` begins: it needs the extra `cli`, and says so where that is missing."""

from __future__ import annotations

import sys

# As ExitCode has it, which is not there yet.
INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and end it with the command's exit code."""
    try:
        from avatar_actors.cli.commands import run  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich", "prompt_toolkit"}:
            raise
        sys.exit(f"avatar: {error.name} is missing; install it: pip install 'avatar-actors[cli]'")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(run(sys.argv[1:]))
