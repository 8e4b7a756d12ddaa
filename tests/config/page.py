"""The tables of the page about configuration, from the table in the code.

`python -m tests.config.page` writes them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from avatar_actors.config import avatar_sections, provider_sections
from avatar_actors.config.avatar_sections import Servers
from avatar_actors.config.keys import Key, Named, RemovedKey, Section
from avatar_actors.config.schema import ROOT

PAGE = Path(__file__).resolve().parents[2] / "docs" / "avatars" / "configuration.md"
BEGIN, END = "<!-- every key: begin -->\n", "<!-- every key: end -->\n"
EVERYWHERE = (*avatar_sections.AGENT, *avatar_sections.COMMAND)
HEAD = "| key | value | meaning |\n|---|---|---|\n"


def rows(keys: Iterable[Key], above: str = "") -> Iterator[str]:
    """A row for each key, and for those below it."""
    for key in keys:
        name, kind, about = f"{above}{key.name}", key.kind, key.about
        match kind:
            case Section():
                yield f"| `{name}` | {kind.words} | {about} |"
                yield from rows(kind.keys, f"{name}.")
            case Named(each) | Servers(Named(each)):
                yield f"| `{name}` | {kind.words} | {about} |"
                yield from rows(_own(each), f"{name}.NAME.")
            case RemovedKey(why):
                yield f"| `{name}` | refused | {why} |"
            case _:
                yield f"| `{name}` | {kind.words} | {about} |"


def _own(section: Section) -> list[Key]:
    return [key for key in section.keys if key not in EVERYWHERE]


def table(title: str, found: Iterable[str]) -> str:
    return f"### {title}\n\n{HEAD}" + "".join(f"{row}\n" for row in found)


def tables() -> str:
    """All of them: what several sections have in common stands once."""
    sections = {key.name: key for key in ROOT.keys}
    shared = {key.name for key in avatar_sections.SHARED}
    agents = [key for key in EVERYWHERE if key.name not in shared]
    parts = [
        table("Every avatar: `engine`, and each provider's section", rows(avatar_sections.SHARED)),
        table("Each provider's section, besides", rows(agents)),
    ]
    for name in ("claude", "gemini", "codex", "acp", "embedded"):
        kind = sections[name].kind
        assert isinstance(kind, Section)
        parts.append(table(f"Only `{name}`", rows(_own(kind), f"{name}.")))
    providers = rows(_own(provider_sections.OWN.each), "providers.NAME.")
    parts.append(table("Only `providers`, an agent of your own", providers))
    rest = [sections[name] for name in ("provider", "rate_limit", "budget", "runtime")]
    rest += [sections["logging"], sections["metrics"]]
    parts.append(table("The whole program", rows(rest)))
    return "\n".join(parts)


def main() -> None:
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{tables()}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
