"""The pages of a plan and of a run, however it ended; its section of changes shows equal changes once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from ailb_gen.checks.compare import summary
from ailb_gen.deploy.device_diff import ServerDiff, SwitchDiff
from ailb_gen.deploy.impact import PushImpact
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.report.trace import RunTrace
from ailb_gen.deploy.report.waves import (
    endings,
    impact_section,
    notices_section,
    outcomes_section,
    picture_of,
    planned_section,
    record_section,
    run_section,
    seconds,
    touched_links,
    touched_section,
    utc,
)
from ailb_gen.deploy.run_history import DeviceOutcome
from ailb_gen.deploy.side_by_side import CHANGES, HIDDEN, REPLACED, SideBySideRow, changes_of, unpacked
from ailb_gen.intent.models import Fabric
from ailb_gen.report.html.page import Numbered, Page, Section, Status, html
from ailb_gen.wording import clean, counted, plural, some

# The most rows in the page's text; the script draws the others from the data.
SHOWN = 6_000
# The most bytes of rows in the data, compressed as the plan has them.
MOST = 12_000_000
# A group with no more rows than this is open from the start.
OPEN = 60
INDENT = "    "
CLASSES = {" ": "same", "+": "added", "-": "removed", "~": "replaced", "<": "away", ">": "here", "…": "hidden"}
SIGNS = {" ": "", "+": "+", "-": "\N{MINUS SIGN}", "~": "~", "<": "↕", ">": "↕", "…": "⋯"}
# A side of a row: what it has in common with the other side, what differs, what is in common again.
Parts = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row as it is drawn."""

    style: str
    sign: str
    left: Parts
    right: Parts
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Devices with the same change; `lines` are None where the script draws them, or nobody (`left_out`)."""

    number: int
    devices: tuple[str, ...]
    title: str
    added: int
    removed: int
    count: int
    lines: tuple[DrawnRow, ...] | None
    left_out: bool
    server: bool

    @property
    def open(self) -> bool:
        """Whether it is open from the start."""
        return self.lines is not None and self.count <= OPEN


class AlikeDevices(NamedTuple):
    """Devices with the same change: its rows (None: left out), and how many statements or lines come and go."""

    devices: tuple[str, ...]
    rows: tuple[SideBySideRow, ...] | None
    added: int
    removed: int
    server: bool


def changes_section(plan: Plan, mask: Callable[[str], str]) -> Section:
    """Return the section of all changes; `mask` replaces the secrets that the run knows."""
    alike = _alike(plan)
    kept = _kept([look for _, look in alike])
    found = []
    for number, (names, look) in enumerate(alike):
        rows = tuple(_masked(unpacked(look.compared), mask)) if number in kept else None
        found.append(AlikeDevices(names, rows, *_counts(look, rows or ()), isinstance(look, ServerDiff)))
    return alike_section(found, len(plan.changed))


def alike_section(alike: Iterable[AlikeDevices], devices: int) -> Section:
    """Return the section of changes, equal ones once; `devices` is how many change."""
    texts, groups, data = Numbered([""]), [], []
    left = SHOWN
    for number, (names, found, added, removed, server) in enumerate(alike):
        rows = found or ()
        shown = bool(rows) and len(rows) <= left
        left -= len(rows) if shown else 0
        lines = tuple(map(drawn, rows)) if shown else None
        groups.append(ChangeGroup(number, names, some(names), added, removed, len(rows), lines, found is None, server))
        data.append([_flat(rows, texts), list(names)])
    values = {"groups": groups, "devices": devices}
    return Section("changes", "Changes", values, {"texts": list(texts.values), "groups": data}, ("push",))


def _alike(plan: Plan) -> list[tuple[tuple[str, ...], SwitchDiff | ServerDiff]]:
    """Return the devices with the same change, with one of them, in the order of the waves."""
    looks, found = plan.changed, dict[bytes, list[str]]()
    for name, look in looks.items():
        changed = sha256(
            repr((type(look), list(changes_of(unpacked(look.compared))))).encode("utf-8", "backslashreplace")
        )
        found.setdefault(changed.digest(), []).append(name)
    return [(tuple(names), looks[names[0]]) for names in found.values()]


def _kept(looks: Sequence[SwitchDiff | ServerDiff]) -> frozenset[int]:
    """Return the groups whose rows are in the page: the small ones first, as many as fit."""
    left, found = MOST, set()
    for number in sorted(range(len(looks)), key=lambda number: len(looks[number].compared)):
        left -= len(looks[number].compared)
        if left < 0:
            break
        found.add(number)
    return frozenset(found)


def _counts(look: SwitchDiff | ServerDiff, rows: Iterable[SideBySideRow]) -> tuple[int, int]:
    """Return how many statements of a switch, or lines of a server's files, are added and removed."""
    if isinstance(look, SwitchDiff):
        return look.counts
    kinds = [row.kind for row in rows]
    replaced = kinds.count(REPLACED)
    return kinds.count("+") + replaced, kinds.count("-") + replaced


