"""What a child is, as data, and the checks that reject what cannot work."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar

from supervisors._value import Value
from supervisors.errors import SpecError

if TYPE_CHECKING:
    from supervisors.inbox import Inbox

M = TypeVar("M")

# The shortest time that may be named where zero makes no sense.
_MOMENT = 0.001


def _check_whole(what: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise SpecError(f"{what} must be a whole number of at least {least}; got {value!r}")


def _check_number(what: str, value: object, least: float, other: str = "") -> None:
    number = -math.inf if isinstance(value, bool) else value
    if isinstance(number, int) and abs(number) > sys.float_info.max:
        raise SpecError(f"{what} must fit into a float{other}; got {number.bit_length()} bits")
    if not isinstance(number, int | float) or not least <= number < math.inf:
        raise SpecError(f"{what} must be a number of at least {least:g}{other}; got {value!r}")


def _check_name(what: str, value: object) -> None:
    if not isinstance(value, str) or not value or "/" in value:
        raise SpecError(f"{what} must be a text without '/', and not empty; got {value!r}")


def _check_type(what: str, value: object, *allowed: type) -> None:
    if not isinstance(value, allowed):
        kinds = [map(str, k) if issubclass(k, Enum) else [f"a {k.__name__}"] for k in allowed]
        words = " or ".join(itertools.chain(*kinds))
        raise SpecError(f"{what} must be {words}; got {value!r}")


class Strategy(Enum):
    """Who is restarted when one child dies."""

    ONE_FOR_ONE = "one_for_one"
    ONE_FOR_ALL = "one_for_all"
    REST_FOR_ONE = "rest_for_one"
    DYNAMIC = "dynamic"


class Restart(Enum):
    """When a child that ended by itself comes back."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    TEMPORARY = "temporary"


class AutoShutdown(Enum):
    """Whether the end of significant children ends their supervisor."""

    NEVER = "never"
    ANY_SIGNIFICANT = "any_significant"
    ALL_SIGNIFICANT = "all_significant"


class Overflow(Enum):
    """What a full mailbox does with one more message."""

    WAIT = "wait"
    DROP_OLDEST = "drop_oldest"
    DROP_NEWEST = "drop_newest"
    FAIL = "fail"


class Shutdown(Enum):
    """The ways to stop a child that are not a number of seconds."""

    BRUTAL = "brutal"
    INFINITE = "infinite"


class Backoff(Value):
    """Delays between restarts: minimum·factor^n up to maximum, times 1 to 1+jitter.

    A life of `reset_after` seconds or more starts the row anew.
    """

    minimum: float = 0.1
    maximum: float = 30.0
    factor: float = 2.0
    jitter: float = 0.2
    reset_after: float = 30.0

    def __post_init__(self) -> None:
        _check_number("Backoff.minimum", self.minimum, _MOMENT)
        _check_number("Backoff.maximum", self.maximum, self.minimum)
        _check_number("Backoff.factor", self.factor, 1)
        _check_number("Backoff.jitter", self.jitter, 0)
        _check_number("Backoff.reset_after", self.reset_after, 0)


class MailboxSpec(Value):
    """How many messages may wait, and what happens to one more."""

    capacity: int = 256
    overflow: Overflow = Overflow.WAIT

    def __post_init__(self) -> None:
        _check_whole("MailboxSpec.capacity", self.capacity, 1)
        _check_type("MailboxSpec.overflow", self.overflow, Overflow)


class ChildSpec(Value, Generic[M], eq=False):
    """An actor as a child: `actor` is an async function of its inbox, called anew for each life.

    `shutdown` is the time it has to clean up when stopped; `start_timeout` the time until it must
    receive or say `inbox.ready()`; `register` a name that is unique in the whole tree.
    """

    name: str
    actor: Callable[[Inbox[M]], Awaitable[None]]
    _: KW_ONLY
    restart: Restart = Restart.PERMANENT
    shutdown: float | Shutdown = 5.0
    significant: bool = False
    start_timeout: float = 30.0
    backoff: Backoff | None = None
    mailbox: MailboxSpec = MailboxSpec()
    register: str | None = None

    def __post_init__(self) -> None:
        _check_place(self)
        if not callable(self.actor):
            raise SpecError(f"actor of {self.name!r} must be an async function; got {self.actor!r}")
        _check_type(f"mailbox of {self.name!r}", self.mailbox, MailboxSpec)


