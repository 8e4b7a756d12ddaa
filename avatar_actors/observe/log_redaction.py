"""A filter of the package's loggers that hides the avatars' secrets, tracebacks included."""

from __future__ import annotations

import logging
from collections.abc import Generator, Set
from contextlib import contextmanager

from avatar_actors.model.redaction import Redactor
from avatar_actors.observe.log_lines import LOGGERS

PACKAGE = "avatar_actors"
_OURS = (PACKAGE, "supervisors")
_TRACEBACKS = logging.Formatter()

# By library custom: who sets up no logging is not bothered by ours.
# A host that configures no logging gets errors and events, not the supervisors' tracebacks too.
for _name in _OURS:
    logging.getLogger(_name).addHandler(logging.NullHandler())


class SecretsFilter(logging.Filter):
    """Lets every record pass, changing only those that show a secret. For any thread.

    Filters are called outside of what `logging` guards, so nothing is raised here: a record that
    cannot be looked at goes out without its words.
    """

    def __init__(self) -> None:
        super().__init__()
        self._of_avatars: dict[str, Redactor] = {}
        self.known = Redactor()

    def learn(self, avatar: str, redactor: Redactor, present: Set[str]) -> None:
        """One more avatar's secrets; those of avatars that are not present any more go."""
        self.known.learn(redactor)
        for name in self._of_avatars.keys() - (present - {avatar}):
            self.known.forget(self._of_avatars.pop(name))
        self._of_avatars[avatar] = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Hide what must not be shown, in the message, the traceback and the stack."""
        try:
            self._hide_in(record)
        except Exception as error:  # noqa: BLE001 - foreign code: arguments and their str()
            _empty(record, error)
        return True

    def _hide_in(self, record: logging.LogRecord) -> None:
        hide = self.known.hide
        message = record.getMessage()
        shown = hide(message)
        if shown != message:
            record.msg, record.args = shown, None
        if record.exc_info and record.exc_info[0] is not None:
            traceback = record.exc_text or _TRACEBACKS.formatException(record.exc_info)
            shown = hide(traceback)
            if shown != traceback:
                # A handler would print the error itself, or what is around it.
                record.exc_info, record.exc_text = None, shown
        if record.stack_info:
            record.stack_info = hide(record.stack_info)


def _empty(record: logging.LogRecord, error: Exception) -> None:
    """It may show a secret: all that is left of it is where it came from."""
    where = f"{record.pathname}:{record.lineno}"
    record.msg = f"a log record of {where} could not be checked: {type(error).__name__}"
    record.args = record.exc_info = record.exc_text = record.stack_info = None


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
