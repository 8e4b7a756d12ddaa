"""Background tasks of the fake Claude: started, stopped, and told of when they end."""

from __future__ import annotations

import threading
import time

from avatar_actors.programs.embedded.json_lines import Record, items_in, to_json
from avatar_actors.programs.embedded.tools import ToolProcess, ToolUse, new_id, scripted_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_agents.claude.state import ClaudeState


class BackgroundTask:
    """Work that goes on after its turn."""

    def __init__(self, step: Record, cwd: str) -> None:
        self._cwd = cwd
        self._child: ToolProcess | None = None
        self.call: ToolUse = scripted_call(step, self._start_child)
        self.is_agent = self.call.name != "Bash"
        self.id = new_id("a" if self.is_agent else "b")[:17]
        self.run_id = new_id()[:18]
        self.is_stopped = False
        said = f"The task {self.call.name} has ended."
        self.follow_up = items_in(step, "then") or [{"say": said}]

    def _start_child(self, argv: list[str]) -> ToolProcess:
        child = self._child = ToolProcess(argv, self._cwd)
        if self.is_stopped:
            child.kill()
        return child

    def stop(self) -> None:
        """Kills what it runs."""
        self.is_stopped = True
        if self._child is not None:
            self._child.kill()

    def receipt(self) -> ToolUse:
        """The call as its turn sees it: begun, and that is all."""
        receipt = ToolUse(self.call.name, self.call.input, str)
        receipt.id = self.call.id
        receipt.output = f"Command running in background with ID: {self.id}."
        if self.is_agent:
            receipt.output = f"Async agent launched successfully.\nagentId: {self.id}"
        return receipt

    def row(self) -> Record:
        """What a list of the tasks shows of it."""
        kind = "local_agent" if self.is_agent else "local_bash"
        row: Record = {"task_id": self.id, "run_id": self.run_id, "task_type": kind}
        return {**row, "description": self.call.title}


class BackgroundTasks:
    """The tasks that run; `follow_up` gets the prompt and the origin of the turn after one."""

    def __init__(
        self,
        state: ClaudeState,
        follow_up: Callable[[str, Record], None],
        on_end: Callable[[], None],
    ) -> None:
        self._state = state
        self._follow_up = follow_up
        self._on_end = on_end
        self._owed = 0
        self._changed = threading.Condition()
        self._running: dict[str, BackgroundTask] = {}

    @property
    def has_agents(self) -> bool:
        """Whether a background agent runs or its turn is owed; the session is not idle then."""
        return self._owed > 0 or any(task.is_agent for task in list(self._running.values()))

    def create(self, step: Record, cwd: str) -> BackgroundTask:
        """The task of a step."""
        return BackgroundTask(step, cwd)

    def start(self, task: BackgroundTask) -> None:
        """Begins it and tells so."""
        with self._changed:
            self._running[task.id] = task
        self._tell_list()
        started: Record = {**task.row(), "tool_use_id": task.call.id, "is_backgrounded": True}
        self._state.system("task_started", started)
        threading.Thread(target=self._run, args=(task,), daemon=True).start()

    def stop(self, task_id: str) -> None:
        """Stops a task and waits until its end is told; an unknown one is no error."""
        with self._changed:
            task = self._running.get(task_id)
            if task is not None:
                task.stop()
            while task_id in self._running:
                self._changed.wait()

    def stop_agents(self) -> None:
        """What an interrupt does: background agents end, background commands go on."""
        for task in list(self._running.values()):
            if task.is_agent:
                task.stop()

    def wait_until_none(self) -> None:
        """Returns once no task runs."""
        with self._changed:
            while self._running or self._owed:
                self._changed.wait(1)

    def _run(self, task: BackgroundTask) -> None:
        task.call.perform()
        told: Record = {"task_id": task.id, "run_id": task.run_id}
        status = "killed" if task.is_stopped else "completed"
        patch: Record = {"status": status, "end_time": int(time.time() * 1000)}
        self._state.system("task_updated", {**told, "patch": patch})
        notice: Record = {
            **told,
            "tool_use_id": task.call.id,
            "status": "stopped" if task.is_stopped else "completed",
            "output_file": "",
            "summary": task.call.output or task.call.title,
        }
        self._state.system("task_notification", notice)
        with self._changed:
            del self._running[task.id]
            self._owed += 1
            self._tell_list()
            self._changed.notify_all()
        # A command that was stopped is told of by no turn, an agent is (2.1.325).
        origin: Record = {"kind": "task-notification", "producer": "session-task"}
        if task.is_agent or not task.is_stopped:
            prompt = f"SCRIPT:{to_json(task.follow_up)}"
            self._follow_up(prompt, {**origin, "runId": task.run_id})
        with self._changed:
            self._owed -= 1
            self._changed.notify_all()
        self._on_end()

    def _tell_list(self) -> None:
        rows = [task.row() for task in list(self._running.values())]
        self._state.system("background_tasks_changed", {"tasks": rows})
