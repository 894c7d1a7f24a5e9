"""The Protocol of a switch, and the errors into which every driver translates its own.

Two drivers stand behind it, NAPALM and PyEZ; nothing above this module knows which. The phases are those in which
something can go wrong; reports and the log name them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ailb_gen.errors import DeployError
from ailb_gen.wording import among, counted

if TYPE_CHECKING:
    from lxml.etree import _Element

# The reason where a connection ended before an answer.
SESSION_LOST = "the session was lost"
# Letters of a reason or a statement: a device may send any number of them.
LONGEST = 2000
# Counters, times and the like in an answer: ASCII, and no more digits than 64 bits have.
NUMBER = re.compile(r"[0-9]{1,20}")


def cut(text: str, mask: Callable[[str], str] = str) -> str:
    """Return the beginning of a text that a device chose, with `mask` applied, and how much is left out."""
    more = f" … ({counted(len(text) - LONGEST, 'more letter')})" if len(text) > LONGEST else ""
    return f"{mask(text[:LONGEST])}{more}"


class Phase(StrEnum):
    """The current operation on a device."""

    CONNECT = "connect"
    READ = "read"
    LOCK = "lock"
    LOAD = "load"
    CHECK = "check"
    COMMIT = "commit"
    VERIFY = "verify"
    CONFIRM = "confirm"
    ROLLBACK = "rollback"
    UNLOCK = "unlock"
    COPY = "copy"
    INSTALL = "install"
    REBOOT = "reboot"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a push: its phase, the event of a record that it begins with, and both in words.

    `ends_new` says whether a device ends with its new configuration when a run is cut off in the step, and with the old
    one otherwise; None where nothing has changed.
    """

    phase: Phase
    event: str
    event_text: str
    text: str
    ends_new: bool | None = None


# The steps of a push on a device, in order: connecting, reading and locking belong to them.
STEPS = (
    Step(Phase.CHECK, "wave", "wave begins", "load, read back, commit check"),
    Step(Phase.COMMIT, "committing", "commit with a timer", "commit with a timer", ends_new=False),
    Step(
        Phase.VERIFY,
        "asked again",
        "queried again, and found with the new configuration",
        "sessions, colors, AIGP, alarms",
    ),
    Step(Phase.CONFIRM, "confirming", "confirm", "keep it", ends_new=True),
    Step(Phase.ROLLBACK, "reverting", "roll back", "restore the old configuration", ends_new=False),
)
# By event, those that change a device; and their phases.
CHANGING = {step.event: step for step in STEPS if step.ends_new is not None}
COMMITTING = frozenset(step.phase for step in CHANGING.values())


class DeviceError(DeployError):
    """A device cannot be reached, or refuses a request: device, phase, reason and remedy.

    `shared` replaces reason and way out when many devices have the same error: one text that fits all. Secrets in what
    the device said are replaced.
    """

    def __init__(self, device: str, phase: Phase, reason: str, hint: str = "", shared: str = "") -> None:
        self.device, self.phase, self.hint, self.shared = device, phase, hint, shared
        from ailb_gen.redact.text import redact  # noqa: PLC0415 - slow, and completion in a shell reads this module

        self.reason = cut(reason, redact)
        super().__init__(f"{device}: {phase}: {self.reason}{f'; {hint}' if hint else ''}")

    @property
    def common(self) -> str:
        """The error without its device: equal for devices with the same error."""
        return f"{self.phase}: {self.shared or self.reason + (f'; {self.hint}' if self.hint else '')}"

    def mask(self, mask: Callable[[str], str]) -> None:
        """Take more secrets out of what the device said."""
        self.reason, self.args = mask(self.reason), (mask(str(self)),)


def once(errors: Iterable[DeviceError]) -> list[str]:
    """Return a line for each error; those that differ in nothing but the device share one."""
    groups: dict[str, list[DeviceError]] = {}
    for error in errors:
        groups.setdefault(error.common, []).append(error)
    return [
        f"{among([error.device for error in alike])}: {text}" if len(alike) > 1 else str(alike[0])
        for text, alike in groups.items()
    ]


class RequestRefusedError(DeviceError):
    """The device answered with an error: the request had no effect."""


class ForeignError(RequestRefusedError):
    """The device has a configuration that is neither the old nor the new one: trying again changes nothing."""


class UnknownOutcomeError(DeviceError):
    """No answer came: the effect is unknown until the device is queried again."""


def unreadable(device: str, phase: Phase, rpc: str, reason: str) -> DeviceError:
    """Return the error for an answer that is not what it should be.

    Where something was to be done, it may have been done all the same.
    """
    text = f"its answer to {rpc} cannot be read: {reason}"
    hint = "its NETCONF is not that of Junos, or another host has its address"
    kind = RequestRefusedError if phase in (Phase.READ, Phase.VERIFY) else UnknownOutcomeError
    return kind(device, phase, text, hint)


@dataclass(frozen=True, slots=True)
class CommitEntry:
    """An entry of the commit history; `number` 0 is what is active, `when` in seconds since 1970.

    `pending_minutes` is the time of a confirmed commit as the device prints it, None for any other; `log` is the
    comment that was given with the commit.
    """

    number: int
    user: str
    when: int
    log: str
    pending_minutes: int | None


class SwitchDriver(Protocol):
    """A switch over one NETCONF session; every method raises DeviceError.

    Nothing is retried here: after an UnknownOutcomeError the session is of no use any more and is to be closed.
    """

    @property
    def name(self) -> str:
        """The device's name in the inventory."""

    @property
    def locked(self) -> bool:
        """Whether this session holds the lock; only then what is in the candidate is its own."""

    def open(self) -> None:
        """Connect and log in; the host key is checked before a credential is sent."""

    def close(self) -> None:
        """End the session, which releases its lock; never raises."""

    def hold(self, *texts: str) -> None:
        """Count texts that came as answers, and are needed while others come, until `rest`."""

    def rest(self) -> None:
        """Let go of the memory of all answers; never raises."""

    def lock(self) -> None:
        """Take the exclusive lock of the configuration database, if it is not held yet; does not wait for it."""

    def unlock(self) -> None:
        """Release the lock, if it is held."""

    def running(self) -> str:
        """Return the active configuration as curly text, groups not expanded."""

    def candidate(self) -> str:
        """Return the candidate configuration as curly text."""

    def before(self, number: int) -> str:
        """Return what was active `number` commits ago, as curly text."""

    def load(self, commands: str) -> None:
        """Load set and delete commands into the candidate."""

    def load_rollback(self, number: int) -> None:
        """Make the candidate what was active `number` commits ago; 0 discards changes."""

    def compare(self) -> str:
        """Return what the device says that a commit would change, as its own patch text; empty for nothing."""

    def check(self) -> None:
        """Have the candidate checked without committing it. On Junos this confirms a commit that is pending."""

    def commit(self, log: str, confirm_minutes: int | None = None) -> None:
        """Commit the candidate; with minutes the device takes it back by itself unless another commit follows."""

    def commits(self) -> tuple[CommitEntry, ...]:
        """Return the commit history, the newest first."""

    def ask(self, rpc: str, **arguments: str | bool) -> _Element:
        """Send an operational RPC, its name with hyphens, and return the reply's element without namespaces."""
