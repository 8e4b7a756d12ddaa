"""The command line of the agents that are impersonated."""

from __future__ import annotations

# Flags of Claude Code 2.1.325, Gemini CLI 0.61.0 and Codex that take no value.
_BARE = """
--acp --bare --continue --dangerously-skip-permissions --experimental-acp --fork-session
--forward-subagent-text --include-hook-events --include-partial-messages --list-sessions
--no-session-persistence --print --replay-user-messages --restricted --safe-mode
--skip-trust --strict-mcp-config --verbose --version --yolo -y
"""
# Those that take all the words up to the next flag.
_GREEDY = """
--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools
--include-directories --mcp-config --plugin-dir --tools
"""
_VALUED = """
--agents --append-system-prompt --append-system-prompt-file --approval-mode --config
--effort --fallback-model --input-format --json-schema
--max-budget-usd --max-thinking-tokens --max-turns --model --name --output-format
--permission-mode --permission-prompt-tool --permission-prompts --prompt --resume
--resume-drops-turn --resume-session-at --script --session-id --session-mirror
--setting-sources --settings --system-prompt --system-prompt-file --system-prompt-snapshot
--task-budget --thinking --thinking-display -c -m -r
"""
BARE = frozenset(_BARE.split())
GREEDY = frozenset(_GREEDY.split())
VALUED = frozenset(_VALUED.split())
SHORT = {"-m": "--model", "-r": "--resume", "-y": "--yolo", "-p": "--print", "-c": "--config"}


class UnknownFlag(Exception):
    """A flag that none of the agents knows."""


class Flags:
    """What the command line said; a flag that was given twice keeps both values."""

    def __init__(self, argv: list[str]) -> None:
        self.argv = argv
        self._values: dict[str, list[str]] = {}
        self.words: list[str] = []
        self._read(list(argv))

    def has(self, name: str) -> bool:
        """Whether the flag was given."""
        return name in self._values

    def value(self, name: str, default: str = "") -> str:
        """The last value of the flag, else the default."""
        return (self._values.get(name) or [default])[-1]

    def values(self, name: str) -> list[str]:
        """Every value of the flag."""
        return self._values.get(name, [])

    def _read(self, words: list[str]) -> None:
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                self.words.append(word)
                continue
            name, equals, value = word.partition("=")
            values = self._values.setdefault(SHORT.get(name, name), [])
            if equals and (name in VALUED or name in GREEDY):
                values.append(value)
            elif name in VALUED:
                values.extend([words.pop(0)] if words else [])
            elif name in GREEDY:
                while words and not words[0].startswith("-"):
                    values.append(words.pop(0))
            elif name == "-p" or name in BARE:
                # Gemini's -p has the prompt for a value, Claude's none: a following word is it.
                takes_word = name == "-p" and words and not words[0].startswith("--")
                values.extend([words.pop(0)] if takes_word else [])
            else:
                raise UnknownFlag(name)
