"""Secrets with odd signs, under odd names, in odd forms: hidden, at a cost that does not grow."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from avatar_actors import LogSettings, open_runtime
from avatar_actors.model.redaction import Redactor, is_secret_name, of_environment
from avatar_actors.observe.log_lines import SecretsFilter
from tests.runtime.home import PATIENCE, Home, script

ODD = "pa\"ss'w\\ö/rd \N{GRINNING FACE}+1"
SHORTEST = 6


def forms_of(secret: str) -> set[str]:
    """Ways to write it, each as its reader would."""
    data = secret.encode()
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        ascii(secret)[1:-1],
        repr(f"\"'{secret}")[4:-1],
        quote(secret),
        quote(secret, safe=""),
        quote(secret, safe="!'()*"),
        quote_plus(secret),
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode().rstrip("="),
    }


# Few letters, so that secrets overlap, repeat and begin alike; none that stand in the mark.
letters = st.text('ab"\\', min_size=SHORTEST, max_size=10)
secrets = st.lists(letters | st.just(ODD), min_size=1, max_size=4)


@st.composite
def texts(draw: st.DrawFn, words: list[str]) -> str:
    """Secrets in any form, whole and cut, among other letters."""
    form = st.sampled_from([form for word in words for form in sorted(forms_of(word))])
    piece = st.text('ab"\\-', max_size=6) | form | form.map(lambda each: each[: len(each) // 2])
    return "".join(draw(st.lists(piece, max_size=6)))


def slowly_hidden(text: str, secrets: list[str]) -> str:
    """Each place of the text held against each form."""
    signs = list(text)
    ends = (len(text), len(text.rstrip("'\"")))
    for form in Redactor(secrets).forms:
        for start in range(len(text)):
            rests = [end for end in ends if end - start >= SHORTEST]
            if text.startswith(form, start):
                signs[start : start + len(form)] = "\0" * len(form)
            for end in (end for end in rests if form.startswith(text[start:end])):
                signs[start:end] = "\0" * (end - start)
    return re.sub("\0+", "[secret]", "".join(signs))


@given(st.data())
def test_every_form_of_every_secret_is_hidden(data: st.DataObject) -> None:
    words = data.draw(secrets)
    text = data.draw(texts(words))
    shown = Redactor(words).hide(text)
    assert not [form for word in words for form in forms_of(word) if form in shown]


@given(st.data(), st.integers(0, 60))
def test_what_is_hidden_is_what_a_slow_search_hides(data: st.DataObject, others: int) -> None:
    words = data.draw(secrets)
    text = data.draw(texts(words))
    redactor = Redactor(words)
    for n in range(others):  # more than the text has places: then these are looked up
        redactor.learn(Redactor([f"{n:06}-of-another"]))
    assert re.sub(r"(\[secret\])+", "[secret]", redactor.hide(text)) == slowly_hidden(text, words)


@pytest.mark.parametrize("before", ["", "x", "xy", "user:"])
def test_one_inside_of_base64_is_hidden_but_for_its_edges(before: str) -> None:
    written = base64.b64encode(f"{before}{ODD}".encode()).decode()
    shown = Redactor([ODD]).hide(written)
    assert len(shown.replace("[secret]", "")) <= len(before) * 4 // 3 + 4
    assert "[secret]" in shown


def test_item_2_the_forms_of_many_avatars_are_those_of_each() -> None:
    log = SecretsFilter()
    each = len(Redactor([ODD]).forms)
    for n in range(300):  # with forms of forms, the fifteenth takes ten seconds
        log.learn(f"avatar-{n}", Redactor([f"{n:03}{ODD}"]))
    assert len(log.known.forms) <= 300 * (each + 4)
    for n in range(300):
        log.let_go(f"avatar-{n}")
    log.learn("the last", Redactor([ODD]))
    assert log.known.forms == Redactor([ODD]).forms


@pytest.mark.parametrize(
    "name",
    [
        *("DB_PASS", "SSH_PASSPHRASE", "GITHUB_PAT", "SESSION_COOKIE", "MYSQL_PWD", "SSHPASS"),
        *("npm_config__password", "AWS_SECRET_ACCESS_KEY", "SLACK_WEBHOOK_URL", "db-pass"),
    ],
)
def test_low_6_names_that_tell_of_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "XDG_DATA_PATH", "PATTERN", "COMPASS", "COMPASS_HOST", "BYPASS_LIST", "PWD"),
        *("OLDPWD", "COOKIECUTTER_CONFIG", "HOME", "LANG", "PASSENGER_COUNT"),
    ],
)
def test_low_6_names_that_only_look_like_it(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("postgres://app:s3cr%2Ft-pw@db:5432/main", "s3cr%2Ft-pw"),
        ("postgres://app:s3cr%2Ft-pw@db:5432/main", "s3cr/t-pw"),
        ("http://me:open@sesame@proxy:3128", "open@sesame"),
        ("postgresql://app:sla/sh-pw@db/main", "sla/sh-pw"),
        ("one redis://:first-pw@a/0, redis://:second-pw@b/0", "second-pw"),
        ("https://ghp_1234567890@github.com/me/it.git", "ghp_1234567890"),
        ("jdbc:postgresql://db/main?user=me&password=hunter22", "hunter22"),
        ("host=db user=me password=hunter22", "hunter22"),
        ("Server=db;Pwd=hunter22;Database=main", "hunter22"),
    ],
)
def test_low_6_passwords_inside_of_other_values(value: str, secret: str) -> None:
    assert secret in set(of_environment({"DATABASE_URL": value}))


@pytest.mark.parametrize(
    "value", ["/usr/bin:/bin", "postgres://postgres@localhost/db", "https://example.org:8080/a"]
)
def test_low_6_values_without_a_password_stay(value: str) -> None:
    assert set(of_environment({"PLAIN": value})) == set()


async def test_low_6_the_log_shows_no_form_of_a_password(tmp_path: Path) -> None:
    file, home = tmp_path / "avatars.log", Home(tmp_path)
    said = " ".join(sorted(forms_of("hunter22/+ö")))
    env = {"DATABASE_URL": f"postgres://app:{quote('hunter22/+ö', safe='')}@db/main"}
    with trio.fail_after(PATIENCE):
        async with open_runtime(log=LogSettings(file=file, level="DEBUG")) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options(env=env))
            await aria.chat(script({"stderr": f"said: {said}"}, {"say": "done"}))
    written = file.read_text()
    assert "said: [secret]" in written
    assert not [form for form in forms_of("hunter22/+ö") if form in written]
