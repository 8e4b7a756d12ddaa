"""The event logger: the actor that writes the avatars' events to the package's loggers.

The words of a line are left to `log_lines`, its file to `log_output`.
"""

from __future__ import annotations

from avatar_actors.avatar.actor_client import follow_all
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import EventRouterMessage, Follow
from avatar_actors.model.events import AvatarEvent
from avatar_actors.observe.log_lines import LOGGED, LOGGERS, line_of
from avatar_actors.session.messages import Nothing
from supervisors import Address, Inbox, SafeLogger


async def event_logger(inbox: Inbox[Nothing], router: Address[EventRouterMessage]) -> None:
    """Writes each event as a line; when it is stopped, it still writes those that have come."""
    stream = EventStream(kinds=LOGGED)
    try:
        async with follow_all(router, Follow(stream)):
            inbox.ready()
            async for event in stream:
                _write(event)
    finally:
        for event in stream.take_nowait():
            _write(event)


_LOGGERS = {name: SafeLogger(name) for name in LOGGERS}


def _write(event: AvatarEvent) -> None:
    line = line_of(event)
    # Most hosts log warnings alone, and most events are none.
    if line is not None and _LOGGERS[line.logger].isEnabledFor(line.level):
        about = {"avatar": event.avatar, "provider": event.provider, "turn_id": event.turn_id}
        _LOGGERS[line.logger].log(line.level, "%s", line.text, extra=about)
