"""Checks, findings and results: the one model that every report is made from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.subjects import Subject, default_subjects
from ailb_gen.checks.subjects import device as device_subject
from ailb_gen.errors import Place

if TYPE_CHECKING:
    # Importing it takes long, and a device needs no more of a check than its findings.
    from ailb_gen.checks.context import Context
    from ailb_gen.network.model import Switch


class Severity(IntEnum):
    """Severity of a finding, in the order of `--fail-on`."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the catalogue.

    `id` never changes; `meaning` is one line that says what holds when the check passes, `violation` one that says
    what is wrong when it does not; `why` says what then happens in the fabric, and `repair` what to do. `run` makes the
    findings; checks that need one pass share it. It is None where a Batfish service, a device or the waivers decide.
    `layer` says what the check examines: what is wrong in one layer explains what is wrong in those that build on it.
    """

    id: str
    meaning: str
    violation: str
    why: str
    repair: str
    run: Callable[[Context, Findings], None] | None = None
    severity: Severity = Severity.ERROR
    layer: Layer = Layer.SETTINGS

    @property
    def family(self) -> str:
        """The beginning of the id that groups the catalogue: AILB and a digit, or the letters of an extension's id."""
        return self.id[:5] if self.id.startswith("AILB") else self.id.rstrip("0123456789")


# What is so wrong that whatever else is found follows from it.
EVERYTHING = "everything"
# What of a finding may quote a file.
TEXTS = ("message", "expected", "found", "part")


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation that a check found.

    `device` is the switch or server it is about, or the file or folder where it is about none; `part` is the port,
    interface, group or statement of it, empty for the whole. `place` is the offending statement, its file relative to
    the artifact directory. `expected` and `found` are short texts for tables, empty where they do not apply.
    `subjects` are the things that it is about, as data; without any they follow from statement, part and device.
    `involves` are further things that the finding depends on, such as the switches on a path: a finding about one of
    them may be its cause (see `ailb_gen.checks.causes`). Findings of a check with the same `same_cause` have one cause,
    such as a section that is missing: the first stands for the others. From one with `EVERYTHING` all others follow.
    `statement` is the statement of a switch that it is about, there or missing, from the top; of several with ` | `
    between them the first that is there, else the last. `instead` says that it is there and does not belong there,
    `gap` where something is missing (see `ailb_gen.checks.locate`).
    Secrets in the texts are replaced.
    """

    check: str
    device: str
    message: str
    place: Place | None = None
    expected: str = ""
    found: str = ""
    involves: tuple[Subject, ...] = ()
    same_cause: str = ""
    part: str = ""
    statement: str = ""
    instead: bool = False
    gap: str = ""
    subjects: tuple[Subject, ...] = ()

    def __post_init__(self) -> None:
        # Its patterns take a while, and most runs find nothing.
        from ailb_gen.redact.text import redact  # noqa: PLC0415

        if not self.subjects:
            object.__setattr__(self, "subjects", default_subjects(self.device, self.part, self.statement))
        for name in TEXTS:
            text = getattr(self, name)
            if (shown := redact(text)) != text:
                object.__setattr__(self, name, shown)

    @property
    def scope(self) -> str:
        """Device and part as one text, by which waivers name findings: `leaf1` or `leaf1 et-0/0/0`."""
        return f"{self.device} {self.part}" if self.part else self.device


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check: the number of examined items, findings, and figures to show.

    `examined` 0 means that there was nothing to examine. `skipped` is the reason why the check did not run.
    """

    check: Check
    findings: tuple[Finding, ...] = ()
    examined: int = 0
    figures: tuple[tuple[str, str], ...] = ()
    skipped: str = ""


def by_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in a stable order: by scope, place and message, each once."""
    return tuple(sorted(set(findings), key=lambda f: (f.scope, f.place is not None, f.place, f.message)))


class Details(TypedDict, total=False):
    """The fields of a finding that only some have."""

    involves: Iterable[Subject | str]
    same_cause: str
    part: str
    statement: str
    instead: bool
    subjects: Iterable[Subject]


class Findings:
    """Collect findings, counts and skipped checks by the id of the check, until they become results."""

    __slots__ = ("counts", "figures", "found", "skipped")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.figures: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.found: dict[str, list[Finding]] = defaultdict(list)
        self.skipped: dict[str, str] = {}

    def look(self, check: Check, count: int = 1) -> None:
        """Count things that a check examines."""
        self.counts[check.id] += count

    def figure(self, check: Check, name: str, value: object) -> None:
        """Add a figure that is worth showing."""
        self.figures[check.id].append((name, str(value)))

    def take(self, result: Result) -> None:
        """Take over the result of an earlier run that found nothing."""
        self.counts[result.check.id] += result.examined
        self.figures[result.check.id] += result.figures
        if result.skipped:
            self.skipped[result.check.id] = result.skipped

    def skip(self, check: Check, reason: str) -> None:
        """Mark a check as one that did not run."""
        self.skipped[check.id] = reason

    def add(
        self,
        check: Check,
        device: str,
        message: str,
        place: Place | None = None,
        expected: object = "",
        found: object = "",
        **details: Unpack[Details],
    ) -> None:
        """Add a finding about a device or, with `part`, about a part of it; `involves` may be names of devices."""
        involves = details.get("involves", ())
        self.found[check.id].append(
            Finding(
                check.id,
                device,
                message,
                place,
                str(expected),
                str(found),
                tuple(device_subject(one) if isinstance(one, str) else one for one in involves),
                details.get("same_cause", ""),
                details.get("part", ""),
                details.get("statement", ""),
                details.get("instead", False),
                subjects=tuple(details.get("subjects", ())),
            )
        )

    def at(
        self,
        check: Check,
        switch: Switch,
        message: str,
        line: int = 1,
        expected: object = "",
        found: object = "",
        **details: Unpack[Details],
    ) -> None:
        """Add a finding about a switch at a line of its file; 0 is the file as a whole."""
        self.add(check, switch.named, message, Place(switch.file, line or 1), expected, found, **details)

    def results(self, checks: Iterable[Check]) -> Iterator[Result]:
        """Iterate over the results of some checks, in their order."""
        for check in checks:
            found = by_place(self.found[check.id])
            figures = tuple(self.figures[check.id])
            yield Result(check, found, self.counts[check.id], figures, self.skipped.get(check.id, ""))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run of the checks.

    `checks` are the ids that were asked for. `yang` is the directory of Juniper's models, None when there is none.
    `executor` is `processes`, `serial` or `dask:ADDRESS`; `jobs` is the number of processes; `seed` fixes what is
    sampled. `keep_changes`: what failures change in FIBs is kept, for tracing paths in a report.
    """

    checks: frozenset[str]
    yang: Path | None = None
    seed: int = 1
    executor: str = "processes"
    jobs: int = 1
    keep_changes: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run of the checks: every report is made from it.

    `fabric` is the fabric's name, `intent` and `artifacts` are the paths as they were given. `roles` is the role of
    every device (`leaf`, `spine` or `server`) by name, `folders` the folder of every server's files: servers with the
    same configuration share one. `results` are in the order of the catalogue. `trouble` is the reason why the run is
    not complete, empty if it is. `notes` are sentences to show with the verdict, such as capacity that the intent
    itself takes away. `is_cluster`: it is about several fabrics, and `fabric` is the name of their cluster.
    """

    fabric: str
    intent: str
    artifacts: str
    roles: tuple[tuple[str, str], ...]
    results: tuple[Result, ...]
    folders: tuple[tuple[str, str], ...] = ()
    trouble: str = ""
    notes: tuple[str, ...] = ()
    is_cluster: bool = False
