"""Makes the description of the package on an index from README.md.

There relative links lead nowhere, and pictures of the repository are not there: links become plain
text, pictures go. Set HOME once the project has an address that everybody can open: then both
stay, and point there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

HOME: Final = ""
_LINK: Final = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def index_readme(text: str, home: str = HOME) -> str:
    """The text of the README without links into the repository, or with absolute ones."""

    def replaced(link: re.Match[str]) -> str:
        target = link["target"]
        if "://" in target or target.startswith("#"):
            return link[0]
        if home:
            return f"{link['picture']}[{link['text']}]({home}/{target})"
        return "" if link["picture"] else link["text"]

    return _LINK.sub(replaced, text)


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`, which pyproject.toml leaves to this file."""

    def update(self, metadata: dict[str, object]) -> None:
        """Called by the build backend."""
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text)}
