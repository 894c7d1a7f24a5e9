"""The report of a verdict: `validate`, `lab check`, `drift` and `verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Result
from ailb_gen.picture.build import picture_of, unread
from ailb_gen.picture.model import Overlay
from ailb_gen.picture.overlays import drained_in, findings_on
from ailb_gen.report.html.checks import checks_section, waivers_section
from ailb_gen.report.html.devices import device_states, devices_section
from ailb_gen.report.html.fabric import fabric_section
from ailb_gen.report.html.failures import failures_section
from ailb_gen.report.html.findings import findings_section
from ailb_gen.report.html.loads import loads_section
from ailb_gen.report.html.page import Page, Section, Status, html
from ailb_gen.report.html.paths import paths_section
from ailb_gen.report.verdict import Verdict
from ailb_gen.wording import clean, counted, some

# The verbs that compute what follows from the files; the others look at devices.
OF_FILES = ("validate", "lab check")


def verdict_html(verdict: Verdict, context: Context | None, command: str) -> str:
    """Return the report as HTML.

    `context` is what was examined; without it the picture is that of the artifact directory. `command` is the verb.
    """
    return html(page_of(verdict, context, command))


def page_of(verdict: Verdict, context: Context | None, command: str) -> Page:
    """Return the page: verdict, fabric, findings, devices, waivers, checks."""
    run = verdict.run
    return Page(
        f"{clean(run.fabric)}: {command}",
        _status(verdict),
        verdict.sentence(),
        _facts(verdict, context, command),
        tuple(_sections(verdict, context, command)),
    )


def _sections(verdict: Verdict, context: Context | None, command: str) -> Iterator[Section]:
    picture = picture_of(context.expected, context.network) if context is not None else None
    marks = findings_on(picture, _open(verdict), verdict.run.folders) if picture is not None else {}
    if context is not None and picture is not None:
        causes = findings_on(picture, _causes(verdict), verdict.run.folders)
        overlay = Overlay(
            drained=drained_in(picture, context.expected.drained),
            missing=unread(picture, context.network),
            findings=causes,
        )
        more = replace(overlay, findings=marks) if marks != causes else None
        yield fabric_section(picture, overlay, more)
    yield findings_section(verdict)
    waivers = waivers_section(verdict)
    if waivers is not None:
        yield waivers
    if context is not None and picture is not None:
        yield devices_section(context, picture, marks, _places(verdict))
    if context is not None and command in OF_FILES:
        yield paths_section(context, marks)
        yield loads_section(context)
        yield failures_section(context)
    yield checks_section(verdict)


def _places(verdict: Verdict) -> set[str]:
    """Return the files of the open findings."""
    found = (finding.place for result in verdict.run.results for finding in verdict.open(result))
    return {place.file for place in found if place is not None}


def _causes(verdict: Verdict) -> list[Result]:
    """Return the results with the findings that lead their group and no others."""
    leads = {row.finding for row in verdict.headlines()}
    return [
        replace(result, findings=tuple(finding for finding in result.findings if finding in leads))
        for result in verdict.run.results
    ]


def _open(verdict: Verdict) -> list[Result]:
    return [replace(result, findings=verdict.open(result)) for result in verdict.run.results]


def _status(verdict: Verdict) -> Status:
    if verdict.failed or verdict.run.trouble:
        return "fail"
    return "warn" if any(verdict.status(result) == "warn" for result in verdict.run.results) else "pass"


def _in_state(states: Mapping[str, str], state: str) -> str:
    names = [name for name, one in states.items() if one == state]
    return some(names) if names else ""


def _facts(verdict: Verdict, context: Context | None, command: str) -> tuple[tuple[str, str], ...]:
    run = verdict.run
    roles = Counter(role for _, role in run.roles)
    devices = ", ".join(counted(count, role) for role, count in sorted(roles.items()))
    states = device_states(context) if context is not None else {}
    rows = (
        ("Command", f"ailb-gen {command}"),
        ("Cluster" if run.is_cluster else "Fabric", clean(run.intent)),
        ("Files", clean(run.artifacts)),
        ("Devices", devices),
        ("Without a file", _in_state(states, "no file")),
        ("Unreadable file", _in_state(states, "unreadable file")),
        ("Incomplete", clean(run.trouble)),
        *(("Note", clean(note)) for note in run.notes),
    )
    return tuple(row for row in rows if row[1])
