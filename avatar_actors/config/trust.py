"""What a file may say that merely lay in the current directory: it may be a stranger's.

Who clones a repository and starts an avatar in it has not read its `.avatar.yaml`. Such a file
decides nothing that writes, runs, opens a port, reaches a command line, a variable or a file of the
agent, sends words somewhere or loosens a permission: for that the user names the file. It counts
after everything that the user's own file and the environment say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from avatar_actors.config.keys import Effect
from avatar_actors.config.nodes import Trust
from avatar_actors.model.settings import PermissionMode

# Everything else needs a file that was named: a new key is refused until it is judged and put here.
FOUND_MAY_SET: Final = {
    "budget.cost_usd": "A limit of money: it only ends the spending sooner.",
    "budget.tokens": "A limit of tokens: it only ends the spending sooner.",
    "budget.turns": "A limit of prompts: it only ends the spending sooner.",
    "budget.warn_at": "It moves a warning, and the limit stays.",
    "max_avatars": "A limit: it only refuses further avatars.",
    "max_history": "It bounds what our own memory keeps of what was said.",
    "permissions": "Only `safe`, which allows less than any other mode.",
    "rate_limit.enabled": "It switches the file's own limit; one of the user's counts before it.",
    "rate_limit.per_minute": "A limit: prompts wait, and none is sent that would not be.",
    "rate_limit.burst": "A part of the same limit.",
    "timeouts.turn": "A limit: a turn is only ended sooner.",
    "timeouts.permission": "A question that nobody answers is denied, never allowed.",
    "timeouts.stall_warning": "It moves a warning about silence.",
    "timeouts.stall_alarm": "It moves an alarm about silence, which ends nothing.",
    "while_busy": "It orders the host's own prompts; none is added.",
}


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
    is_strict = effect.target != "permissions" or effect.value is PermissionMode.SAFE
    return is_strict and effect.target in FOUND_MAY_SET
