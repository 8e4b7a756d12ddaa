"""A stand-in for `gemini -p …` that does what its prompt says; run as a program."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def shell(pid_file: str, *, new_session: bool) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(command, start_new_session=new_session)
    Path(pid_file).write_text(str(child.pid))


def main() -> None:
    prompt = sys.argv[-1] or sys.stdin.read()
    order, _, rest = prompt.partition(" ")
    if order == "exit":
        sys.exit(int(rest))
    elif order == "length":
        say({"length": len(prompt)})
    elif order in {"tool", "holder"}:
        shell(rest, new_session=order == "tool")
        say({"ready": True})
        if order == "tool":
            time.sleep(600)
    elif order == "stubborn":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say({"ready": True})
        time.sleep(600)
    elif order == "half":
        os.write(1, b'{"half":')
    else:
        say({"argv": sys.argv[1:]})


main()
