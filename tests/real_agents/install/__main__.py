"""Installs the real agents into a cache outside the checkout; `make agents` runs this.

Without an option: the pinned versions, once. `--latest`: the newest ones, beside them. `--lock`:
pins anew what package.json asks for.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.real_agents.install.agents import AGENTS, installed_agents
from tests.real_agents.install.cache import is_complete, make_complete, pinned_folder, sole_maker
from tests.real_agents.install.latest import resolve_latest, settle_latest
from tests.real_agents.install.lockfile import this_platform
from tests.real_agents.install.npm import NpmFailed
from tests.real_agents.install.pinned import fill_pinned, pin_anew
from tests.real_agents.install.tools import ToolsMissing, check_tools

FAILED = 1
TOOLS_MISSING = 3
INTERRUPTED = 130


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.real_agents.install", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--latest", action="store_true", help="install the newest versions")
    what.add_argument("--lock", action="store_true", help="write package-lock.json anew")
    options = parser.parse_args()
    # So that npm is ended and the unfinished folder removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        check_tools()
        if options.lock:
            pin_anew(say)
        elif options.latest:
            install_latest()
        else:
            install_pinned()
    except ToolsMissing as missing:
        sys.stderr.write(f"{missing}\n")
        return TOOLS_MISSING
    except NpmFailed as failure:
        sys.stderr.write(f"{failure}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was installed\n")
        return INTERRUPTED
    return 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def install_pinned() -> None:
    folder = pinned_folder()
    with sole_maker(folder, lambda: say("Another run is installing the agents; waiting for it.")):
        if not is_complete(folder):
            started = time.monotonic()
            say(f"Installing the real agents into {folder} (once, about 1.7 GB) ...")
            make_complete(folder, lambda scratch: fill_pinned(scratch, say))
            say(f"Installed in {time.monotonic() - started:.0f} s.")
    show(folder)


def install_latest() -> None:
    with resolve_latest(say) as latest:
        for change in latest.changes():
            say(change)
        folder = latest.folder
        with sole_maker(folder, lambda: say("Another run is installing these; waiting for it.")):
            if not is_complete(folder):
                started = time.monotonic()
                say(f"Installing them into {folder} ...")
                make_complete(folder, lambda scratch: latest.fill(scratch, say))
                say(f"Installed in {time.monotonic() - started:.0f} s.")
    for old in settle_latest(folder):
        say(f"Not used any more, remove it when you like: {old}")
    show(folder)


def show(folder: Path) -> None:
    agents = installed_agents(folder)
    say(f"\n{'agent':18}{'version':12}executable")
    for name in AGENTS:
        if name in agents:
            say(f"{name:18}{agents[name].version:12}{agents[name].command[-1]}")
        else:
            say(f"{name:18}{'–':12}not offered for {this_platform()}")


if __name__ == "__main__":
    sys.exit(main())
