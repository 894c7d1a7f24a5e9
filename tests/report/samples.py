"""Runs made by hand, with text that wants to break every format."""

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from ailb_gen.checks.before import TakenOver
from ailb_gen.checks.extensions import ForeignCheck
from ailb_gen.checks.model import Check, Finding, Result, Run, RunOptions, Severity
from ailb_gen.checks.progress import STEPS
from ailb_gen.checks.waivers import Waiver
from ailb_gen.errors import Place
from ailb_gen.intent.load import Intent
from ailb_gen.report.verdict import Verdict, judge

DAY = datetime.date(2026, 6, 1)
NASTY = "\x1b[31m<b>&\"'`|]]>\r\n@admin \u202e\udc80\x00**x** ``` </details> " + "\u00e9" * 3
LONG = "x" * 200

SESSION = Check(
    "AILB203",
    "both ends name each other's AS",
    "an end names another AS",
    "The session stays down.",
    "Correct it.",
)
COLOR = Check(
    "AILB301",
    "every uplink is colored",
    "an uplink has no color",
    "It carries <nothing> & more.",
    "Color it.",
    severity=Severity.WARNING,
)
BALANCE = Check(
    "AILB401",
    "all links carry the same",
    "a link carries more",
    "The slowest link rules.",
    "Use all colors.",
)
ROCE = Check(
    "AILB701",
    "queues have names",
    "a queue has no name",
    "Figures are hard to read.",
    "Name them.",
    severity=Severity.NOTE,
)
YANG = Check("AILB901", "every statement is known", "a statement is unknown", "The commit fails.", "Delete it.")
CHOSEN = ("AILB090", "AILB091")

LEAF = Finding(
    "AILB203",
    "stripe1-leaf1",
    "as-list names another AS",
    Place("switches/stripe1-leaf1.conf", 120, 9),
    "65003",
    "65002",
    part="et-0/0/0",
)
SPINE = Finding("AILB203", "spine1", "no peer", Place("switches/spine1.conf", 7), part="et-0/0/1")
BARE = Finding("AILB301", "fabric", NASTY)
ODD = Finding("AILB301", "stripe1-leaf1", NASTY, Place(f"switches/a b%{NASTY}.conf", 3), NASTY, NASTY, part=LONG)


def results(*more: Result) -> tuple[Result, ...]:
    """Return a result of every status."""
    return (
        Result(SESSION, (LEAF, SPINE), 64),
        Result(COLOR, (BARE, ODD), 64),
        Result(BALANCE, (), 12, (("max/mean, leaf to spine", "1.000"),)),
        Result(ROCE),
        Result(YANG, skipped="no YANG models; name their folder with --yang"),
        *more,
    )


def waiver(check: str, scope: str, expires: datetime.date = DAY, reason: str = "known") -> Waiver:
    """Return a waiver of `waivers.yaml`."""
    return Waiver(check, scope, reason, expires, Place("waivers.yaml", 3, 3))


def run_of(*rows: Result, fabric: str = "jvd", artifacts: str = "build/jvd") -> Run:
    """Return a run of a small fabric."""
    roles = (("stripe1-leaf1", "leaf"), ("spine1", "spine"), ("h100-01", "server"))
    return Run(fabric, "fabric.yaml", artifacts, roles, rows)


def verdict_of(*rows: Result, waivers: tuple[Waiver, ...] = (), limit: tuple[str, ...] = (), **run: str) -> Verdict:
    """Return the verdict on the day of the samples."""
    return judge(run_of(*(rows or results()), **run), waivers, CHOSEN, limit, "error", DAY)


def many(count: int, check: Check = SESSION) -> Result:
    """Return a result with many findings."""
    place = Place("switches/spine1.conf", 1)
    return Result(check, tuple(Finding(check.id, f"leaf{n}", f"message {n}", place) for n in range(count)), count)


def driver_that_finds(*rows: Result, seen: list[RunOptions] | None = None) -> ModuleType:
    """Return a module in the place of `ailb_gen.checks.run` whose checks find these; options go into `seen`."""

    def examine(
        intent: Intent,
        artifacts: Path,
        options: RunOptions,
        advance: Callable[[int], None],
        step: Callable[[str], None],
        foreign: Sequence[ForeignCheck] = (),
        over: TakenOver | None = None,
    ) -> tuple[Run, None]:
        if seen is not None:
            seen.append(options)
        step("checking")
        advance(STEPS)
        roles = (("spine1", "spine"), ("stripe1-leaf1", "leaf"))
        return Run(intent.fabric.name, intent.source.file, str(artifacts), roles, rows), None

    module = ModuleType("ailb_gen.checks.run")
    module.__dict__.update(examine=examine)
    return module
