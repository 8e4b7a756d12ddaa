"""`python -m avatar_actors` is the command `avatar`."""

from avatar_actors.cli.main import main

if __name__ == "__main__":
    main()
