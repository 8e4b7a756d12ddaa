"""Sealed connections: the system's certificates decide, and nobody else."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from avatar_actors import AvatarStartError
from tests.session.remote.conftest import sdk_server
from tests.session.remote.place import TOKEN, Place, play


@pytest.fixture(scope="module")
def sealed(certificate: Path) -> Generator[int]:
    with sdk_server(token=TOKEN, certificate=str(certificate)) as port:
        yield port


@pytest.fixture
def trusted(certificate: Path) -> Generator[None]:
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(certificate)
    try:
        yield
    finally:
        del os.environ["SSL_CERT_FILE"]
        if before is not None:
            os.environ["SSL_CERT_FILE"] = before


@pytest.mark.usefixtures("trusted")
async def test_a_sealed_connection_carries_a_turn(place: Place, sealed: int) -> None:
    url = f"{place.scheme}s://127.0.0.1:{sealed}/acp"
    async with place.avatar(url=url) as aria:
        answer = await aria.chat(play({"chunks": 100}))
    assert answer.content == "".join(f"{number} " for number in range(100))


async def test_a_certificate_that_nobody_trusts_is_refused(place: Place, sealed: int) -> None:
    url = f"{place.scheme}s://127.0.0.1:{sealed}/acp"
    with pytest.raises(AvatarStartError, match="no secure connection") as caught:
        async with place.avatar(url=url):
            pass
    assert "certificate" in str(caught.value).lower()
