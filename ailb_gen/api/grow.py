"""Growing a fabric: its files edited in place, so that what is there stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.file_edits import EditedFiles, FileEdit, write_edits
from ailb_gen.api.inputs import fabric_file, load
from ailb_gen.errors import IntentError, OutputError, Problem, UsageError
from ailb_gen.progress import Progress, Warn, quiet, unheeded
from ailb_gen.selection import limit_to
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from ailb_gen.design.addition import Addition
    from ailb_gen.design.larger import Edits
    from ailb_gen.design.model import Design
    from ailb_gen.intent.growth import Unit
    from ailb_gen.intent.load import Intent
    from ailb_gen.network.fabric import Network
    from ailb_gen.review.growth import GrowthState


@dataclass(frozen=True, slots=True)
class EmptyCells:
    """Columns of a CSV file that all rows fill in but that of a new server, of which they are not known."""

    file: Path
    server: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrowthResult:
    """A fabric that grows: its design and its files before and after, what is new and what changes.

    `empty` are cells of new rows that people may fill in.
    """

    edits: tuple[FileEdit, ...]
    before: Design
    design: Design
    addition: Addition
    empty: tuple[EmptyCells, ...] = ()

    def write(self) -> None:
        """Write the files. Raises UsageError and OutputError as `write_edits` does."""
        write_edits(self.edits)

    def diff(self) -> str:
        """Return unified diffs of the files."""
        return "".join(edit.diff() for edit in self.edits)

    def pushes(self) -> tuple[str, ...]:
        """Return the options of `deploy` by which the growth is pushed, one push after the other.

        New switches first, as long as nothing faces them, then all others: the ends of their cables.
        """
        if not self.addition.switches:
            return ("",)
        names = [*(one.name for one in self.design.switches), *(one.name for one in self.design.servers)]
        return limit_to([one.name for one in self.addition.switches], names), ""

    def states(self, progress: Progress = quiet) -> tuple[GrowthState, ...]:
        """Return what the fabric is behind every wave of the pushes, and what it has lost then, from generated files.

        Raises TemplateError, OutputError where there is no place for them.
        """
        from ailb_gen.deploy.planning import Position
        from ailb_gen.review.growth import growth_states

        before, after = _network(self.before), _network(self.design)
        colors = {spine: color.name for _, _, spine, _, color, _ in reversed(self.design.links)}
        seats = [
            Position(one.role, colors[one.name] if one.role == "spine" else str(one.number - 1), one.name)
            for one in self.design.switches
        ]
        new = [seat for seat in seats if seat.name not in before.switches]
        pushes = [new, seats] if new else [seats]
        return growth_states(before, after, pushes, [color.name for color in self.design.colors], progress)

    def cabling(self) -> str:
        """Return the new cables as CSV, in the columns of cabling.csv."""
        from ailb_gen.render.fabric_files import cabling

        new = {cable.ends for cable in self.addition.cables}
        head, *rows = cabling(self.design).decode().splitlines(keepends=True)
        # Names and ports hold no commas.
        return head + "".join(row for row in rows if tuple(row.split(",", 4)[:4]) in new)


def _network(design: Design) -> Network:
    """Return the network that the generated files of a fabric describe, without its servers.

    Raises TemplateError, OutputError.
    """
    from tempfile import TemporaryDirectory

    from ailb_gen.network.read import network_of
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.generate import fabric_part

    tree = fabric_part(design, RenderOptions())
    try:
        with TemporaryDirectory(prefix="ailb-gen-") as folder:
            for path, artifact in tree.items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(artifact.content)
            return network_of(Path(folder))
    except OSError as error:
        place = error.filename or "temporary directory"
        raise OutputError(f"{place}: cannot be written: {error.strerror}; name another directory by TMPDIR") from error


def grow(
    fabric: str | Path,
    unit: Unit,
    count: int = 1,
    *,
    rdma: Sequence[str] = (),
    allow_changes: bool = False,
    warn: Warn = unheeded,
) -> GrowthResult:
    """Return a fabric with more stripes, rails, spines, or servers in every stripe; its files are not written yet.

    With more rails, `rdma` are the RDMA devices of the new NICs where `hosts.rdma` lists them.
    Comments, order and form of the files stay. Existing devices keep names, numbers, cables and colors: written out
    as overrides where their place would change them. Raises UsageError where that is not possible, unless
    `allow_changes`, and for files that cannot be edited; IntentError for a fabric that would be too large.
    """
    from ailb_gen.design.build import build
    from ailb_gen.design.larger import larger
    from ailb_gen.design.problems import collapsed
    from ailb_gen.intent.growth import new_rdma_names

    path = fabric_file(Path(fabric))
    intent = load(path)
    before, _ = build(intent)
    if rdma and unit != "rail":
        raise UsageError(f"RDMA devices are named for new rails, not for a new {unit}")
    try:
        chosen = larger(intent, before, unit, count, new_rdma_names(intent, rdma))
    except IntentError as error:
        raise IntentError(_hinted(one, intent, unit, count) for one in error.problems) from error
    if not (chosen.addition.keeps_all or allow_changes):
        raise UsageError(_changes(intent.source.file, unit, count, chosen.addition))
    files = EditedFiles()
    empty = tuple(_apply(files, path, intent, chosen.edits))
    for problem in collapsed(chosen.warnings):
        warn(str(problem))
    return GrowthResult(files.edits(), before, chosen.design, chosen.addition, empty)


def _hinted(found: Problem, intent: Intent, unit: Unit, count: int) -> Problem:
    """Return a problem of a larger fabric with what to do about it here, where that is another call."""
    from ailb_gen.design.headroom import smallest_step

    if (unit, found.code) == ("spine", "uneven-colors") and count % (step := smallest_step(intent, unit)):
        return replace(found, hint=f"add a multiple of {step}: --by {step}")
    if (unit, found.path) == ("rail", "hosts.rdma"):
        return replace(found, hint="give --rdma NAME for each new NIC of a server, in order")
    return found


def _changes(file: str, unit: Unit, count: int, more: Addition) -> str:
    """Return why a fabric does not grow so: what would change of what is there."""
    from ailb_gen.design.addition import changes

    what = "; ".join(f"{name}: {value}" for name, value in changes(more))
    return (
        f"{file}: {counted(count, unit)} more would change existing devices ({what}); nothing was written; "
        "add another number, or give --allow-changes and push in a maintenance window"
    )


def _apply(files: EditedFiles, fabric: Path, intent: Intent, edits: Edits) -> Iterator[EmptyCells]:
    """Edit the text of a fabric file, or of the CSV file that an edited list comes from; yield what new rows lack.

    Raises UsageError.
    """
    from ailb_gen.intent.csv_edit import add_row, has_column, left_empty
    from ailb_gen.intent.edit import edit

    filled: dict[Path, tuple[str, ...]] = {}
    for change in edits:
        group, name = _csv_of(intent, change.path)
        if name is None:
            files.put(fabric, edit(files.text(fabric), change.path, change.value, str(fabric)))
            continue
        file = fabric.parent / name
        text = files.text(file)
        # In a stripe's own file, and with one stripe, the column may be missing.
        needed = group[0] != "stripes" and len(intent.fabric.stripes) > 1
        cells = {
            key: str(value) for key, value in change.value.items() if key != "stripe" or needed or has_column(text, key)
        }
        # Of the rows that were there: those of other new servers are empty, too.
        columns = filled.setdefault(file, left_empty(text, cells))
        if columns:
            yield EmptyCells(file, cells["name"], columns)
        files.put(file, add_row(text, name, cells))


def _csv_of(intent: Intent, path: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], str | None]:
    """Return the group of servers that a path leads into, and the CSV file that it lists; None without one."""
    if "list" not in path or "servers" not in path:
        return (), None
    group = path[: path.index("list")]
    data = intent.source.data
    for step in group:
        data = data[step]
    return group, data.get("csv") if isinstance(data, dict) else None
