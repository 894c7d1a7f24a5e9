"""`--report FORMAT[=FILE]`, the same for every verb: where which report goes, and writing them.

And what no option of any verb writes to: files that are read, and generated files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.paths import real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ailb_gen.paint import Paint

# A format, and the file it goes to; None is standard output.
Target = tuple[str, Path | None]
# What goes to standard output when nothing else does.
TABLE = "table"
# Of reports about findings; importing what renders them would take time, and start threads.
FORMATS = (TABLE, "json", "junit", "sarif", "md", "html")


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
            raise UsageError(f"--report {word!r}: there is no such format; {hint}")
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


def check_place(option: str, path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write to a file that is read, or to what belongs to generated files, of whichever fabric.

    `inputs` are files and artifact directories; None: there is none. Raises UsageError.
    """
    place, read = real(path), {real(one) for one in inputs if one is not None}
    if place in read:
        raise UsageError(f"{option}: {path} is used by this command already; name another file")
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
