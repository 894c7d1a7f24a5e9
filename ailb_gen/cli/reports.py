"""`--report FORMAT[=FILE]`, the same for every verb: where which report goes, and writing them.

What no option of any verb writes to: files that are read, and generated files. And the pages of verbs that plan and
push, which are written when all else is done, and never in its way.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.console import say
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.paths import real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ailb_gen.cli.fleet import FabricArguments
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.report.pages import PageSubject
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.deploy.wave import RunReport
    from ailb_gen.paint import Paint

# A format, and the file it goes to; None is standard output.
Target = tuple[str, Path | None]
# What goes to standard output when nothing else does.
TABLE = "table"
# Of reports about findings; importing what renders them would take time, and start threads.
FORMATS = (TABLE, "json", "junit", "sarif", "md", "html")
# Of verbs that print a text of their own.
PAGE_FORMATS = ("html",)


def formats(words: Sequence[str] | None = None) -> list[str]:
    """Return the formats of reports about findings; those of extensions only if one of `words` may be one."""
    if all(word.partition("=")[0] in FORMATS for word in words or ()):
        return [*FORMATS]
    from ailb_gen.extensions import installed

    return [*FORMATS, *(extension.name for extension in installed("reports"))]


def targets(words: Sequence[str], inputs: Sequence[Path | None], formats: Sequence[str]) -> list[Target]:
    """Return where which report goes.

    A verb without a format `table` prints its own text, so that each of its reports needs a file. `inputs` are as in
    `check_place`. Raises UsageError before anything has run.
    """
    from ailb_gen.wording import did_you_mean

    targets: list[Target] = []
    for word in words:
        kind, equals, name = word.partition("=")
        if kind not in formats:
            hint = did_you_mean(kind, formats) or f"formats: {', '.join(formats)}"
            raise UsageError(f"--report {word!r}: unknown format; {hint}")
        if equals and not name:
            raise UsageError(f"--report {word!r}: the name of the file is missing")
        targets.append((kind, Path(name) if equals and name != "-" else None))
    seen: set[Path | None] = set()
    for kind, path in targets:
        if path is None and TABLE not in formats:
            raise UsageError(f"--report {kind}: name a file: {kind}=FILE; standard output has the text of this command")
        place = real(path) if path else None
        if place in seen:
            reason = "is written to twice" if path else "takes one report; give the others a file"
            raise UsageError(f"--report {kind}: {path or 'standard output'} {reason}")
        if path:
            check_place(f"--report {kind}", path, inputs)
            if path.is_dir():
                raise UsageError(f"--report {kind}: {path} is a directory; name a file")
        seen.add(place)
    return targets if None in seen or TABLE not in formats else [*targets, (TABLE, None)]


def finding_targets(words: Sequence[str] | None, as_json: bool, inputs: Sequence[Path | None]) -> list[Target]:
    """Return where which report about findings goes; `--json` is short for `--report json`. Raises UsageError."""
    given = [*(words or ()), *(["json"] if as_json else [])]
    return targets(given, inputs, formats(given))


def check_place(option: str, path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write to a file that is read, or to what belongs to generated files, of whichever fabric.

    `inputs` are files and artifact directories; None: there is none. Files that a fabric file names are read, too.
    Raises UsageError.
    """
    from ailb_gen.intent.load import csv_names

    given = [one for one in inputs if one is not None]
    place, read = real(path), {real(one) for one in given}
    # Only what is there can be one of them.
    named = (real(one.parent / name) for one in given if place.is_file() and one.is_file() for name in csv_names(one))
    if place in read or place in named:
        raise UsageError(f"{option}: {path} is an input of this command; name another file")
    if any(_is_artifact(place, folder, read) for folder in place.parents):
        raise UsageError(f"{option}: {path} belongs to the generated files; name another file")


def _is_artifact(place: Path, folder: Path, read: set[Path]) -> bool:
    """Tell whether a place is one of `generate` in a directory that is read, or that has a manifest of this program."""
    from ailb_gen.layout import is_artifact
    from ailb_gen.manifest import read_any

    if not is_artifact(place.relative_to(folder).as_posix()):
        return False
    try:
        return folder in read or read_any(folder) is not None
    except OutputError:
        # Of another program.
        return False


def write_reports(
    where: Sequence[Target],
    made: Mapping[str, Callable[[], str]],
    table: Callable[[Paint], str] = lambda paint: "",
) -> None:
    """Make and write every report, standard output last; `made` are the formats by name, `table` that on a terminal.

    Raises OutputError for those that could not be written, when all others are.
    """
    from ailb_gen.report.write import write

    failed = []
    for kind, path in sorted(where, key=lambda target: target[1] is None):
        if path is None and kind == TABLE:
            show(table(painter()))
            continue
        text = made[kind]()
        if path is None:
            typer.echo(text, nl=False)
            continue
        try:
            # These hold parts of configurations, or whole files.
            write(path, text, private=kind == "html")
        except OutputError as error:
            failed.append(str(error))
    if failed:
        raise OutputError("\n".join(failed))


def page_files(words: Sequence[str] | None, inputs: Sequence[Path | None]) -> tuple[Path, ...]:
    """Return the files that pages go to. Raises UsageError before anything has run."""
    found = targets(words or [], inputs, PAGE_FORMATS)
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
        on = self.on
        if not self.files or on is None:
            # No device was asked for anything.
            return ""
        return write_page(self.files, lambda: self._page(on, error))

    def _page(self, on: DeploySession, error: str) -> str:
        from ailb_gen.api.connect import impact_of_plan
        from ailb_gen.deploy.report.pages import Ending, run_page
        from ailb_gen.deploy.report.trace import trace_of
        from ailb_gen.deploy.run_history import RecordedRun

        records, done = self.place.records, self.report
        # What the error says is in the record, and in what became of the devices.
        ending = Ending(done.refused, done.stopped) if done is not None else Ending({}, error=error)
        trace = trace_of(RecordedRun(self.run, records.events(self.run))) if self.run else None
        file = str(records.log(self.run)) if self.run else ""
        impact = impact_of_plan(self.plan) if self.plan is not None else None
        return run_page(subject_of(self.place, on, self.verb), trace, file, ending, self.plan, impact)


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


def write_page(files: Sequence[Path], page: Callable[[], str]) -> str:
    """Make a page and write it to some files; return what went wrong, which must not be in the way of a push."""
    try:
        text = page()
    except KeyboardInterrupt:
        return f"{files[0]}: not written: interrupted"
    except Exception as error:  # noqa: BLE001 - what has been pushed must end as it did, whatever is wrong with a page
        return f"{files[0]}: the report could not be made: {type(error).__name__}: {error}"
    try:
        write_reports([("html", file) for file in files], {"html": lambda: text})
    except OutputError as error:
        return str(error)
    return ""
