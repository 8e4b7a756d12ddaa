"""Actors and OTP's supervision on trio: let it crash, and come back in order."""

# A table of contents, by theme: formatted by hand.
# fmt: off
from supervisors.supervisor import Supervisor, open_supervisor
from supervisors.specs import AutoShutdown, Backoff, ChildSpec, MailboxSpec, Overflow, Restart
from supervisors.specs import Shutdown, Spec, Strategy, SupervisorOptions, SupervisorSpec
from supervisors.inbox import Inbox
from supervisors.address import Address, Down, Monitor, Request
from supervisors._mailbox import Reply, Undelivered
from supervisors.exits import Exit, ExitKind, Phase
from supervisors.snapshot import ChildCount, TreeNode
from supervisors.notices import Crashed, DeadLetter, GaveUp, Notice, NoticeStream, Ready, Restarting
from supervisors.notices import Started, Stopped, Stuck
from supervisors.logs import SafeLogger
from supervisors.errors import ActorDown, ActorRestarting, AlreadyPresent, AlreadyStarted, AskedSelf
from supervisors.errors import AskFailed, AskTimeout, ChildNotFound, ChildRefused, ChildRestarting
from supervisors.errors import ChildRunning, Ignore, MailboxFull, NameTaken, NoReply, OrderlyExit
from supervisors.errors import SpecError, StartFailed, StrayCancelled, SupervisionError
from supervisors.errors import SupervisorGaveUp, TooManyChildren, WrongStrategy

__all__ = [
    "ActorDown", "ActorRestarting", "Address", "AlreadyPresent", "AlreadyStarted", "AskFailed",
    "AskTimeout", "AskedSelf", "AutoShutdown", "Backoff", "ChildCount", "ChildNotFound",
    "ChildRefused", "ChildRestarting", "ChildRunning", "ChildSpec", "Crashed", "DeadLetter",
    "Down", "Exit", "ExitKind", "GaveUp", "Ignore", "Inbox", "MailboxFull", "MailboxSpec",
    "Monitor", "NameTaken", "NoReply", "Notice", "NoticeStream", "OrderlyExit", "Overflow",
    "Phase", "Ready", "Reply", "Request", "Restart", "Restarting", "SafeLogger", "Shutdown", "Spec",
    "SpecError", "StartFailed", "Started", "Stopped", "Strategy", "StrayCancelled", "Stuck",
    "SupervisionError", "Supervisor", "SupervisorGaveUp", "SupervisorOptions", "SupervisorSpec",
    "TooManyChildren", "TreeNode", "Undelivered", "WrongStrategy", "open_supervisor",
]
# fmt: on
