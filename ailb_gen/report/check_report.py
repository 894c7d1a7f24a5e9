"""The result of `validate`, `drift`, `verify` and `lab check`, and the formats that it can be rendered in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Finding
from ailb_gen.errors import AilbError, UsageError
from ailb_gen.extensions import installed
from ailb_gen.report.json import as_json
from ailb_gen.report.markdown import markdown
from ailb_gen.report.sarif import sarif
from ailb_gen.report.table import table
from ailb_gen.report.verdict import Headline, Verdict
from ailb_gen.wording import did_you_mean

if TYPE_CHECKING:
    # Importing it takes long.
    from ailb_gen.checks.context import Context
    from ailb_gen.kept.since import Since


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A verdict with all that its reports show.

    `command` is the verb, `context` the fabric that was checked, None where there is no picture of it, and `trouble`
    the error that kept checks from running. `proved` is when the checks ran, if that was an earlier run, whose
    findings were taken over. `since` is what was taken over from a base, if one was named.
    """

    verdict: Verdict
    command: str = "validate"
    context: Context | None = None
    trouble: AilbError | None = None
    proved: str = ""
    since: Since | None = None

    @property
    def passed(self) -> bool:
        """Whether no open finding fails the gate, and every check could run."""
        return self.verdict.passed

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that no waiver accepts, in the order of the checks."""
        return tuple(finding for result in self.verdict.run.results for finding in self.verdict.open(result))

    @property
    def causes(self) -> tuple[Headline, ...]:
        """The findings grouped by cause, the most fundamental first."""
        return tuple(self.verdict.headlines())

    def render(self, form: str = "table") -> str:
        """Return the report as text in a format: one of FORMATS, or of an extension.

        Raises UsageError for an unknown format, ExtensionError where an extension fails.
        """
        return format_of(form)(self)

    def __str__(self) -> str:
        return self.verdict.sentence()


Format = Callable[[CheckReport], str]


def _junit(report: CheckReport) -> str:
    from ailb_gen.report.junit import junit  # noqa: PLC0415 - Python's XML brings HTTP and TLS

    return junit(report.verdict)


def _html(report: CheckReport) -> str:
    from ailb_gen.report.html.verdict_page import verdict_html  # noqa: PLC0415 - brings Jinja

    return verdict_html(report.verdict, report.context, report.command)


FORMATS: dict[str, Format] = {
    "table": lambda report: table(report.verdict),
    "json": lambda report: as_json(report.verdict, report.since),
    "junit": _junit,
    "sarif": lambda report: sarif(report.verdict),
    "md": lambda report: markdown(report.verdict),
    "html": _html,
}


def format_of(name: str) -> Format:
    """Return the function that renders a format. Raises UsageError, ExtensionError."""
    if name in FORMATS:
        return FORMATS[name]
    known = {extension.name: extension for extension in installed("reports")}
    if name not in known:
        names = [*FORMATS, *known]
        hint = did_you_mean(name, names) or f"formats: {', '.join(names)}"
        raise UsageError(f"there is no report format {name!r}; {hint}")
    return known[name].text
