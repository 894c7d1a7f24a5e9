"""`ailb-gen export`: a design in the form that another program reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, notify
from ailb_gen.cli.live import progress
from ailb_gen.cli.options import JSON, LIMIT, LIST, REPEATS, SIZES, output_option
from ailb_gen.cli.project import source_of
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import UsageError
from ailb_gen.paths import real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.exports.kind import ExportInput

NAME = Annotated[
    str | None, typer.Argument(help="Name of the export; --list shows all.", autocompletion=complete.export)
]
FABRIC = Annotated[Path | None, typer.Argument(help="The fabric file.", metavar="FABRIC", envvar="AILB_FABRIC")]
ARTIFACTS = Annotated[
    Path | None, typer.Argument(help="The generated files, for exports that carry them.", metavar="ARTIFACTS")
]
TEST = Annotated[str, typer.Option("--test", help="Program of nccl-tests, or its path.", metavar="PROGRAM")]
IMAGE = Annotated[str, typer.Option("--image", help="Container image of the program.", metavar="IMAGE")]
RACKS = Annotated[Path | None, typer.Option("--racks", help="CSV file: device, rack, unit.", metavar="FILE")]
LENGTHS = Annotated[
    Path | None,
    typer.Option("--lengths", help="CSV file: a_rack, b_rack, length_m.", metavar="FILE"),
]
MEDIA = Annotated[str, typer.Option("--media", help="Cables: auto, smf, mmf, dac or aoc.", metavar="MEDIA")]
SHEET = Annotated[str, typer.Option("--sheet", help="Labels: l4731, 5160, 5167 or flag.", metavar="SHEET")]
QR = Annotated[bool, typer.Option("--qr", help="Print the cable id as a QR code, too.")]
FONT = Annotated[Path | None, typer.Option("--font", help="TrueType font of a PDF.", metavar="FILE")]
SPARES = Annotated[int, typer.Option("--spares", help="Spares of each item in percent.", metavar="PERCENT")]
SSH_KEY = Annotated[
    list[Path] | None,
    typer.Option("--ssh-key", help="Public key of those who log in to new switches; repeat it.", metavar="FILE"),
]
USER = Annotated[str, typer.Option("--ztp-user", help="User of new switches beside root.", metavar="NAME")]
URL = Annotated[str, typer.Option("--ztp-url", help="Where switches fetch their day-0 files.", metavar="URL")]
PREFIX6 = Annotated[str, typer.Option("--prefix6", help="IPv6 prefix of the management network.", metavar="PREFIX")]
NIC_TYPE = Annotated[str, typer.Option("--nic-type", help="PCI device of the NICs, such as 1021.", metavar="ID")]
PDF = b"%PDF-"


def export(
    ctx: typer.Context,
    name: NAME = None,
    fabric: FABRIC = None,
    artifacts: ARTIFACTS = None,
    out: Annotated[Path | None, output_option("export", "PATH", "--out")] = None,
    limit: LIMIT = None,
    test: TEST = "all_reduce_perf",
    sizes: SIZES = "8M-8G",
    repeats: REPEATS = 3,
    image: IMAGE = "nccl-tests",
    racks: RACKS = None,
    lengths: LENGTHS = None,
    media: MEDIA = "auto",
    sheet: SHEET = "l4731",
    qr: QR = False,
    font: FONT = None,
    spares: SPARES = 0,
    ssh_key: SSH_KEY = None,
    ztp_user: USER = "automation",
    ztp_url: URL = "",
    prefix6: PREFIX6 = "",
    nic_type: NIC_TYPE = "",
    list_all: LIST = False,
    as_json: JSON = False,
) -> None:
    """Print the design in the form that another program reads.

    The name `all` writes all exports into a folder, and removes those of an older run.

    Exit codes: 0 done, 2 bad input, 3 a file cannot be written, or an extension fails.
    """
    from ailb_gen.api.export import ALL
    from ailb_gen.api.generate import compute_design
    from ailb_gen.exports.kind import BootOptions, ExportInput
    from ailb_gen.exports.print_request import PrintRequest
    from ailb_gen.jobs.command import Benchmark, JobRequest, sizes_of

    if list_all:
        _list(as_json)
        return
    if as_json:
        raise UsageError("--json goes with --list; an export has its own format")
    name, fabric = _named(name, fabric, out, [artifacts, racks, lengths, font, *(ssh_key or ())])
    _check_options(ctx, name)
    given = ExportInput(
        compute_design(fabric, notify),
        artifacts,
        JobRequest(tuple(limit or ()), test, Benchmark(*sizes_of(sizes)), repeats, image),
        PrintRequest(racks, lengths, sheet, qr, font, media, spares),
        BootOptions(ztp_user, tuple(ssh_key or ()), ztp_url, prefix6, nic_type),
        notify,
        progress,
    )
    if name == ALL and out is not None:
        _write_all(given, out)
    else:
        _write_one(given, name, out)


def _named(name: str | None, fabric: Path | None, out: Path | None, read: Sequence[Path | None]) -> tuple[str, Path]:
    """Return the name of the export and the fabric file.

    Raises UsageError without one, without a place to write, and where `read`, what else is read, would be overwritten.
    """
    from ailb_gen.api.export import ALL, exports

    if name is None:
        raise UsageError(f"name an export and a fabric file; there are {', '.join(exports())}, or {ALL} of them")
    if fabric is None:
        raise UsageError(f"name the fabric file: ailb-gen export {name} FABRIC")
    if out is not None:
        check_place("-o", out, [fabric, *read])
        if name == ALL and (inside := [one for one in read if one is not None and real(out) in real(one).parents]):
            raise UsageError(
                f"-o: {inside[0]}, which is read, is in {out}, whose files are replaced; name another folder"
            )
    elif name == ALL:
        raise UsageError(f"{ALL} writes a folder; name it with -o")
    return name, fabric


def _list(as_json: bool) -> None:
    from ailb_gen.api.export import exports, kinds
    from ailb_gen.wording import aligned

    origins = {name: origin or "ailb-gen" for name, origin in exports().items()}
    if as_json:
        echo_json(origins)
        return
    rows = [(name, origin, kinds()[name].summary if name in kinds() else "") for name, origin in origins.items()]
    typer.echo("\n".join(line.rstrip() for line in aligned([("export", "from", "for"), *rows])))


def _check_options(ctx: typer.Context, name: str) -> None:
    """Raise UsageError for an option that does not go with the export."""
    from ailb_gen.api.export import ALL, kinds

    for option in dict.fromkeys(option for kind in kinds().values() for option in kind.options):
        takers = [kind.name for kind in kinds().values() if option in kind.options]
        if source_of(ctx, option) == "COMMANDLINE" and name in kinds() and name not in takers:
            raise UsageError(
                f"--{option.replace('_', '-')} does not go with {name}; it goes with {', '.join(takers)}, {ALL}"
            )


def _write_one(given: ExportInput, name: str, out: Path | None) -> None:
    from ailb_gen.api.export import export_files
    from ailb_gen.report.write import write_bytes

    files = export_files(given, name)
    if len(files) > 1:
        if out is None:
            raise UsageError(f"{name} writes {len(files)} files; name their folder with -o")
        for path, data in files.items():
            write_bytes(out / path, data, "export")
    else:
        (data,) = files.values()
        if out is None:
            if data.startswith(PDF) and sys.stdout.isatty():
                raise UsageError(f"{name} is a PDF file, which a terminal cannot show; name a file with -o")
            typer.echo(data, nl=False)
        else:
            write_bytes(out, data, "export")


def _write_all(given: ExportInput, out: Path) -> None:
    """Write every export that the design supports into a folder of its own, and name the others."""
    from ailb_gen.api.export import export_files, exports
    from ailb_gen.exports.folder import write_folder

    files: dict[str, bytes] = {}
    for name in exports():
        try:
            files |= {f"{name}/{path}": data for path, data in export_files(given, name).items()}
        except UsageError as error:
            notify(f"{name} not written: {error}")
    write_folder(out, given.design.name, files)
