"""What a check is and what it reports: the one result model that every report is made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ailb_gen.errors import Place


class Severity(IntEnum):
    """How bad a finding is; the order is that of `--fail-on`."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Check:
    """An entry of the catalogue.

    `id` is stable for ever; `meaning` is one line that says what holds when the check passes, `violation` one that says
    what is wrong when it does not; `why` says what then happens in the fabric, and `repair` what to do.
    """

    id: str
    severity: Severity
    meaning: str
    violation: str
    why: str
    repair: str

    @property
    def family(self) -> str:
        """The first digit behind AILB, which groups the catalogue."""
        return self.id[:5]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    `scope` names what it is about, most specific last, such as `stripe1-leaf1` or `stripe1-leaf1 et-0/0/0`; `place` is
    the offending statement, its file relative to the artifact directory. `expected` and `found` are short texts for
    tables, empty where they do not apply. `involves` are further scopes that what was found depends on, such as the
    switches on a path: a finding about one of them may be its cause (see `ailb_gen.checks.causes`). Findings of a
    check with the same `alike` have one cause, such as a section that is missing: the first stands for the others.
    """

    check: str
    scope: str
    message: str
    place: Place | None = None
    expected: str = ""
    found: str = ""
    involves: tuple[str, ...] = ()
    alike: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What one check did: how many things it looked at, what it found, and figures worth showing.

    `examined` 0 means that there was nothing to look at. `skipped` is the reason why the check did not run.
    """

    check: Check
    findings: tuple[Finding, ...] = ()
    examined: int = 0
    figures: tuple[tuple[str, str], ...] = ()
    skipped: str = ""


def by_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in a stable order: by scope, place and message, each once."""
    return tuple(sorted(set(findings), key=lambda f: (f.scope, f.place is not None, f.place, f.message)))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How the checks are run.

    `checks` are the ids that were asked for. `yang` is the directory of Juniper's models, None when there is none.
    `executor` is `processes`, `serial` or `dask:ADDRESS`; `jobs` is the number of processes; `seed` fixes what is
    sampled.
    """

    checks: frozenset[str]
    yang: Path | None = None
    seed: int = 1
    executor: str = "processes"
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the checks gave: the one thing every report is made from.

    `fabric` is the fabric's name, `intent` and `artifacts` are the paths as they were given. `roles` is the role of
    every device (`leaf`, `spine` or `server`) by name, `folders` where the files of every server are: servers that are
    configured alike share a folder. `results` are in the order of the catalogue. `trouble` is what kept the run from
    being complete, empty if nothing did. `notes` are sentences that belong beside the verdict, such as capacity that
    the intent itself takes away.
    """

    fabric: str
    intent: str
    artifacts: str
    roles: tuple[tuple[str, str], ...]
    results: tuple[Result, ...]
    folders: tuple[tuple[str, str], ...] = ()
    trouble: str = ""
    notes: tuple[str, ...] = ()
