"""Injected faults of an emulated device: kinds and phases.

The text form is `KIND@PHASE[*COUNT][=SECONDS]`: `error@commit`, `slow@verify*0=3`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ailb_gen.errors import UsageError

PHASES = (
    "connect",
    "lock",
    "load",
    "compare",
    "check",
    "commit",
    "verify",
    "confirm",
    "rollback",
    "unlock",
    "running",
    "copy",
    "install",
    "restart",
)
# Those with requests: a file comes over SCP, and a device restarts by itself.
_RPCS = frozenset(PHASES) - {"connect", "copy", "restart"}
# Each kind, its phases, and its default duration in seconds.
KINDS: dict[str, tuple[frozenset[str], float]] = {
    "refuse-auth": (frozenset({"connect"}), 0),
    "wrong-host-key": (frozenset({"connect"}), 0),
    "slow": (frozenset(PHASES), 5),
    "stall": (_RPCS, 5),
    "drop-before": (frozenset(PHASES) - {"restart"}, 0),
    "drop-after": (frozenset(PHASES) - {"restart"}, 0),
    "locked": (_RPCS - {"compare", "verify", "running", "install"}, 0),
    "error": (_RPCS, 0),
    "session-down": (frozenset({"commit", "confirm"}), 0),
    "reboot": (_RPCS | {"connect"}, 3),
    "disk-full": (frozenset({"check", "commit", "confirm", "copy"}), 0),
    "damaged": (frozenset({"copy"}), 0),
    "bad-package": (frozenset({"install"}), 0),
    "old-release": (frozenset({"restart"}), 0),
    "no-return": (frozenset({"restart"}), 0),
}
FORM = re.compile(r"([a-z-]+)@([a-z]+)(?:\*([0-9]{1,9}))?(?:=([0-9]{1,6}(?:\.[0-9]{1,6})?))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """One injected fault: it happens `count` times (0: every time); `seconds` None is the default of its kind.

    Raises UsageError for a kind or phase that does not exist, or that do not go together.
    """

    kind: str
    phase: str
    count: int = 1
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"fault {self.kind!r}: there is no such kind; there are {', '.join(KINDS)}")
        if self.phase not in PHASES:
            raise UsageError(f"fault {self.kind}@{self.phase}: there is no such phase; there are {', '.join(PHASES)}")
        phases = [phase for phase in PHASES if phase in KINDS[self.kind][0]]
        if self.phase not in phases:
            raise UsageError(f"fault {self.kind}@{self.phase}: {self.kind} happens only at {', '.join(phases)}")

    @property
    def lasts_s(self) -> float:
        """Duration of the fault in seconds."""
        return KINDS[self.kind][1] if self.seconds is None else self.seconds


def parse_fault(text: str) -> Fault:
    """Read a fault from its text form. Raises UsageError."""
    found = FORM.fullmatch(text)
    if found is None:
        raise UsageError(f"fault {text!r}: write KIND@PHASE, KIND@PHASE*COUNT or KIND@PHASE=SECONDS, as error@commit")
    return Fault(found[1], found[2], int(found[3] or 1), float(found[4]) if found[4] else None)


class Faults:
    """The faults of one device."""

    def __init__(self) -> None:
        self._left: tuple[tuple[Fault, int], ...] = ()

    def add(self, *faults: Fault) -> None:
        """Switch faults on."""
        self._left += tuple((fault, fault.count) for fault in faults)

    def clear(self) -> None:
        """Switch all faults off."""
        self._left = ()

    def active(self) -> tuple[Fault, ...]:
        """Return the faults that may still happen."""
        return tuple(fault for fault, _ in self._left)

    def take(self, phase: str) -> tuple[Fault, ...]:
        """Return the faults of a phase, and count them; those that have happened often enough are switched off."""
        found = tuple(fault for fault in self.active() if fault.phase == phase)
        spent = [(fault, left - (fault.phase == phase)) for fault, left in self._left]
        self._left = tuple((fault, left) for fault, left in spent if left or not fault.count)
        return found
