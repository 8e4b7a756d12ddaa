"""Switching the model or the mode of a living agent, for this life of it and the next ones."""

from __future__ import annotations

from avatar_actors.avatar.control import Contact
from avatar_actors.avatar.resume_messages import Chosen
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.identifiers import check_name
from avatar_actors.session.messages import CallAgent


async def choose(contact: Contact, chosen: Chosen) -> None:
    """Unsupported, with what is offered, if the agent does not take it; then all stays as it is."""
    kind, wanted = ("model", chosen.model) if chosen.model else ("mode", chosen.mode)
    if not wanted:
        raise SettingsError("name the model or mode to switch to")
    check_name(kind, wanted)
    session = await contact.session()
    await contact.ask(session.bridge, CallAgent(f"set_{kind}", {kind: wanted}))
    await contact.actors.turn_queue.tell(chosen)
