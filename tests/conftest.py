"""What holds for all tests: they start with the signals of a terminal, wherever they are run."""

import signal

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """A job in the background starts deaf to Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
