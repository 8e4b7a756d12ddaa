"""The embedded agent on this process's standard streams: `python -m` this package."""

from avatar_actors.programs.embedded.program import main

main()
