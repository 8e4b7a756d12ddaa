"""The page about failures knows every outcome, every public error and the events of trouble."""

import inspect
import re

import avatar_actors
import avatar_actors.model.errors
from avatar_actors import AvatarError, Outcome
from tests.docs.test_avatar_pages import named, page

PAGE = page("failures")


def rows(heading: str) -> list[str]:
    table = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def test_every_outcome_has_its_row() -> None:
    assert sorted(rows("A prompt that does not end well")) == sorted(each.name for each in Outcome)


def test_every_public_error_is_told() -> None:
    public = [getattr(avatar_actors, name) for name in avatar_actors.__all__]
    errors = {
        each.__name__ for each in public if inspect.isclass(each) and issubclass(each, AvatarError)
    }
    assert sorted(errors - named(PAGE)) == []
    assert sorted(set(rows("Errors")) - set(vars(avatar_actors.model.errors))) == []