def _masked(rows: Sequence[SideBySideRow], mask: Callable[[str], str]) -> Iterator[SideBySideRow]:
    for row in rows:
        yield SideBySideRow(row.kind, row.depth, clean(mask(row.left)), clean(mask(row.right)))


def drawn(row: SideBySideRow) -> DrawnRow:
    """Return a row as it is drawn."""
    if row.kind == HIDDEN:
        more = f"{row.left} {plural('statement', int(row.left))} unchanged"
        return DrawnRow(CLASSES[HIDDEN], SIGNS[HIDDEN], ("", "", ""), ("", "", ""), more)
    indent = INDENT * row.depth
    left, right = (indent + text if text else "" for text in (row.left, row.right))
    if row.kind == REPLACED:
        return DrawnRow(CLASSES[row.kind], SIGNS[row.kind], *_marked(left, right))
    whole = row.kind in CHANGES
    ours, theirs = (("", text, "") if whole and text else (text, "", "") for text in (left, right))
    return DrawnRow(CLASSES[row.kind], SIGNS[row.kind], ours, theirs)


def _marked(left: str, right: str) -> tuple[Parts, Parts]:
    """Return both sides of a replaced statement in parts: the words in the middle differ, unless they are secrets."""
    if left == right:
        return (left, "", ""), (right, "", "")
    ours, theirs = left.split(" "), right.split(" ")
    front = sum(takewhile(bool, map(eq, ours, theirs)))
    back = sum(takewhile(bool, map(eq, reversed(ours[front:]), reversed(theirs[front:]))))
    return _cut(ours, front, back), _cut(theirs, front, back)


def _cut(words: Sequence[str], front: int, back: int) -> Parts:
    end = len(words) - back
    before, middle, after = " ".join(words[:front]), " ".join(words[front:end]), " ".join(words[end:])
    return f"{before} " if front else "", middle, f" {after}" if back else after


def _flat(rows: Iterable[SideBySideRow], texts: Numbered[str]) -> list[int | str]:
    """Return rows as a flat list: kind, depth, and the numbers of left and right of each."""
    return [value for row in rows for value in (row.kind, row.depth, texts(row.left), texts(row.right))]


# The most lines of a message in a verdict.
LINES = 4


@dataclass(frozen=True, slots=True)
class PageSubject:
    """What a page is about: the fabric, and the command as facts. `mask` replaces the secrets that the run knows."""

    intent: Fabric
    verb: str
    facts: tuple[tuple[str, str], ...]
    mask: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Ending:
    """What the record does not say: devices that were refused first, why it stopped, the error of the verb."""

    refused: Mapping[str, str]
    stopped: str = ""
    error: str = ""


