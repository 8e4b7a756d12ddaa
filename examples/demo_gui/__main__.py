"""`python -m examples.demo_gui [CONFIG]`; without one, that of this folder."""

import sys
from pathlib import Path

from avatar_actors import AvatarError
from examples.demo_gui.demo_gui import DemoApp

if __name__ == "__main__":
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit("it draws on a terminal: run it in one")
    config = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("demo_gui_config.yaml")
    try:
        DemoApp(config).run()
    except AvatarError as error:
        sys.exit(str(error))