class SupervisorSpec(Value, eq=False):
    """A supervisor, as a child or as the root: a strategy, a restart budget and its first children.

    `children` may be a function: it is called at each start of the supervisor, so that every life
    can have specs of its own.
    """

    name: str
    _: KW_ONLY
    strategy: Strategy = Strategy.ONE_FOR_ONE
    intensity: int = 1
    period: float = 5.0
    auto_shutdown: AutoShutdown = AutoShutdown.NEVER
    children: Sequence[Spec] | Callable[[], Sequence[Spec]] = ()
    max_children: int | None = None
    restart: Restart = Restart.PERMANENT
    shutdown: float | Shutdown = Shutdown.INFINITE
    significant: bool = False
    start_timeout: float = math.inf
    backoff: Backoff | None = None
    register: str | None = None

    def __post_init__(self) -> None:
        _check_place(self)
        _check_type("strategy", self.strategy, Strategy)
        _check_whole("intensity", self.intensity, 0)
        _check_number("period", self.period, _MOMENT)
        _check_type("auto_shutdown", self.auto_shutdown, AutoShutdown)
        if self.max_children is not None:
            _check_whole("max_children", self.max_children, 0)
            if self.strategy is not Strategy.DYNAMIC:
                raise SpecError("max_children is for Strategy.DYNAMIC only; leave it out")
        if self.strategy is Strategy.DYNAMIC and self.auto_shutdown is not AutoShutdown.NEVER:
            raise SpecError("with Strategy.DYNAMIC, auto_shutdown must be AutoShutdown.NEVER")
        if not callable(self.children):
            self.first_children()

    def first_children(self) -> Sequence[Spec]:
        """The specs to start with, checked."""
        return self.check_children(self.children() if callable(self.children) else self.children)

    def check_children(self, specs: Sequence[Spec]) -> Sequence[Spec]:
        """The specs, if this supervisor can hold them all."""
        _check_type(f"children of {self.name!r}", specs, list, tuple)
        names = [self.check_child(spec).name for spec in specs]
        if self.strategy is not Strategy.DYNAMIC and len(set(names)) < len(names):
            twice = max(names, key=names.count)
            raise SpecError(f"two children of {self.name!r} are called {twice!r}; rename one")
        return specs

    def check_child(self, spec: Spec) -> Spec:
        """The spec, if this supervisor can hold it."""
        _check_type("a child", spec, ChildSpec, SupervisorSpec)
        if spec.significant and self.auto_shutdown is AutoShutdown.NEVER:
            words = f"auto_shutdown of {self.name!r} is NEVER; choose ANY_ or ALL_SIGNIFICANT"
            raise SpecError(f"{spec.name!r} is significant, but {words}")
        return spec


Spec: TypeAlias = ChildSpec[Any] | SupervisorSpec


class SupervisorOptions(TypedDict, total=False):
    """The keyword arguments of `open_supervisor`; see SupervisorSpec for their meaning."""

    strategy: Strategy
    intensity: int
    period: float
    auto_shutdown: AutoShutdown
    children: Sequence[Spec] | Callable[[], Sequence[Spec]]
    max_children: int | None


def _check_place(spec: Spec) -> None:
    of = f"of {spec.name!r}"
    _check_name("name", spec.name)
    _check_type(f"restart {of}", spec.restart, Restart)
    if not isinstance(spec.shutdown, Shutdown):
        _check_number(f"shutdown {of}", spec.shutdown, 0, ", Shutdown.BRUTAL or INFINITE")
    if spec.start_timeout != math.inf:
        _check_number(f"start_timeout {of}", spec.start_timeout, _MOMENT, ", or math.inf")
    _check_type(f"significant {of}", spec.significant, bool)
    _check_type(f"backoff {of}", spec.backoff, Backoff, NoneType)
    if spec.register is not None:
        _check_name(f"register {of}", spec.register)
    if spec.significant and spec.restart is Restart.PERMANENT:
        raise SpecError(f"{spec.name!r} cannot be significant and PERMANENT; make it TRANSIENT")
