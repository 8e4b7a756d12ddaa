"""The kinds of faults: what each does, how it is known to have landed, and what it needs."""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct


class FaultKind(Enum):
    """What can go wrong on purpose."""

    RAISE_IN_ACTOR = "raise_in_actor"
    RAISE_IN_VITAL = "raise_in_vital"
    RAISE_IN_START = "raise_in_start"
    EXIT = "exit"
    HANG = "hang"
    KILL_AGENT = "kill_agent"
    STOP_AGENT = "stop_agent"
    TERM_AGENT = "term_agent"
    KILL_KEEPER = "kill_keeper"
    KILL_WARDEN = "kill_warden"
    STOP_WARDEN = "stop_warden"
    TERM_WARDEN = "term_warden"
    KILL_TOOL = "kill_tool"
    STOP_TOOL = "stop_tool"
    TERM_TOOL = "term_tool"
    CLOSE_STDOUT = "close_stdout"
    HALF_LINE = "half_line"
    GARBAGE = "garbage"
    FLOOD = "flood"
    STDERR_FLOOD = "stderr_flood"
    SLOW_SUBSCRIBER = "slow_subscriber"
    FULL_MAILBOX = "full_mailbox"
    EMFILE = "emfile"
    ENOSPC = "enospc"
    KILL_IN_START = "kill_in_start"
    KILL_IN_STOP = "kill_in_stop"
    KILL_IN_BACKOFF = "kill_in_backoff"
    CANCEL_IN_RESTART = "cancel_in_restart"


class KindFacts(Struct, frozen=True, kw_only=True):
    """What is known of a kind. `weight` is how often it comes, relative to the others.

    The schedule picks one of its `variants`. `is_script`: only an agent that plays scripts has it.
    """

    about: str
    proof: str
    is_script: bool = False
    weight: int = 2
    variants: tuple[str, ...] = ("",)


# Faults of the agent itself are the most common in practice; those that hit all avatars are rare.
_OFTEN, _RARE = 4, 1
_WARDENS = ("anchor", "server", "both")
_K = FaultKind

