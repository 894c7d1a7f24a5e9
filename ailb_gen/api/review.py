"""Review a change of a fabric from files alone: changed devices, new findings, impact, loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import load
from ailb_gen.api.validate import FailOn, asked_checks, trouble_of
from ailb_gen.errors import AilbError, UsageError
from ailb_gen.progress import Progress, quiet

if TYPE_CHECKING:
    from ailb_gen.api.validate import AskedChecks
    from ailb_gen.checks.before import Known, TakenOver
    from ailb_gen.checks.context import Context
    from ailb_gen.checks.model import Run
    from ailb_gen.intent.load import Intent
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.review.base import BaseFiles
    from ailb_gen.review.changes import ChangedSwitch
    from ailb_gen.review.model import Review


def review(
    fabric: Path,
    artifacts: Path,
    *,
    base: str | None = None,
    before: tuple[Path, Path] | None = None,
    checks: Sequence[str] = (),
    fail_on: FailOn = "error",
    waivers: Path | None = None,
    yang: Path | None = None,
    executor: str = "processes",
    jobs: int | None = None,
    html: bool = False,
    progress: Progress = quiet,
) -> Review:
    """Compare a fabric with `base`, a git revision, or with the fabric file and artifact directory in `before`.

    The other arguments are those of `validate`, for both sides. Switch files that are the same on both are read once.
    Raises UsageError for arguments that cannot be used, IntentError for a fabric file with errors.
    """
    if (base is None) == (before is None):
        raise UsageError("name the files before the change: --base REVISION, or --before FABRIC ARTIFACTS")
    asked = asked_checks(artifacts, checks, waivers, yang, 1, executor, jobs, with_batfish=False, html=html)
    intent = load(fabric)
    with _base(base, before, fabric, artifacts) as old:
        return _BothSides(old, asked, fail_on, progress).review(intent, artifacts)


@contextmanager
def _base(base: str | None, before: tuple[Path, Path] | None, fabric: Path, artifacts: Path) -> Iterator[BaseFiles]:
    """Yield the files before the change. Raises UsageError."""
    from ailb_gen.review.base import BaseFiles, revision

    if base is not None:
        with revision(base, fabric, artifacts) as found:
            yield found
    elif before is not None:
        found = BaseFiles(str(before[0]), *before)
        if found.missing:
            raise UsageError(f"--before {before[0]} {before[1]}: name a fabric file and a directory that exist")
        yield found


class _BothSides:
    """Both sides of a change, checked with the same checks."""

    def __init__(self, base: BaseFiles, asked: AskedChecks, fail_on: FailOn, progress: Progress) -> None:
        self.base, self.asked, self.fail_on, self.progress = base, asked, fail_on, progress

    def review(self, intent: Intent, artifacts: Path) -> Review:
        """Return the review of the files after the change. Raises UsageError."""
        from ailb_gen.network.read import switch_count
        from ailb_gen.report.check_report import CheckReport
        from ailb_gen.report.verdict import judge
        from ailb_gen.review.model import Review

        done, context = self._examine("checking", intent, artifacts)
        verdict = judge(done, self.asked.waivers, self.asked.options.checks, (), self.fail_on)
        trouble = trouble_of(None, self.asked.errors, done.trouble)
        report = CheckReport(verdict, "review", context, trouble)
        if self.base.missing:
            return Review(self.base.name, report, missing=f"there is no {self.base.missing}")
        try:
            old_intent = load(self.base.fabric)
            switch_count(self.base.artifacts)
        except AilbError as error:
            missing = f"the files before the change cannot be used: {self.base.explained(error)}"
            return Review(self.base.name, report, missing=missing)
        return self._compared(report, context, artifacts, old_intent)

    def _compared(self, report: CheckReport, context: Context, artifacts: Path, old_intent: Intent) -> Review:
        from ailb_gen.checks.before import NOTHING_BEFORE, TakenOver
        from ailb_gen.checks.expected import expected_fabric
        from ailb_gen.report.verdict import judge
        from ailb_gen.review.changes import changed_cables, changed_servers, groups_of
        from ailb_gen.review.impact import impact_of
        from ailb_gen.review.model import Review

        base, options = self.base, self.asked.options
        expected = {**expected_fabric(old_intent.fabric).switches, **context.expected.switches}
        switches, same = self._switches(artifacts, {name: switch.role for name, switch in expected.items()})
        known = _known(context, same)
        over = TakenOver(replace(NOTHING_BEFORE, known=known))
        done, old = self._examine("checking the files before", old_intent, base.artifacts, over, context)
        servers = changed_servers((base.artifacts, old.network), (artifacts, context.network))
        return Review(
            base=base.name,
            report=report,
            before=judge(done, self.asked.waivers, options.checks, (), self.fail_on),
            groups=groups_of((*(row.change for row in switches), *servers)),
            cables=changed_cables(old.network, context.network),
            impact=impact_of(old, context, switches, servers),
            reread=(len(old.network.switches) - len(known), len(old.network.switches)),
        )

    def _examine(
        self, title: str, intent: Intent, artifacts: Path, over: TakenOver | None = None, other: Context | None = None
    ) -> tuple[Run, Context]:
        from ailb_gen.checks.progress import STEPS
        from ailb_gen.checks.run import examine

        with self.progress(title, STEPS) as advance:
            return examine(
                intent,
                artifacts,
                self.asked.options,
                advance,
                advance.step,
                self.asked.foreign,
                over=over,
                other=other,
            )

    def _switches(self, artifacts: Path, roles: dict[str, str]) -> tuple[list[ChangedSwitch], dict[str, str]]:
        from ailb_gen.network.read import switch_count
        from ailb_gen.parallel import executor_of
        from ailb_gen.review.changes import changed_switches

        options = self.asked.options
        with executor_of(options.executor, options.jobs, switch_count(artifacts)) as executor:
            return changed_switches((self.base.artifacts, artifacts), roles, executor)


def _known(context: Context, same: dict[str, str]) -> Known:
    """Return the switches that were read and have the same file before the change, each with its commit check."""
    from ailb_gen.checks.run import NOTHING

    commit = context.commit or {}
    switches = context.network.switches
    return {file: (switches[name], commit.get(name, NOTHING)) for name, file in same.items() if name in switches}
