"""The supervision tree as other programs see it, and the record of starts and crashes behind it.

Pure: sending it is left to `server`, reading it to `client`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial

import msgspec
from msgspec import Struct

from avatar_actors.model.events import (
    AvatarEvent,
    EngineStateEvent,
    QueueEvent,
    StateEvent,
)
from avatar_actors.model.values import EngineState
from supervisors import (
    Crashed,
    GaveUp,
    Notice,
    Phase,
    Ready,
    Restarting,
    Started,
    Stopped,
    Stuck,
    TreeNode,
)


class TreeHappening(StrEnum):
    """What can happen to a part of the tree."""

    READY = "ready"
    CRASHED = "crashed"
    RESTARTING = "restarting"
    GAVE_UP = "gave_up"
    STUCK = "stuck"
    STOPPED = "stopped"


class TreeChange(Struct, frozen=True, kw_only=True):
    """Something happened to a part of the tree."""

    what: TreeHappening
    path: str
    time: float
    """In seconds since the epoch."""
    life: int = 0
    error: str = ""
    """The kind of a crash's error; its words may be private."""
    delay: float = 0.0
    """Seconds until a restart."""


class TreePart(Struct, frozen=True, kw_only=True):
    """One actor or supervisor, and its children."""

    name: str
    state: str
    since: float
    """When its present life began, in seconds since the epoch."""
    life: int = 1
    crashes: int = 0
    waiting: int = 0
    """Messages in its mailbox."""
    due: float | None = None
    """When its next life begins, if it waits for a restart."""
    strategy: str = ""
    """Empty for an actor."""
    doing: str = ""
    """Of an avatar: its `EngineState`, as `idle` or `waiting_approval`."""
    prompts: int = 0
    """Of an avatar: the prompts that wait behind its turn."""
    pid: int | None = None
    """Of an avatar: the process of its agent, while there is one."""
    children: tuple[TreePart, ...] = ()


class TreeSnapshot(Struct, frozen=True, kw_only=True):
    """The whole tree of a program at `time`, and the changes since the previous snapshot."""

    pid: int
    program: str
    since: float
    time: float
    changes: tuple[TreeChange, ...]
    missed: int
    """Changes that came too fast to be listed; the tree itself is always complete."""
    tree: TreePart


_AVATAR = 3
_AVATARS = "runtime/avatars/"


class _Note(Struct, frozen=True):
    since: float
    crashes: int = 0
    due: float | None = None


class _Doing(Struct, frozen=True):
    """What an avatar does, by its last events."""

    doing: str = EngineState.IDLE.value
    prompts: int = 0
    pid: int | None = None


# The events that `TreeRecord.hear` understands.
HEARD = (EngineStateEvent, QueueEvent, StateEvent)


class TreeRecord:
    """Records notices and describes the tree. `epoch` is added to trio's clock to get wall time."""

    def __init__(self, now: float, epoch: float) -> None:
        self._began = now
        self._epoch = epoch
        # By avatar, so that all notes of one can be dropped at once.
        self._notes: dict[str, dict[str, _Note]] = {}
        self._doing: dict[str, _Doing] = {}

    @property
    def since(self) -> float:
        """When it began, in seconds since the epoch."""
        return self.wall(self._began)

    def tell(self, notice: Notice) -> TreeChange | None:
        """Record a notice; the change that others are told of, if any."""
        self._remember(notice)
        change = _change(notice)
        return change and msgspec.structs.replace(change, time=self.wall(change.time))

    def hear(self, event: AvatarEvent) -> None:
        """Record what an avatar does."""
        known = self._doing.get(event.avatar, _Doing())
        match event:
            case EngineStateEvent(new_state=state):
                known = msgspec.structs.replace(known, doing=state.value)
            case QueueEvent(waiting=waiting):
                known = msgspec.structs.replace(known, prompts=waiting)
            case StateEvent(pid=pid):
                known = msgspec.structs.replace(known, pid=pid)
            case _:
                pass
        self._doing[event.avatar] = known

    def wall(self, time: float) -> float:
        """A time of trio's clock, in seconds since the epoch."""
        return round(time + self._epoch, 3)

    def picture(self, node: TreeNode) -> TreePart:
        """The tree from this node down, as it is."""
        return self.part(node, tuple(map(self.picture, node.children)))

    def part(self, node: TreeNode, children: tuple[TreePart, ...]) -> TreePart:
        """This node as it is, above the pictures of its children."""
        note = self._note(node.path)
        is_restarting = node.phase is Phase.RESTARTING
        is_avatar = node.path.startswith(_AVATARS) and _avatar_of(node.path) == node.path
        known = self._doing.get(node.name) if is_avatar else None
        return TreePart(
            doing=known.doing if known else "",
            prompts=known.prompts if known else 0,
            pid=known.pid if known else None,
            name=node.name,
            state=node.phase.value,
            since=self.wall(note.since),
            life=node.life,
            crashes=note.crashes,
            waiting=node.waiting,
            due=self.wall(note.due) if note.due is not None and is_restarting else None,
            strategy=node.strategy.value if node.strategy else "",
            children=children,
        )

    def _remember(self, notice: Notice) -> None:
        note = self._note(notice.path)
        match notice:
            case Started(time=time):
                note = _Note(time, note.crashes)
            # A supervisor that gives up ends as one that was shut down.
            case Crashed() | GaveUp():
                note = _Note(note.since, note.crashes + 1)
            case Restarting(time=time, delay=delay):
                note = _Note(note.since, note.crashes, time + delay)
            case _:
                pass
        avatar = _avatar_of(notice.path)
        self._notes.setdefault(avatar, {})[notice.path] = note
        is_end = isinstance(notice, Stopped | Crashed | Stuck)
        if is_end and avatar == notice.path:
            del self._notes[avatar]
            self._doing.pop(avatar.rpartition("/")[2], None)

    def _note(self, path: str) -> _Note:
        return self._notes.get(_avatar_of(path), {}).get(path) or _Note(self._began)


def _avatar_of(path: str) -> str:
    """The path of the avatar it belongs to; empty for the runtime's own parts."""
    names = path.split("/")
    return "/".join(names[:_AVATAR]) if len(names) >= _AVATAR else ""


def _change(notice: Notice) -> TreeChange | None:
    happening = partial(TreeChange, path=notice.path, time=notice.time)
    match notice:
        case Crashed(life=life, error=error):
            kind = type(error).__name__ if error is not None else ""
            change = happening(what=TreeHappening.CRASHED, life=life, error=kind)
        case Restarting(delay=delay):
            change = happening(what=TreeHappening.RESTARTING, delay=round(delay, 3))
        # A session has one life and its avatar decides about the next, so this is a crash.
        case GaveUp(path=path) if path.endswith("/session"):
            change = happening(what=TreeHappening.CRASHED)
        case GaveUp():
            change = happening(what=TreeHappening.GAVE_UP)
        case Ready(life=life):
            change = happening(what=TreeHappening.READY, life=life)
        case Stuck(life=life):
            change = happening(what=TreeHappening.STUCK, life=life)
        case Stopped(life=life):
            change = happening(what=TreeHappening.STOPPED, life=life)
        case _:
            return None
    return change