KINDS: Final[dict[FaultKind, KindFacts]] = {
    _K.RAISE_IN_ACTOR: KindFacts(
        about="the wire raises in the bridge, in the middle of its work",
        proof="the bridge raised this fault's error, and the session was lost",
    ),
    _K.RAISE_IN_VITAL: KindFacts(
        about="a subscriber raises in the activity tracker, without which an avatar ends",
        proof="the avatar is down, and gives this fault's error as the reason",
        weight=_RARE,
    ),
    _K.RAISE_IN_START: KindFacts(
        about="the agent is killed, and its next starts raise, one to three times",
        proof="so many starts raised, each with this fault's error",
    ),
    _K.EXIT: KindFacts(
        about="the agent exits with 0 in the middle of a turn",
        proof="the turn's outcome is crashed, and the process is gone",
        is_script=True,
    ),
    _K.HANG: KindFacts(
        about="the agent stops reading and working; the turn has a timeout",
        proof="the turn's outcome is timed out",
        is_script=True,
    ),
    _K.KILL_AGENT: KindFacts(about="SIGKILL of the agent", proof="its pid is gone", weight=_OFTEN),
    _K.STOP_AGENT: KindFacts(
        about="SIGSTOP of the agent, SIGCONT later",
        proof="the kernel showed it stopped, and later running",
    ),
    _K.TERM_AGENT: KindFacts(about="SIGTERM of the agent", proof="its pid is gone", weight=_OFTEN),
    _K.KILL_KEEPER: KindFacts(
        about="SIGKILL of the agent's keeper",
        proof="the pids of keeper and agent are gone",
    ),
    _K.KILL_WARDEN: KindFacts(
        about="SIGKILL of the warden: its anchor, its server, or both",
        proof="the pids are gone, and a warden serves again",
        weight=_RARE,
        variants=_WARDENS,
    ),
    _K.STOP_WARDEN: KindFacts(
        about="SIGSTOP of the warden, SIGCONT later: nothing can start meanwhile",
        proof="the kernel showed it stopped, and later running",
        weight=_RARE,
        variants=_WARDENS,
    ),
    _K.TERM_WARDEN: KindFacts(
        about="SIGTERM of the warden, which ignores it",
        proof="the signal was delivered to a living process, which lives on",
        weight=_RARE,
        variants=_WARDENS,
    ),
    _K.KILL_TOOL: KindFacts(
        about="SIGKILL of a tool's process",
        proof="its pid is gone, and the tool is reported as failed",
        is_script=True,
    ),
    _K.STOP_TOOL: KindFacts(
        about="SIGSTOP of a tool's process, SIGCONT later",
        proof="the kernel showed it stopped, and the turn ended afterwards",
        is_script=True,
    ),
    _K.TERM_TOOL: KindFacts(
        about="SIGTERM of a tool's process",
        proof="its pid is gone, and the tool is reported as failed",
        is_script=True,
    ),
    _K.CLOSE_STDOUT: KindFacts(
        about="the agent closes its stdout and lives on",
        proof="the turn's outcome is crashed, and the process is gone",
        is_script=True,
    ),
    _K.HALF_LINE: KindFacts(
        about="the agent writes half a line and dies",
        proof="the turn's outcome is crashed, and the process is gone",
        is_script=True,
    ),
    _K.GARBAGE: KindFacts(
        about="random bytes on the agent's stdout",
        proof="a diagnostic of the wire in this turn",
        is_script=True,
    ),
    _K.FLOOD: KindFacts(
        about="thousands of messages as fast as they can be written",
        proof="each of them was counted in the turn's text",
        is_script=True,
    ),
    _K.STDERR_FLOOD: KindFacts(
        about="a megabyte on the agent's stderr",
        proof="a diagnostic of stderr in this turn",
        is_script=True,
    ),
    _K.SLOW_SUBSCRIBER: KindFacts(
        about="a subscriber with room for 64 events does not read during a flood",
        proof="its stream merged or dropped, said so, and has all of the text",
        is_script=True,
    ),
    _K.FULL_MAILBOX: KindFacts(
        about="more calls at once than the turn queue's mailbox can hold",
        proof="more were open at one moment than fit in; all were answered",
    ),
    _K.EMFILE: KindFacts(
        about="no descriptor is left (RLIMIT_NOFILE lowered), and the agent is killed",
        proof="the start failed with EMFILE in a supervisor's notice",
        weight=_RARE,
    ),
    _K.ENOSPC: KindFacts(
        about="the agent is killed, and a file of its next start cannot be written",
        proof="the start failed with the kernel's own ENOSPC in a supervisor's notice",
        weight=_RARE,
    ),
    _K.KILL_IN_START: KindFacts(
        about="SIGKILL of an agent that is not ready yet",
        proof="the process was there, its session not ready yet, and is gone",
    ),
    _K.KILL_IN_STOP: KindFacts(
        about="SIGKILL of an agent whose avatar is being stopped by its host",
        proof="the signal hit a living process before stop() returned; nothing is left",
    ),
    _K.KILL_IN_BACKOFF: KindFacts(
        about="SIGKILL of the warden in the pause before an agent's next life",
        proof="the warden's pid was gone before the next life began",
        weight=_RARE,
        variants=_WARDENS,
    ),
    _K.CANCEL_IN_RESTART: KindFacts(
        about="the host cancels a prompt, stops the avatar, or cancels a start, mid-restart",
        proof="the call was cancelled while no session was ready; nothing is left of it",
        variants=("prompt", "avatar", "start"),
    ),
}


def possible(kinds: tuple[FaultKind, ...], *, plays_scripts: bool) -> tuple[FaultKind, ...]:
    """Those of the kinds (of all, if none is given) that such an agent can play."""
    return tuple(kind for kind in kinds or FaultKind if plays_scripts or not KINDS[kind].is_script)
