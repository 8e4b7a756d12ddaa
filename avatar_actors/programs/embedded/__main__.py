"""Runs the embedded agent on this process's standard streams: `python -m` with this package."""

from avatar_actors.programs.embedded.program import main

main()
