"""Asks one question and prints the answer: `python -m examples.basic_chat "What is 6*7?"`.

A plain script without a loop of its own. It asks the embedded agent, or a real one: `--provider
claude`, `gemini` or `codex`.
"""

import argparse
import sys

from avatar_actors import AvatarEngine, AvatarError, PermissionMode


def ask(provider: str, question: str) -> int:
    # Nobody is there to be asked for permission: the agent may look, and change nothing.
    engine = AvatarEngine(provider, permissions=PermissionMode.SAFE)
    try:
        answer = engine.chat_sync(question)
    finally:
        engine.stop_sync()
    print(answer.content)
    if not answer:
        print(f"{answer.outcome.value}: {answer.error}", file=sys.stderr)
    return 0 if answer else 1


def main() -> int:
    parser = argparse.ArgumentParser("python -m examples.basic_chat", description=__doc__)
    parser.add_argument("question", nargs="?", default="What does this project do?")
    parser.add_argument("--provider", default="embedded")
    given = parser.parse_args()
    try:
        return ask(given.provider, given.question)
    except AvatarError as error:  # it is not installed, not logged in, not known
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