def plan_page(subject: PageSubject, plan: Plan, impact: PushImpact) -> str:
    """Return the report of a plan."""
    status, verdict = _plan_verdict(plan, impact)
    sections = [notices_section(plan, subject.mask, bool(plan.changed))]
    if plan.changed:
        picture = picture_of(subject.intent, plan.fabric_model)
        sections.append(touched_section(subject.intent, picture, plan, {}))
        sections.append(planned_section(plan, impact, touched_links(picture, impact)))
        sections += [changes_section(plan, subject.mask), impact_section(plan, impact)]
    return _html(subject, status, verdict, (), sections)


def run_page(
    subject: PageSubject,
    trace: RunTrace | None,
    file: str,
    ending: Ending,
    plan: Plan | None,
    impact: PushImpact | None,
    changes: Section | None = None,
) -> str:
    """Return the report of a run.

    `trace` is None where none began, `plan` and `impact` where nothing was planned; `file` is the record. `changes` is
    the section of the recorded changes, where there is no plan any more.
    """
    status, verdict = _run_verdict(trace, ending, plan)
    ended = {row.name: row for row in endings(trace, ending.refused, subject.mask)} if trace is not None else {}
    sections: list[Section | None] = [outcomes_section(ended.values())] if trace is not None else []
    picture = picture_of(subject.intent, plan.fabric_model) if plan is not None else None
    links = touched_links(picture, impact) if picture is not None and impact is not None else {}
    if plan is not None and picture is not None:
        sections += [notices_section(plan, subject.mask, True), touched_section(subject.intent, picture, plan, ended)]
    if trace is not None:
        sections.append(run_section(trace, plan, impact, links))
    elif plan is not None and plan.changed:
        sections.append(planned_section(plan, impact, links))
    if plan is not None and plan.changed:
        sections.append(changes_section(plan, subject.mask))
        sections.append(impact_section(plan, impact) if impact is not None else None)
    sections.append(changes)
    if trace is not None:
        sections.append(record_section(trace, file, subject.mask))
    return _html(subject, status, verdict, _run_facts(trace) if trace is not None else (), sections)


def _html(
    subject: PageSubject,
    status: Status,
    verdict: str,
    facts: tuple[tuple[str, str], ...],
    sections: Iterable[Section | None],
) -> str:
    rows = ((name, clean(subject.mask(value))) for name, value in (*subject.facts, *facts) if value)
    title = f"{clean(subject.intent.name)}: {subject.verb}"
    kept = tuple(section for section in sections if section is not None)
    return html(Page(title, status, clean(subject.mask(verdict)), tuple(rows), kept))


def _plan_verdict(plan: Plan, impact: PushImpact) -> tuple[Status, str]:
    unread = f"{counted(len(plan.errors), 'device')} could not be read" if plan.errors else ""
    if not plan.changed:
        same = f"{counted(len(plan.devices), 'device')} match their files"
        if plan.affected and not unread:
            return (
                "warn",
                f"Nothing to push: {same}; {len(plan.affected)} also have unmanaged statements that affect the fabric",
            )
        return ("fail", f"{unread}; {same}") if unread else ("pass", f"Nothing to do: {same}")
    counts = [look.counts for look in plan.changed_switches.values()]
    added, removed = (sum(row[at] for row in counts) for at in (0, 1))
    parts = [
        f"{counted(len(plan.changed), 'device')} of {len(plan.devices)} change in {counted(len(plan.waves), 'wave')}",
        f"{counted(added, 'statement')} added, {removed:,} removed" if counts else "",
        unread,
        f"{counted(len(plan.foreign), 'device')} would lose statements configured by others" if plan.foreign else "",
    ]
    traffic = impact.traffic
    less = traffic.arriving[0] - traffic.arriving[1]
    lost = max((lost for lost, _ in traffic.waves.values()), default=0)
    worse = f"{counted(less, 'reachable pair')} become unreachable" if less > 0 else ""
    worse = worse or (f"up to {counted(lost, 'pair')} unreachable while spines are out of service" if lost else "")
    parts.append(worse or "no reachability lost")
    status: Status = "fail" if unread else "warn" if worse or plan.foreign else "info"
    return status, "; ".join(filter(None, parts))


