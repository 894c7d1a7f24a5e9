"""What changes from one look at a fabric to the next: findings that come and go, devices that stop answering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ailb_gen.checks.catalogue import EVERYTHING
from ailb_gen.checks.model import Check, Finding
from ailb_gen.deploy.switch_driver import DeviceError

CHECKS: Mapping[str, Check] = {check.id: check for check in EVERYTHING}


class ChangeKind(StrEnum):
    """What happened to a finding, a device or the files."""

    CAME = "finding came"
    WENT = "finding went"
    SILENT = "does not answer"
    ANSWERS = "answers"
    FILES = "files changed"
    UNUSABLE = "files unusable"


@dataclass(frozen=True, slots=True)
class WatchChange:
    """A change; `check` and `severity` are those of a finding, `since` is when a silent device was first asked in vain.

    `message` is that of the finding, the error of the device or of the files, empty where there is none. Times are in
    seconds since 1970.
    """

    kind: ChangeKind
    device: str = ""
    message: str = ""
    check: str = ""
    severity: str = ""
    since: float | None = None


@dataclass(frozen=True, slots=True)
class FindingKey:
    """What makes two findings the same one: check, device, part and message."""

    check: str
    device: str
    part: str
    message: str

    @property
    def severity(self) -> str:
        """The severity of its check."""
        return str(CHECKS[self.check].severity)


def keys_of(findings: Iterable[Finding]) -> frozenset[FindingKey]:
    """Return the keys of findings."""
    return frozenset(FindingKey(one.check, one.device, one.part, one.message) for one in findings)


@dataclass(frozen=True, slots=True)
class WatchFigures:
    """The last look at a fabric; `findings` counts by check, severity and device, `answers` has the devices asked.

    `round_s` is how long the last whole round took, `ended` when it ended (seconds since 1970), 0 before the first;
    `every_s` the seconds from one round to the next. `former` counts the rounds in a row that the former files counted,
    because those that are there are unusable.
    """

    fabric: str = ""
    every_s: float = 0.0
    rounds: int = 0
    round_s: float = 0.0
    ended: float = 0.0
    former: int = 0
    answers: Mapping[str, bool] = field(default_factory=dict)
    findings: Mapping[tuple[str, str, str], int] = field(default_factory=dict)


@dataclass(slots=True)
class FabricMemory:
    """What was known of a fabric after the last look: findings by device, who has not answered since when.

    A device that does not answer keeps its findings: nothing is known about them.
    """

    findings: dict[str, frozenset[FindingKey]] = field(default_factory=dict)
    silent: dict[str, float] = field(default_factory=dict)

    def asked(self, name: str, outcome: object, began: float, mask: Callable[[str], str]) -> Iterator[WatchChange]:
        """Take whether a device answered, asked at `began` (seconds since 1970); yield what changed.

        `mask` replaces secrets in its error.
        """
        if isinstance(outcome, DeviceError):
            if name not in self.silent:
                self.silent[name] = began
                message = mask(str(outcome).removeprefix(f"{name}: "))
                yield WatchChange(ChangeKind.SILENT, name, message, since=began)
        elif name in self.silent:
            yield WatchChange(ChangeKind.ANSWERS, name, since=self.silent.pop(name))

    def found(self, findings: Mapping[str, Iterable[Finding]]) -> Iterator[WatchChange]:
        """Take the findings of devices that were read; yield those that came and went."""
        for name, rows in findings.items():
            now, before = keys_of(rows), self.findings.get(name, frozenset())
            for kind, keys in ((ChangeKind.CAME, now - before), (ChangeKind.WENT, before - now)):
                for key in sorted(keys, key=lambda key: (key.check, key.part, key.message)):
                    yield WatchChange(kind, key.device, key.message, key.check, key.severity)
            self.findings[name] = now if now != before else before

    def forget(self, names: Iterable[str]) -> Iterator[WatchChange]:
        """Forget the devices that are not among these names; yield the findings that go with them."""
        kept = set(names)
        gone = [name for name in self.findings if name not in kept]
        yield from self.found(dict.fromkeys(gone, ()))
        for name in gone:
            del self.findings[name]
        for name in [name for name in self.silent if name not in kept]:
            del self.silent[name]

    def counts(self) -> Counter[tuple[str, str, str]]:
        """Return the number of findings by check, severity and device."""
        return Counter((key.check, key.severity, key.device) for keys in self.findings.values() for key in keys)
