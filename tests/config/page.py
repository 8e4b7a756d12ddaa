"""The tables of the page about configuration, made from the keys in the code.

`python -m tests.config.page` writes them.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from avatar_actors.config.file_form import default_of, written
from avatar_actors.config.keys import Key, Named, RemovedKey
from avatar_actors.config.sections import EVERY_AVATAR, ROOT, WITH_COMMAND
from tests.config.table import section_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "avatars" / "configuration.md"
BEGIN, END = "<!-- every key: begin -->\n", "<!-- every key: end -->\n"
HEAD = "| key | value | default | meaning |\n|---|---|---|---|\n"


def rows(keys: Iterable[Key], above: str = "") -> Iterator[str]:
    """A row for each key, and for those below it."""
    for key in keys:
        name = f"{above}{key.name}"
        words = "refused" if key.note(RemovedKey) else key.words()
        yield f"| `{name}` | {words} | {default(key)} | {key.about()} |"
        if below := section_of(key.kind):
            inside = ".NAME." if isinstance(key.kind, Named) else "."
            yield from rows(below.keys.values(), f"{name}{inside}")


def default(key: Key) -> str:
    """As the file would write it; nothing where the agent decides, or where there is none."""
    value = default_of(key).value
    return "" if value in (None, "", [], {}) else f"`{written(value)}`"


def besides(keys: Mapping[str, Key], known: Mapping[str, Key]) -> list[Key]:
    return [key for key in keys.values() if known.get(key.name) != key]


def table(title: str, found: Iterable[str]) -> str:
    return f"### {title}\n\n{HEAD}" + "".join(f"{row}\n" for row in found)


def tables() -> str:
    """All of them: what several sections have in common stands once."""
    parts = [
        table("Every avatar: `engine`, and each provider's section", rows(EVERY_AVATAR.values())),
        table("Each provider's section, in addition", rows(besides(WITH_COMMAND, EVERY_AVATAR))),
    ]
    for name in ("claude", "gemini", "codex", "acp", "embedded", "providers"):
        section = section_of(ROOT.keys[name].kind)
        assert section is not None
        title, above = f"Only `{name}`", f"{name}."
        if name == "providers":
            title, above = "Only `providers`, an agent of your own", "providers.NAME."
        parts.append(table(title, rows(besides(section.keys, WITH_COMMAND), above)))
    names = ("provider", "rate_limit", "budget", "runtime", "logging", "metrics")
    parts.append(table("The whole program", rows(ROOT.keys[name] for name in names)))
    return "\n".join(parts)


def main() -> None:
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{tables()}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
