"""`python -m avatar_actors.programs.embedded`: the embedded agent on this process's standard streams."""

from avatar_actors.programs.embedded.program import main

main()
