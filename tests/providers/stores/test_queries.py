"""What an agent tells of its sessions and what its store has are one list."""

from pathlib import Path

import msgspec

from avatar_actors import SessionListing, SessionSearch, StoredSession, acp_provider, list_sessions
from avatar_actors.providers.stores.queries import merged
from tests.session.test_launch import environment


def session(session_id: str, title: str = "", updated_at: str = "") -> StoredSession:
    return StoredSession(session_id=session_id, title=title, updated_at=updated_at)


def test_a_session_that_both_know_is_there_once_as_the_agent_tells_it() -> None:
    told = session("a", "The agent's\ntitle", "2026-11-16T10:00:00Z")
    stored = StoredSession(
        "a", "the first prompt", "/project", "2026-11-16T09:00:00Z", "2026-01-01"
    )
    [both] = merged((told,), (stored,))
    assert both == StoredSession(
        "a", "The agent's title", "/project", "2026-11-16T10:00:00Z", "2026-01-01"
    )


def test_what_only_one_of_them_knows_is_there_too_in_the_order_of_time() -> None:
    told = (session("b", "b", "2026-11-16T10:00:00+02:00"), session("odd", "o", "yesterday"))
    stored = (session("c", "c", "2026-11-16T09:00:00Z"), session("a", "a", "2026-11-16T07:00:00"))
    assert [each.session_id for each in merged(told, stored)] == ["c", "b", "a", "odd"]


def test_a_store_is_looked_for_with_the_environment_that_the_agent_would_get(
    tmp_path: Path,
) -> None:
    searches: list[SessionSearch] = []

    def store(search: SessionSearch) -> SessionListing:
        searches.append(search)
        return SessionListing()

    parrot = acp_provider("parrot", ("parrot",), passes=("PARROT_*",))
    parrot = msgspec.structs.replace(parrot, store=store)
    with environment(PARROT_HOME="passed", OTHER_SECRET="kept from it"):
        list_sessions(parrot, tmp_path, {"MINE": "given"}, limit=3)
    [search] = searches
    assert (search.env["PARROT_HOME"], search.env["MINE"]) == ("passed", "given")
    assert "OTHER_SECRET" not in search.env
    assert (search.working_dir, search.limit) == (tmp_path, 3)
