"""The pages: of a plan, and of a run that any verb has begun, however it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ailb_gen.deploy.impact import Impact
from ailb_gen.deploy.planning import Plan
from ailb_gen.deploy.report.changes import changes_section, foreign_of
from ailb_gen.deploy.report.picture import picture_of, touched_links, touched_section
from ailb_gen.deploy.report.tables import endings, impact_section, notices_section, outcomes_section, record_section
from ailb_gen.deploy.report.trace import Trace
from ailb_gen.deploy.report.waves import planned_section, run_section, seconds
from ailb_gen.deploy.wave import Outcome
from ailb_gen.intent.models import Fabric
from ailb_gen.report.html.page import Page, Section, Status, html
from ailb_gen.wording import clean, counted

# So many lines of a message are in a verdict.
LINES = 4


@dataclass(frozen=True, slots=True)
class Subject:
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


def plan_page(subject: Subject, plan: Plan, impact: Impact) -> str:
    """Return the report of a plan."""
    status, verdict = _plan_verdict(plan, impact)
    sections = [notices_section(plan, subject.mask, bool(plan.changed))]
    if plan.changed:
        picture = picture_of(subject.intent, plan.fabric_model)
        sections.append(touched_section(picture, plan, {}))
        sections.append(planned_section(plan, impact, touched_links(picture, impact)))
        sections += [changes_section(plan, subject.mask), impact_section(plan, impact)]
    return _html(subject, status, verdict, (), sections)


def run_page(
    subject: Subject, trace: Trace | None, file: str, ending: Ending, plan: Plan | None, impact: Impact | None
) -> str:
    """Return the report of a run.

    `trace` is None where none began, `plan` and `impact` where nothing was planned; `file` is the record.
    """
    status, verdict = _run_verdict(trace, ending, plan)
    ended = {row.device: row for row in endings(trace, ending.refused, subject.mask)} if trace is not None else {}
    sections: list[Section | None] = [outcomes_section(ended.values())] if trace is not None else []
    picture = picture_of(subject.intent, plan.fabric_model) if plan is not None else None
    links = touched_links(picture, impact) if picture is not None and impact is not None else {}
    if plan is not None and picture is not None:
        sections += [notices_section(plan, subject.mask, True), touched_section(picture, plan, ended)]
    if trace is not None:
        sections.append(run_section(trace, plan, impact, links))
    elif plan is not None and plan.changed:
        sections.append(planned_section(plan, impact, links))
    if plan is not None and plan.changed:
        sections.append(changes_section(plan, subject.mask))
        sections.append(impact_section(plan, impact) if impact is not None else None)
    if trace is not None:
        sections.append(record_section(trace, file, subject.mask))
    return _html(subject, status, verdict, _run_facts(trace) if trace is not None else (), sections)


def _html(
    subject: Subject,
    status: Status,
    verdict: str,
    facts: tuple[tuple[str, str], ...],
    sections: Iterable[Section | None],
) -> str:
    rows = ((name, clean(subject.mask(value))) for name, value in (*subject.facts, *facts) if value)
    title = f"{clean(subject.intent.name)}: {subject.verb}"
    kept = tuple(section for section in sections if section is not None)
    return html(Page(title, status, clean(subject.mask(verdict)), tuple(rows), kept))


def _plan_verdict(plan: Plan, impact: Impact) -> tuple[Status, str]:
    unread = f"{counted(len(plan.errors), 'device')} could not be read" if plan.errors else ""
    if not plan.changed:
        same = f"{counted(len(plan.found), 'device')} match their files"
        if plan.affected and not unread:
            return (
                "warn",
                f"Nothing to push: {same}; besides their files, {len(plan.affected)} have what changes the fabric",
            )
        return ("fail", f"{unread}; {same}") if unread else ("pass", f"Nothing to do: {same}")
    counts = [look.counts for look in plan.changes.values()]
    added, removed = (sum(row[at] for row in counts) for at in (0, 1))
    parts = [
        f"{counted(len(plan.changed), 'device')} of {len(plan.found)} change in {counted(len(plan.waves), 'wave')}",
        f"{added:,} statements come and {removed:,} go" if counts else "",
        unread,
        f"{counted(len(foreign_of(plan)), 'device')} would lose what others configured" if foreign_of(plan) else "",
    ]
    traffic = impact.traffic
    less = traffic.arriving[0] - traffic.arriving[1]
    lost = max((lost for lost, _ in traffic.waves.values()), default=0)
    worse = f"{less:,} pairs that arrive now do not arrive after" if less > 0 else ""
    worse = worse or (f"up to {lost:,} pairs are lost while spines are away" if lost else "")
    parts.append(worse or "no pair of leaf and prefix loses its path")
    status: Status = "fail" if unread else "warn" if worse or foreign_of(plan) else "info"
    return status, "; ".join(filter(None, parts))


def _run_verdict(trace: Trace | None, ending: Ending, plan: Plan | None) -> tuple[Status, str]:
    why = _why(trace, ending)
    if trace is None:
        if why:
            return "fail", f"Nothing was changed: {why}"
        return ("pass", "Nothing to do") if plan is None else ("info", "Nothing was changed")
    if trace.past.dry:
        return _dry_verdict(trace, ending)
    outcomes = Counter(outcome for outcome, _ in trace.outcomes.values())
    left = trace.past.left.devices
    if outcomes or left:
        # Waves that did not begin have no outcomes.
        outcomes[Outcome.UNTOUCHED] += len(set(trace.devices) - trace.outcomes.keys() - set(left))
    parts = [f"{outcomes[one]} {one}" for one in Outcome if outcomes[one]]
    all_alike = f"{counted(outcomes.total(), 'device')} {parts[0].partition(' ')[2]}" if len(parts) == 1 else ""
    summary = all_alike or ", ".join(parts)
    if left:
        parts = [f"{counted(len(left), 'device')} unsettled: {_short(left)}", summary, why]
        return "fail", "; ".join(filter(None, parts))
    if not outcomes:
        return ("fail", f"Nothing was changed: {why}") if why else ("pass", "Nothing was left to do")
    bad = bool(why) or bool(outcomes[Outcome.ROLLED_BACK] and not trace.past.is_rollback)
    return ("fail" if bad else "pass"), "; ".join(filter(None, [f"{summary} in {seconds(trace.total)}", why]))


def _why(trace: Trace | None, ending: Ending) -> str:
    """Return why a run did not end well; nothing if it did."""
    ended = {name: reason for name, (_, reason) in trace.outcomes.items() if reason} if trace is not None else {}
    reason = _first(ending.refused) or _first(ended)
    return ": ".join(filter(None, [_one_line(ending.error) or ending.stopped, "" if ending.error else reason]))


def _one_line(error: str) -> str:
    """Return a message as one line, without what the verdict says itself."""
    lines = [line.strip() for line in error.removeprefix("nothing was changed:").splitlines() if line.strip()]
    more = [f"and {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "; ".join([*lines[:LINES], *more])


def _dry_verdict(trace: Trace, ending: Ending) -> tuple[Status, str]:
    refused = len(ending.refused)
    if refused:
        some = f"{counted(refused, 'device')} of {len(trace.devices)}"
        return "fail", f"Dry run: {some} refuse the change; nothing was committed"
    if not trace.checks or ending.stopped or ending.error:
        return "fail", f"Dry run: not finished; {ending.error or ending.stopped or 'the record breaks off'}"
    return "pass", f"Dry run: {counted(len(trace.devices), 'device')} accept the change; nothing was committed"


def _first(reasons: Mapping[str, str]) -> str:
    if not reasons:
        return ""
    more = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{next(iter(reasons.values()))}{more}"


def _short(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _run_facts(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Return what the record says of how a run was begun."""
    begin = next((event for event in trace.past.events if event["event"] == "begin"), {})
    approved, options = begin.get("approved", {}), begin.get("options", {})
    names = ("min_paths", "max_failures", "confirm_minutes", "verify_timeout", "on_failure", "driver")
    return (
        ("Run", trace.past.run),
        ("Takes back", trace.past.undoes),
        ("Began", str(begin.get("time", ""))),
        ("Lasted", seconds(trace.total)),
        ("Approved", f"{approved.get('by', '')} ({approved.get('how', '')})" if approved else ""),
        ("Version", str(begin.get("version", ""))),
        ("Plan", str(begin.get("plan", {}).get("file", ""))),
        ("Options", ", ".join(f"{name.replace('_', ' ')} {options[name]}" for name in names if name in options)),
    )
