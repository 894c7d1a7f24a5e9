"""Pull facts of a fabric from a source of truth into the files beside its fabric file, and tell conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.errors import IntentError, OutputError, UsageError
from ailb_gen.progress import Progress, Warn, quiet, unheeded

if TYPE_CHECKING:
    from ailb_gen.checks.model import Result
    from ailb_gen.intent.load import Intent
    from ailb_gen.intent.servers import ServerOverride
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.sot.dialect import Dialect


# A file with such a problem is none that a pull wrote; what it says besides would be lost.
NO_TABLE = frozenset({"csv-row", "duplicate-key", "missing-key", "unknown-key"})
KEEPS = "correct or delete the file; the pull would lose the order of its rows, and facts that only it has"


@dataclass(frozen=True, slots=True)
class PulledFile:
    """A file that pulling writes: its rows before and after, how many of those are new and gone; all 0 at first."""

    path: Path
    content: bytes
    added: int
    removed: int
    rows: int

    @property
    def changed(self) -> bool:
        """Whether the file there differs."""
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True)
class PullReport:
    """The files of a pull, and the conflicts as a report of checks."""

    files: tuple[PulledFile, ...]
    report: CheckReport

    def write(self) -> None:
        """Write the files that change: the old ones are replaced when all of them are written. Raises OutputError."""
        from ailb_gen.atomic import replacing

        path = Path()
        try:
            with ExitStack() as stack:
                for path, content in ((file.path, file.content) for file in self.files if file.changed):
                    target = stack.enter_context(replacing(path))
                    target.write(content)
                    # A full disk is met here, before the first file is replaced.
                    target.flush()
        except OSError as error:
            raise OutputError(
                f"cannot write {path}: {error.strerror or error}; pull again when it can be written"
            ) from error


@dataclass(frozen=True, slots=True)
class _Loaded:
    """An intent, and those of the pulled files that it was read without: not there yet, or not usable.

    `early`: servers with an entry under `overrides` that no file has yet; `intent` is without these entries.
    """

    intent: Intent
    absent: frozenset[str]
    unusable: frozenset[str]
    early: Mapping[str, ServerOverride]


def pull(
    fabric: str | Path,
    dialect: Dialect,
    *,
    site: str = "",
    output: str | Path | None = None,
    check: bool = False,
    progress: Progress = quiet,
    warn: Warn = unheeded,
) -> PullReport:
    """Read a site from a source of truth; return the files of servers, switches and cables, and the conflicts.

    Without `output`, the files are beside the fabric file. Nothing is written, neither here nor there. With `check`,
    the report fails for a warning, too. Raises IntentError, UsageError, SourceError, UnusableError.
    """
    from ailb_gen.api.inputs import fabric_file
    from ailb_gen.design.build import build
    from ailb_gen.sot.conflicts import Comparison, conflicts
    from ailb_gen.sot.desired import desired, options_of, scope_of
    from ailb_gen.sot.pull import CABLING, SERVERS, known_of
    from ailb_gen.sot.pull import pull as pulled_of
    from ailb_gen.sot.site import read_site

    path = fabric_file(Path(fabric))
    folder = path.parent if output is None else Path(output)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such directory; make it first")
    loaded = _load(path, warn)
    design = build(loaded.intent)[0]
    options = options_of(loaded.intent.fabric, site)
    known = known_of(loaded.intent.fabric, design)
    there = read_site(dialect, scope_of(design, options), progress)
    if not known.switches.keys() & there.devices.keys():
        raise UsageError(
            f"{there.service} shows no switch of {design.name} in site {options.site}; name the site with --site, and "
            "check whether it has the devices, and whether the token may see them"
        )
    pulled = pulled_of(there, known)
    _check_early(loaded, {server.name for server in pulled.servers})
    files = tuple(_change(folder / name, content, there.service) for name, content in pulled.files(known).items())
    listed, usable = SERVERS not in loaded.absent | loaded.unusable, CABLING not in loaded.unusable
    results = conflicts(Comparison(there, known, desired(design, options), pulled, listed, usable))
    _note_unread(loaded.intent, warn)
    return PullReport(files, _report(loaded.intent, design.roles, folder, results, check))


def _load(path: Path, warn: Warn) -> _Loaded:
    """Read a fabric file; those of its CSV files that a pull writes may be missing or unusable."""
    from ailb_gen.design.build import build
    from ailb_gen.intent.load import parse
    from ailb_gen.sot.pull import FILES, SERVERS, SWITCHES
    from ailb_gen.textio import read_text

    text = read_text(path, str(path))
    absent = frozenset(name for name in FILES if not (path.parent / name).exists())
    unusable: frozenset[str] = frozenset()
    while True:
        try:
            intent = parse(text, str(path), path.parent, absent | unusable)
            early = _early(intent)
            intent = _with_servers(
                intent, {name: one for name, one in intent.fabric.overrides.servers.items() if name not in early}
            )
            build(intent)
        except IntentError as error:
            wrong = {problem.place.file for problem in error.problems if problem.severity == "error"}
            if not wrong or not wrong <= set(FILES):
                raise
            by_hand = [one for one in error.problems if one.code in NO_TABLE and one.place.file in (SERVERS, SWITCHES)]
            if by_hand:
                raise IntentError(replace(one, hint=KEEPS) for one in by_hand) from error
            unusable |= wrong
            for name in sorted(wrong):
                first = next(problem for problem in error.problems if problem.place.file == name)
                warn(f"{name} cannot be used, and is compared with nothing: {first}")
        else:
            return _Loaded(intent, absent, unusable, early)


def _early(intent: Intent) -> Mapping[str, ServerOverride]:
    """Return what the fabric file itself says under `overrides` about servers that it does not have."""
    from ailb_gen.checks.expected_hosts import places

    names = {place.name for place in places(intent.fabric)}
    there = intent.fabric.overrides.servers
    own = {name for name in there if intent.source.locate(("overrides", "servers", name)).file == intent.source.file}
    return {name: one for name, one in there.items() if name in own - names}


def _with_servers(intent: Intent, servers: Mapping[str, ServerOverride]) -> Intent:
    """Return an intent with other entries of servers under `overrides`."""
    overrides = intent.fabric.overrides.model_copy(update={"servers": dict(servers)})
    return replace(intent, fabric=intent.fabric.model_copy(update={"overrides": overrides}))


def _check_early(loaded: _Loaded, pulled: Collection[str]) -> None:
    """Raise IntentError for entries of servers that the source does not have either."""
    from ailb_gen.design.build import build

    missing = {name: one for name, one in loaded.early.items() if name not in pulled}
    if missing:
        build(_with_servers(loaded.intent, loaded.intent.fabric.overrides.servers | missing))


def _change(path: Path, content: bytes, service: str) -> PulledFile:
    """Compare a file with its new content. Raises UsageError for a file that would lose all its rows."""
    from ailb_gen.textio import read_bytes

    old = read_bytes(path, str(path)).splitlines() if path.exists() else []
    new = content.splitlines()
    before, after = Counter(old), Counter(new)
    if len(new) == 1 < len(old):
        raise UsageError(
            f"{service} shows nothing for {path}, which has {len(old) - 1:,} rows: the token may see only a part; "
            "delete the file if nothing is right"
        )
    return PulledFile(path, content, (after - before).total(), (before - after).total(), len(new) - 1)


def _note_unread(intent: Intent, warn: Warn) -> None:
    """Say which of the files the fabric file does not read."""
    from ailb_gen.sot.pull import CABLING, SERVERS, SWITCHES

    fabric = intent.fabric
    keys: Mapping[str, tuple[str, str | None]] = {
        SERVERS: ("servers", fabric.servers.csv),
        SWITCHES: ("management", fabric.management.csv),
        CABLING: ("cabling", fabric.cabling.csv),
    }
    unread = [f"{key}: {{csv: {name}}}" for name, (key, csv) in keys.items() if csv != name]
    if unread:
        warn(f"{intent.source.file} does not read all of these files; to take facts from them, add {', '.join(unread)}")


def _report(
    intent: Intent, roles: Mapping[str, str], folder: Path, results: tuple[Result, ...], check: bool
) -> CheckReport:
    from ailb_gen.checks.model import Run
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    run = Run(intent.fabric.name, intent.source.file, str(folder), tuple(sorted(roles.items())), results)
    verdict = judge(run, (), {result.check.id for result in results}, (), "note" if check else "error")
    return CheckReport(verdict, "inventory pull")
