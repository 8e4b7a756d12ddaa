"""What a keeper, or the warden in its place, has told of a lease."""

import os


class KeeperReport:
    """Collects the lines that the program `warden.keeper` writes, and ignores unknown ones."""

    def __init__(self) -> None:
        self.agent: int | None = None
        self.keeper: int | None = None
        self.failure: tuple[int, str] | None = None
        self.exit_code: int | None = None
        self.is_lost = False
        self.is_gone = False
        # Processes besides the agent that the keeper, or the warden, has seen go.
        self.reaped = 0
        self.left: tuple[int, ...] = ()
        self.denied: tuple[int, ...] = ()
        # Who was below a keeper that has no warden above it any more, as `PID.STARTTIME`.
        self.ledger: tuple[str, ...] = ()

    def hear(self, words: list[str]) -> None:
        """Take in one line."""
        match words:
            case ["running", agent, keeper]:
                self.agent, self.keeper = int(agent), int(keeper)
            case ["failed", error, place]:
                self.failure = int(error), place
            case ["exited", code]:
                self.exit_code = int(code)
            case ["stuck", left, denied]:
                self.left, self.denied = _pids(left), _pids(denied)
            case ["ledger", ledger]:
                self.ledger = tuple(ledger.split(","))
            case ["lost"]:
                self.is_lost = True
            case ["gone", count]:
                self.is_gone, self.reaped = True, int(count)
            case _:
                pass

    def is_decided(self) -> bool:
        """Whether the agent runs, or will not."""
        return self.agent is not None or self.failure is not None

    def has_exited(self) -> bool:
        """Whether the agent itself has ended: it dies with a killed keeper."""
        return self.exit_code is not None or self.is_lost or self.is_gone

    def is_settled(self) -> bool:
        """Whether everybody is gone, or some are known not to go."""
        return self.is_gone or bool(self.left)

    def refusal(self, argv0: str, cwd: str) -> OSError:
        """The system's error, as an OSError of the kind that Python would have raised here."""
        error, place = self.failure or (0, "argv")
        return OSError(error, os.strerror(error), cwd if place == "cwd" else argv0)


def _pids(word: str) -> tuple[int, ...]:
    return () if word == "-" else tuple(map(int, word.split(",")))
