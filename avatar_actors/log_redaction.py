"""A filter of the package's loggers that hides the avatars' secrets, tracebacks included."""

from __future__ import annotations

import logging
from collections.abc import Collection, Generator
from contextlib import contextmanager

from avatar_actors.log_lines import LOGGERS
from avatar_actors.redaction import Redactor

PACKAGE = "avatar_actors"
_OURS = (PACKAGE, "supervisors")
_TRACEBACKS = logging.Formatter()

# By library custom: who sets up no logging is not bothered by ours.
# A host that configures no logging gets errors and events, not the supervisors' tracebacks too.
for _name in _OURS:
    logging.getLogger(_name).addHandler(logging.NullHandler())


class SecretsFilter(logging.Filter):
    """Lets every record pass, changing only those that show a secret. For any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._of_avatars: dict[str, Redactor] = {}
        self._all = Redactor()

    def learn(self, avatar: str, redactor: Redactor, present: Collection[str]) -> None:
        """One more avatar's secrets; those of avatars that are not present any more go."""
        stay = {name: each for name, each in self._of_avatars.items() if name in present}
        self._of_avatars = {**stay, avatar: redactor}
        together = Redactor()
        for each in self._of_avatars.values():
            together = together.with_those_of(each)
        self._all = together

    def filter(self, record: logging.LogRecord) -> bool:
        """Hide what must not be shown, in the message, the traceback and the stack."""
        hide = self._all.hide
        message = record.getMessage()
        if hide(message) != message:
            record.msg, record.args = hide(message), None
        if record.exc_info and record.exc_info[0] is not None:
            traceback = record.exc_text or _TRACEBACKS.formatException(record.exc_info)
            if hide(traceback) != traceback:
                # A handler would print the error itself, or what is around it.
                record.exc_info, record.exc_text = None, hide(traceback)
        if record.stack_info:
            record.stack_info = hide(record.stack_info)
        return True


@contextmanager
def hiding_secrets() -> Generator[SecretsFilter]:
    """The filter, on all loggers of ours, whoever listens to them."""
    secrets = SecretsFilter()
    known = [name for name in logging.Logger.manager.loggerDict if name.startswith(f"{PACKAGE}.")]
    loggers = [logging.getLogger(name) for name in {*_OURS, *LOGGERS, *known}]
    for logger in loggers:
        logger.addFilter(secrets)
    try:
        yield secrets
    finally:
        for logger in loggers:
            logger.removeFilter(secrets)
