"""The three programs of the plan that this project comes from, as their users have them.

Only the import has changed, and the provider is the embedded one; each runs as a program.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_snippets import ROOT
from tests.hosting.engines import PATIENCE

CONFIG = """
provider: embedded
"""

SYNC = """
from avatar_actors import AvatarEngine

# Jednoduchá inicializace
engine = AvatarEngine.from_config("config.yaml")
engine.start_sync()

# Chat
response = engine.chat_sync("Ahoj!")
print(response.content)

engine.stop_sync()
"""

ASYNC = """
import asyncio
from avatar_actors import AvatarEngine

async def main():
    engine = AvatarEngine(provider="embedded", model="gemini-3-pro-preview")
    await engine.start()

    # Streaming pro real-time display
    async for chunk in engine.chat_stream("Vysvětli quantum computing"):
        print(chunk, end="", flush=True)

    await engine.stop()

asyncio.run(main())
"""

GUI = """
from avatar_actors import AvatarEngine, TextEvent, ToolEvent, StateEvent

engine = AvatarEngine.from_config("config.yaml")

# GUI callbacks
@engine.on(TextEvent)
def on_text(event: TextEvent):
    gui.update_speech_bubble(event.text)
    tts_engine.speak(event.text)

@engine.on(ToolEvent)
def on_tool(event: ToolEvent):
    gui.show_tool_usage(event.tool_name, event.status)

@engine.on(StateEvent)
def on_state(event: StateEvent):
    gui.set_status(event.new_state.value)

# Start a použití
engine.start_sync()
engine.chat_async("Analyzuj tento soubor", callback=lambda r: gui.show_result(r))
"""

# What such a program has besides: a window and a voice that say what they were told.
SURROUNDINGS = """
import threading
done = threading.Event()
class Recorder:
    def __getattr__(self, name):
        def told(*what):
            print(name, *what, flush=True)
            if name == "show_result":
                done.set()
        return told
gui = tts_engine = Recorder()
"""
THE_END = """
done.wait()
engine.stop_sync()
"""


def run(tmp_path: Path, program: str) -> str:
    """What the program prints; it must end by itself, and well."""
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "program.py").write_text(program)
    ended = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "AVATAR_EMBEDDED_HOME": str(tmp_path / "s")},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.mark.parametrize("program", [SYNC, ASYNC], ids=["sync", "async"])
def test_program_of_the_seed_prints_an_answer(tmp_path: Path, program: str) -> None:
    assert "embedded agent" in run(tmp_path, program)


def test_program_of_the_seed_with_a_window_tells_it_everything(tmp_path: Path) -> None:
    told = run(tmp_path, SURROUNDINGS + GUI + THE_END)
    for call in ("update_speech_bubble", "speak", "set_status ready", "set_status busy"):
        assert call in told, told
    assert told.count("show_result") == 1
    assert "Outcome.COMPLETED" in told
