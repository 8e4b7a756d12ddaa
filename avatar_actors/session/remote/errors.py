"""Translates errors of the network libraries into errors of this package that say what to do."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import cast

import httpx
import trio
from acp.http.client import AcpHttpStatusError
from websockets.exceptions import InvalidStatus

from avatar_actors.model.errors import (
    AgentError,
    AgentNeedsLogin,
    AgentNotFound,
    AgentRefused,
    AvatarStartError,
    ConnectionLost,
)
from avatar_actors.session.remote.link import RemoteContext

_TIMEOUTS = (TimeoutError, trio.TooSlowError, httpx.TimeoutException)


def explained(
    error: Exception, context: RemoteContext, *, was_up: bool = False
) -> AgentError | AvatarStartError:
    """The translated error, without the secrets that the original may hold."""
    if was_up:
        lost = f"the connection to {context.remote.shown} was lost: {_words(error)}"
        return ConnectionLost(context.redactor.hide(lost))
    found = _start_error(error, context)
    hide = context.redactor.hide
    return type(found)(hide(found.message), hide(found.advice))


def _start_error(error: Exception, context: RemoteContext) -> AvatarStartError:
    where = context.remote.shown
    status = _status(error)
    if status is not None:
        return _refused(status, where)
    causes = list(_causes(error))
    for each in causes:
        match each:
            case ssl.SSLError():
                words = f"no secure connection to {where}: {each.reason or each}"
                return AvatarStartError(words, f"{each.strerror or each}")
            case socket.gaierror():
                words = f"the host of {where} is not known: {each.strerror or each}"
                return AgentNotFound(words, "Check the name in `url`.")
            case ConnectionRefusedError() | OSError(errno=errno.ECONNREFUSED):
                return AgentNotFound(f"nothing listens at {where}", "Is the agent's server up?")
            case _:
                pass
    if any(isinstance(each, _TIMEOUTS) for each in causes):
        words = f"{where} did not answer within {context.patience:g} s"
        return AgentRefused(words, "Raise timeouts.start if it is only slow.")
    return AgentRefused(f"no connection to {where}: {_words(error)}")


def _refused(status: int, where: str) -> AvatarStartError:
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        advice = "Give a valid token: headers={'Authorization': 'Bearer …'}"
        return AgentNeedsLogin(f"{where} refused the login with HTTP {status}", advice)
    if status in {httpx.codes.NOT_FOUND, httpx.codes.GONE}:
        return AgentNotFound(f"there is no agent at {where}: HTTP {status}", "Check its path.")
    if httpx.codes.is_redirect(status):
        words = f"{where} sends on to another address with HTTP {status}"
        return AgentRefused(words, "Give that address as `url`.")
    return AgentRefused(f"{where} answered with HTTP {status}")


def _status(error: Exception) -> int | None:
    if isinstance(error, AcpHttpStatusError):
        return error.status_code
    if isinstance(error, InvalidStatus):
        return error.response.status_code
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all of its causes."""
    yield error
    behind = [error.__cause__ or error.__context__]
    if isinstance(error, BaseExceptionGroup):
        behind += cast("BaseExceptionGroup[BaseException]", error).exceptions
    for each in behind:
        if each is not None:
            yield from _causes(each)


def _words(error: Exception) -> str:
    text = str(error)
    return text if type(error) is ConnectionError else f"{type(error).__name__}: {text}"
