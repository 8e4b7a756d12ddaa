"""What a file may say that merely lay in the current directory: it may be a stranger's.

Who clones a repository and starts an avatar in it has not read its `.avatar.yaml`. Such a file may
choose a model or a limit. It may not say what is run, where words are sent, or that nobody is
asked: for that the user names the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from avatar_actors.configuration.keys import Effect
from avatar_actors.configuration.nodes import Trust
from avatar_actors.settings import PermissionMode

# Everything else needs a file that was named, so that a new key is safe until it is put here.
_HARMLESS: Final = (
    "args.debug", "budget.*", "continue_last", "max_avatars", "max_history", "max_line", "model",
    "observable", "output_schema.*", "provider", "rate_limit.*", "restarts.*", "resume", "retry.*",
    "system_prompt", "timeouts.*", "tools.deny", "while_busy",
    "log.enabled", "log.level", "log.format", "log.max_bytes", "log.backup_count",
    "metrics.enabled", "metrics.endpoint", "metrics.kind", "metrics.port",
    "options.dialect", "options.disable_background_tasks", "options.effort",
    "options.fallback_model", "options.file_checkpoints", "options.flavour", "options.headless",
    "options.include_thoughts", "options.max_*", "options.system_prompt_snapshot",
    "options.temperature", "options.thinking_*", "options.top_?",
)  # fmt: skip


def refuse_powers(effects: Iterable[Effect]) -> None:
    """Raise ConfigError for what a file that was only found may not say."""
    for effect in effects:
        source = effect.at.source
        if source.trust is Trust.FOUND and not _is_harmless(effect):
            effect.at.refuse(
                "a file that merely lies in the current directory may not decide this; "
                f"if it is yours, name it: -c {source.name} or AVATAR_CONFIG={source.name}"
            )


def _is_harmless(effect: Effect) -> bool:
    match effect.target, effect.value:
        case "permissions", mode:
            return mode is not PermissionMode.UNRESTRICTED
        case "working_dir" | "log.file", Path() as path:
            return path.resolve().is_relative_to(effect.at.source.folder.resolve())
        case "working_dir" | "log.file", _:
            return True
        case target, _:
            return any(fnmatchcase(target, pattern) for pattern in _HARMLESS)