def _run_verdict(trace: RunTrace | None, ending: Ending, plan: Plan | None) -> tuple[Status, str]:
    why = _why(trace, ending)
    if trace is None:
        if why:
            return "fail", f"Nothing was changed: {why}"
        return ("pass", "Nothing to do") if plan is None else ("info", "Nothing was changed")
    if trace.past.dry:
        return _dry_verdict(trace, ending)
    left = trace.past.left.devices
    # Those that are left have a part of the verdict to themselves.
    outcomes = Counter(outcome for name, (outcome, _) in trace.outcomes.items() if name not in left)
    if outcomes or left:
        # Waves that did not begin have no outcomes.
        outcomes[DeviceOutcome.UNTOUCHED] += len(set(trace.devices) - trace.outcomes.keys() - set(left))
    parts = [f"{outcomes[one]} {one}" for one in DeviceOutcome if outcomes[one]]
    all_alike = f"{counted(outcomes.total(), 'device')} {parts[0].partition(' ')[2]}" if len(parts) == 1 else ""
    summary = all_alike or ", ".join(parts)
    if left:
        parts = [f"{counted(len(left), 'device')} unsettled: {some(left)}", summary, why]
        return "fail", "; ".join(filter(None, parts))
    if not outcomes:
        return ("fail", f"Nothing was changed: {why}") if why else ("pass", "Nothing left to do")
    bad = bool(why) or bool(outcomes[DeviceOutcome.ROLLED_BACK] and not trace.past.is_rollback)
    return ("fail" if bad else "pass"), "; ".join(filter(None, [f"{summary} in {seconds(trace.total)}", why]))


def _why(trace: RunTrace | None, ending: Ending) -> str:
    """Return why a run did not end well; nothing if it did."""
    ended = {name: reason for name, (_, reason) in trace.outcomes.items() if reason} if trace is not None else {}
    reasons = [*(ending.refused or ended).values()]
    reason = summary(reasons) if reasons else ""
    return ": ".join(filter(None, [_one_line(ending.error) or ending.stopped, "" if ending.error else reason]))


def _one_line(error: str) -> str:
    """Return a message as one line, without what the verdict says itself."""
    lines = [line.strip() for line in error.removeprefix("nothing was changed:").splitlines() if line.strip()]
    more = [f"and {counted(len(lines) - LINES, 'more line')}"] if len(lines) > LINES else []
    return "; ".join([*lines[:LINES], *more])


def _dry_verdict(trace: RunTrace, ending: Ending) -> tuple[Status, str]:
    refused = len(ending.refused)
    if refused:
        some = f"{counted(refused, 'device')} of {len(trace.devices)}"
        return "fail", f"Dry run: {some} reject the change; nothing was committed"
    if not trace.checks or ending.stopped or ending.error:
        return "fail", f"Dry run: not finished; {ending.error or ending.stopped or 'the record ends early'}"
    return "pass", f"Dry run: {counted(len(trace.devices), 'device')} accept the change; nothing was committed"


def _run_facts(trace: RunTrace) -> tuple[tuple[str, str], ...]:
    begin = next((event for event in trace.past.events if event["event"] == "begin"), {})
    approved, options = begin.get("approved", {}), begin.get("options", {})
    names = ("min_paths", "max_failures", "confirm_minutes", "verify_timeout", "on_failure", "driver")
    return (
        ("Run", trace.past.run),
        ("Reverts", trace.past.undoes),
        ("Started (UTC)", utc(str(begin.get("time", "")))),
        ("Duration", seconds(trace.total)),
        ("Approved", f"{approved.get('by', '')} ({approved.get('how', '')})" if approved else ""),
        ("Version", str(begin.get("version", ""))),
        ("Plan", str(begin.get("plan", {}).get("file", ""))),
        ("Options", ", ".join(f"{name.replace('_', ' ')} {options[name]}" for name in names if name in options)),
    )
