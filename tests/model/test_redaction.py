"""Secrets are hidden whole, cut, escaped and in a repr; what is no secret stays."""

import json
from base64 import b64encode

import pytest

from avatar_actors import AvatarSettings, LaunchPlan, McpServer
from avatar_actors.model.redaction import Redactor
from avatar_actors.processes import Launch

KEY = "sk-very-secret-1234"


@pytest.mark.parametrize("size", range(6, len(KEY)))
def test_the_beginning_of_one_at_the_end_of_a_cut_text_is_hidden(size: int) -> None:
    redactor = Redactor([KEY])
    for end in ("", "'", "'\""):
        assert redactor.hide(f"a line: '{KEY[:size]}{end}") == f"a line: '[secret]{end}"


def test_what_only_looks_like_the_beginning_of_one_stays() -> None:
    redactor = Redactor([KEY])
    for text in ("sk-ver", "sk-very-other", "sk-very-secret-1235 and more"):
        assert redactor.hide(f"{text}.") == f"{text}."
    assert redactor.hide("sk-ve") == "sk-ve"


def test_one_that_repeats_its_beginning_is_found_at_the_cut() -> None:
    assert Redactor(["abcabcabcXYZ"]).hide("- abcabcabcabc") == "- abc[secret]"


@pytest.mark.parametrize("secret", ['pass"word\\1', "pässwörter", "tab\there-is-one"])
def test_one_is_hidden_also_as_json_and_repr_have_it(secret: str) -> None:
    redactor = Redactor([secret])
    for shown in (
        secret,
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        ascii(secret),
    ):
        assert redactor.hide(f"<{shown}>").replace('"', "").replace("'", "") == "<[secret]>"


def test_one_that_learns_from_others_hides_what_any_of_them_still_does() -> None:
    every, one = Redactor(), Redactor(["one-secret", "shared-secret"])
    for each in (one, Redactor(["two-secret", "shared-secret"])):
        every.learn(each)
    assert every.hide("one-secret two-secret") == "[secret] [secret]"
    every.forget(one)
    assert every.hide("one-secret two-secret shared-secret") == "one-secret [secret] [secret]"


@pytest.mark.parametrize(
    "holder",
    [
        AvatarSettings(env={"MY_VAR": KEY}),
        AvatarSettings(headers={"Authorization": f"Bearer {KEY}"}),
        AvatarSettings(mcp_servers=(McpServer(name="db", command="db", env={"MY_VAR": KEY}),)),
        McpServer(name="db", url="https://db", headers={"Authorization": KEY}),
        LaunchPlan(argv=("agent",), env={"MY_VAR": KEY}, files={"mcp.json": KEY}),
        Launch(argv=("agent",), cwd="/", env={"MY_VAR": KEY}),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_a_repr_shows_names_and_no_values(holder: object) -> None:
    for words in (repr(holder), str(holder), f"{[holder]}"):
        assert KEY not in words
        assert type(holder).__name__ in words


def test_a_repr_shows_all_the_rest() -> None:
    words = repr(AvatarSettings(model="tiny", env={"MY_VAR": KEY}))
    assert "model='tiny'" in words
    assert "env=['MY_VAR']" in words


@pytest.mark.parametrize("secret", [KEY, KEY + "5", KEY + "56"])
def test_one_alone_in_base64_is_hidden_to_its_last_digit(secret: str) -> None:
    encoded = b64encode(secret.encode()).decode()
    for shown in {encoded, encoded.rstrip("=")}:
        assert Redactor([secret]).hide(f"Basic {shown}.") == "Basic [secret]."
