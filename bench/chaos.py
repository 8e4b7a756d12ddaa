"""How avatars bear faults: `python -m bench.chaos` is `avatar chaos`; see docs/chaos.md."""

import sys

from avatar_actors.cli.commands import run

if __name__ == "__main__":
    sys.exit(run(["chaos", *sys.argv[1:]]))
