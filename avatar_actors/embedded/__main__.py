"""`python -m avatar_actors.embedded`: the embedded agent on this process's standard streams."""

from avatar_actors.embedded.program import main

main()
