"""`--report html=FILE` of the verbs that plan and push: written when all else is done, and never in its way."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.cli.console import say
from ailb_gen.cli.reports import targets
from ailb_gen.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ailb_gen.cli.fleet import FabricArguments
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.report.pages import PageSubject
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.deploy.wave import RunReport

FORMATS = ("html",)


def files_of(words: Sequence[str] | None, inputs: Sequence[Path | None]) -> tuple[Path, ...]:
    """Return the files that pages go to. Raises UsageError before anything has run."""
    found = targets(words or [], inputs, FORMATS)
    return tuple(path for _, path in found if path is not None)


@dataclass(slots=True)
class Pages:
    """The pages of a run: where they go, and what is noted for them while it runs."""

    files: tuple[Path, ...]
    verb: str
    place: FabricArguments
    on: DeploySession | None = None
    plan: Plan | None = None
    run: str = ""
    report: RunReport | None = None

    def note_plan(self, plan: Plan) -> None:
        """Note what is about to be pushed."""
        self.plan = plan

    def note_run(self, run: str) -> None:
        """Note which run has begun."""
        self.run = run

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the pages when a run is over, however it ended. Raises OutputError if nothing else went wrong."""
        try:
            yield
        except BaseException as error:
            trouble = self._write(str(error) if isinstance(error, Exception) else "it was interrupted")
            if trouble:
                say(f"ailb-gen: {trouble}")
            raise
        trouble = self._write("")
        if trouble:
            raise OutputError(trouble)

    def _write(self, error: str) -> str:
        """Write the pages; return what kept them from being written."""
        if not self.files or self.on is None:
            # No device was asked for anything.
            return ""
        return written(self.files, lambda: self._page(error))

    def _page(self, error: str) -> str:
        from ailb_gen.api.connect import impact_of_plan
        from ailb_gen.deploy.report.pages import Ending, run_page
        from ailb_gen.deploy.report.trace import trace_of
        from ailb_gen.deploy.run_history import RecordedRun

        assert self.on is not None  # noqa: S101 - seen to by the caller
        records, done = self.place.records, self.report
        # What the error says is in the record, and in what became of the devices.
        ending = Ending(done.refused, done.stopped) if done is not None else Ending({}, error=error)
        trace = trace_of(RecordedRun(self.run, records.events(self.run))) if self.run else None
        file = str(records.log(self.run)) if self.run else ""
        impact = impact_of_plan(self.plan) if self.plan is not None else None
        return run_page(subject_of(self.place, self.on, self.verb), trace, file, ending, self.plan, impact)


def subject_of(place: FabricArguments, on: DeploySession, verb: str) -> PageSubject:
    """Return what the pages of a command are about."""
    from ailb_gen.deploy.report.pages import PageSubject

    facts = (
        ("Command", f"ailb-gen {verb}"),
        ("Fabric", str(place.fabric)),
        ("Files", str(place.artifacts)),
        ("Devices", f"{len(on.picked)} of {len(on.roles)}" if len(on.picked) != len(on.roles) else str(len(on.roles))),
    )
    return PageSubject(on.intent.fabric, verb, facts, on.mask)


def written(files: Sequence[Path], page: Callable[[], str]) -> str:
    """Make a page and write it to some files; return what went wrong, which must not be in the way of a push."""
    from ailb_gen.report.write import write

    try:
        text = page()
    except KeyboardInterrupt:
        return f"{files[0]}: not written: interrupted"
    except Exception as error:  # noqa: BLE001 - what has been pushed must end as it did, whatever is wrong with a page
        return f"{files[0]}: the report could not be made: {type(error).__name__}: {error}"
    failed = []
    for file in files:
        try:
            write(file, text, private=True)
        except OutputError as error:
            failed.append(str(error))
    return "\n".join(failed)
