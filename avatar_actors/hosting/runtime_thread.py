"""A thread that runs trio with one runtime in it, and which of them an engine uses."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar, Unpack

import trio
from msgspec import Struct

from avatar_actors.hosting.forking import after_fork, forks_so_far, is_of_a_parent, refuse_a_parents
from avatar_actors.hosting.portal import LOOP_IS_GONE, PortalCall, ThreadEvent
from avatar_actors.model.errors import AvatarDown
from avatar_actors.model.settings import RuntimeOptions
from avatar_actors.runtime.runtime import Runtime, open_runtime
from supervisors import TreeNode

T = TypeVar("T")

# What calls that are under way may take to hear of the stop, before they are cancelled.
_LAST_ANSWERS = 2.0
# What a whole stop may take at the end of the program.
_AT_EXIT = 15.0


class RuntimeContext(Struct, frozen=True):
    """What an errand finds in the runtime's thread."""

    runtime: Runtime
    errands: trio.Nursery
    feeds: trio.Nursery


class RuntimeThread:
    """Started by the first errand or by `start_sync`; stopped once, for good.

    Engines share one that is made for them. Make one yourself to give engines a budget in common,
    or metrics: `with RuntimeThread(budget=…) as runtime: AvatarEngine(runtime=runtime)`.
    """

    def __init__(self, **options: Unpack[RuntimeOptions]) -> None:
        self.down = ThreadEvent()
        self._options = options
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._up = ThreadEvent()
        self._token: trio.lowlevel.TrioToken | None = None
        self._inside: RuntimeContext | None = None
        self._stopping: trio.Event | None = None
        self._is_stopped = False
        self._made_after = forks_so_far()
        self._crash: BaseException | None = None
        self._under_way: set[PortalCall[Any]] = set()

    def send(self, work: Callable[[RuntimeContext], Awaitable[T]]) -> PortalCall[T]:
        """Have this done in the runtime's thread; any thread may call it."""
        refuse_a_parents(self._made_after)
        errand = PortalCall(partial(self._work, work))
        self._begin()
        errand.home = self._thread
        self._under_way.add(errand)
        errand.done.when_rung(partial(self._under_way.discard, errand))
        self._up.when_rung(partial(self._post, errand))
        return errand

    async def run(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        """Whatever a Runtime can do, from any loop: `await thread.run(Runtime.spent)`."""
        return await self.send(lambda inside: work(inside.runtime)).wait()

    def run_sync(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        """The same, holding this thread."""
        return self.send(lambda inside: work(inside.runtime)).wait_sync()

    async def tree(self) -> TreeNode:
        """The supervision tree as it is now, from any loop; `print()` it."""
        return await self.run(_tree)

    def tree_sync(self) -> TreeNode:
        """The same, holding this thread."""
        return self.run_sync(_tree)

    @property
    def is_stopping(self) -> bool:
        """Whether it takes no more errands."""
        return self._is_stopped or self.down.is_rung

    @property
    def _is_of_a_parent(self) -> bool:
        """Whether this process was forked from the one that has made it."""
        return is_of_a_parent(self._made_after)

    def start_sync(self) -> RuntimeThread:
        """Begin now, and raise what is wrong with the options."""
        self.send(_nothing).wait_sync()
        return self

    def stop_nowait(self) -> None:
        """Begin to stop: turns end as cancelled, avatars stop. `down` rings at the end."""
        if self._is_of_a_parent:
            return
        with self._lock:
            self._is_stopped = True
            if self._thread is None:
                self.down.ring()
        self._up.when_rung(self._stop)

    def stop_sync(self, timeout: float | None = None) -> bool:
        """Stop, and wait until nothing is left; False if that took too long.

        In the child of a fork there is nothing to stop of what the parent has.
        """
        if self._is_of_a_parent:
            return True
        self.stop_nowait()
        if not self.down.hear_sync(timeout):
            return False
        if self._thread is not None:
            self._thread.join(timeout)
        return True

    async def stop(self) -> None:
        """The same in a task of trio or asyncio."""
        if self._is_of_a_parent:
            return
        self.stop_nowait()
        await self.down.hear()

    def __enter__(self) -> RuntimeThread:
        return self.start_sync()

    def __exit__(self, *_: object) -> None:
        self.stop_sync()

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None and not self._is_stopped:
                # A daemon that is stopped at exit: Python would wait for any other before that.
                run = threading.Thread(target=self._run, name="avatar-runtime", daemon=True)
                self._thread = run
                atexit.register(self.stop_sync, _AT_EXIT)
                run.start()
            elif self._thread is None:
                self._up.ring()

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except (OSError, trio.TrioInternalError) as crash:
            # What the runtime itself could not do has another name by now: this is the loop's.
            self._crash = AvatarDown(f"the runtime's event loop broke: {crash.__cause__ or crash}")
            self._crash.__cause__ = crash
        except BaseException as crash:  # noqa: BLE001 - told to every caller from now on
            self._crash = _alone(crash)
        finally:
            self._inside = None
            # A loop that broke has not ended its tasks, and so no errand of theirs.
            for errand in list(self._under_way):
                errand.fail(self._crash or AvatarDown("the runtime has stopped"))
            self._up.ring()
            atexit.unregister(self.stop_sync)
            self.down.ring()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._stopping = trio.Event()
        # The feeds end after the avatars that they tell of, the errands before.
        async with trio.open_nursery() as feeds, open_runtime(**self._options) as runtime:
            with trio.CancelScope() as while_answering:
                async with trio.open_nursery() as errands:
                    self._inside = RuntimeContext(runtime, errands, feeds)
                    self._up.ring()
                    await self._stopping.wait()
                    self._inside = None
                    while_answering.deadline = trio.current_time() + _LAST_ANSWERS
                    await runtime.close_down("the runtime stops")

    def _stop(self) -> None:
        token, stopping = self._token, self._stopping
        if token is not None and stopping is not None:
            with suppress(*LOOP_IS_GONE):
                token.run_sync_soon(stopping.set)

    def _post(self, errand: PortalCall[T]) -> None:
        inside, token = self._inside, self._token
        if inside is None or token is None:
            errand.fail(self._crash or AvatarDown("the runtime has stopped"))
        else:
            errand.post(token, inside.errands)

    async def _work(self, work: Callable[[RuntimeContext], Awaitable[T]]) -> T:
        inside = self._inside
        if inside is None:
            raise AvatarDown("the runtime has stopped")
        return await work(inside)


def _alone(error: BaseException) -> BaseException:
    """The one error in groups of one."""
    match error:
        case BaseExceptionGroup(exceptions=(only,)):
            return _alone(only)
        case _:
            return error


async def _nothing(_: RuntimeContext) -> None:
    pass


async def _tree(runtime: Runtime) -> TreeNode:
    return runtime.tree()


class RuntimeSource(Protocol):
    """Lends a thread for each stay of an engine."""

    def borrow(self) -> RuntimeThread:
        """A thread for one stay."""
        ...

    def give_back(self, thread: RuntimeThread) -> bool:
        """The stay is over. Whether the thread is to be stopped."""
        ...


class SharedRuntime:
    """One thread for all engines of the process that want no other, while there is one of them."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, in the child of a fork: the thread is the parent's."""
        self._lock = threading.Lock()
        self._thread: RuntimeThread | None = None
        self._stays = 0

    def borrow(self) -> RuntimeThread:
        """The one that is there, or a new one."""
        with self._lock:
            if self._thread is None or self._thread.is_stopping:
                self._thread, self._stays = RuntimeThread(), 0
            self._stays += 1
            return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """The last stay's end is the thread's; who comes then gets another."""
        with self._lock:
            if thread is not self._thread:
                return False
            self._stays -= 1
            if self._stays:
                return False
            self._thread = None
            return True


class GivenRuntime:
    """A thread that the host made and stops itself."""

    def __init__(self, thread: RuntimeThread) -> None:
        self._thread = thread

    def borrow(self) -> RuntimeThread:
        """The host's."""
        return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """It stays up."""
        return thread.is_stopping


class OwnRuntime:
    """A thread of the engine's own, because it wants a runtime with certain options."""

    def __init__(self, options: RuntimeOptions) -> None:
        self._options = options

    def borrow(self) -> RuntimeThread:
        """A new one."""
        return RuntimeThread(**self._options)

    def give_back(self, thread: RuntimeThread) -> bool:
        """It ends with the stay."""
        return not thread.is_stopping


SHARED = SharedRuntime()
after_fork(SHARED.forget)
