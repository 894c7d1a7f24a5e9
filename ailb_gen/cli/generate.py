"""`ailb-gen generate`: from the fabric file to the tree of configuration files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.api.generate import Format
from ailb_gen.api.inputs import is_cluster
from ailb_gen.cli import visible
from ailb_gen.cli.console import echo_changes, echo_json, echo_table, notify
from ailb_gen.cli.live import progress
from ailb_gen.cli.options import FABRIC, JOBS, JSON, LIMIT, output_option
from ailb_gen.cli.steady import steady
from ailb_gen.errors import ExitCode
from ailb_gen.layout import SWITCHES, owner

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ailb_gen.api.generate import Generation
    from ailb_gen.render.compare import Changes

OUTPUT = Annotated[Path, output_option("generated files", "DIR", envvar="AILB_ARTIFACTS")]
TEMPLATES = Annotated[
    Path | None,
    typer.Option(
        "--templates", help="Templates that replace the shipped ones.", metavar="DIR", envvar="AILB_TEMPLATES"
    ),
]
FORMAT = Annotated[Format, typer.Option("--format", help="Format of the switch files.", envvar="AILB_FORMAT")]
CHECK = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 and list what differs.")]
DIFF = Annotated[bool, typer.Option("--diff", help="Write nothing; print unified diffs of what would change.")]
REPLACE = Annotated[bool, typer.Option("--replace-fabric", help="Overwrite the files of a fabric with another name.")]
LINKS = Annotated[
    bool | None,
    typer.Option(
        "--server-links/--no-server-links",
        "--links/--no-links",
        help="Servers of one profile: links to it, or folders; default: as in DIR, links where new.",
        show_default=False,
    ),
]


def generate(
    fabric: FABRIC,
    output: OUTPUT,
    limit: LIMIT = None,
    templates: TEMPLATES = None,
    form: FORMAT = "curly",
    check: CHECK = False,
    diff: DIFF = False,
    replace_fabric: REPLACE = False,
    links: LINKS = None,
    as_json: JSON = False,
    jobs: JOBS = 1,
) -> None:
    """Generate the configuration of every device.

    Only what changed is written, and all of it or nothing. FABRIC may be a cluster file.
    """
    make: Callable[..., Generation]
    if is_cluster(fabric):
        from ailb_gen.api.cluster import generate_cluster as make_cluster

        make = make_cluster
    else:
        from ailb_gen.api.generate import generate as make_fabric

        make = make_fabric
    shows = check or diff
    made = make(
        fabric,
        output,
        limit=limit or (),
        templates=templates,
        form=form,
        write=not shows,
        replace_fabric=replace_fabric,
        links=links,
        jobs=jobs,
        progress=progress,
        warn=notify,
    )
    shown = made.diff() if diff else ""
    if as_json:
        echo_json(_result(made) | ({"diff": shown} if diff else {}))
    else:
        echo_changes(shown.removesuffix("\n").split("\n") if shown else ())
        if check:
            with steady():
                _list_differences(made, output)
        elif diff:
            _say_unwritten(made, output)
        elif not visible.output.quiet:
            _show_summary(made, output)
    if check and made.changes:
        raise typer.Exit(ExitCode.FINDINGS)


def _result(made: Generation) -> dict[str, object]:
    changes = made.changes
    return {
        "fabric": made.design.name,
        "output": str(made.rendering.target),
        "written": made.written,
        "new": changes.new,
        "changed": changes.changed,
        "deleted": changes.deleted,
        "unchanged": changes.unchanged,
        "drained": list(made.design.drained),
        "warnings": [str(problem) for problem in made.warnings],
    }


def _differences(changes: Changes) -> Iterator[str]:
    for word, paths in (
        ("new", changes.new),
        ("changed", changes.changed),
        ("deleted", changes.deleted),
    ):
        yield from (f"{word:8} {path}" for path in paths)


def _list_differences(made: Generation, output: Path) -> None:
    rows = list(_differences(made.changes))
    for row in rows:
        typer.echo(row)
    count = "1 file differs" if len(rows) == 1 else f"{len(rows):,} files differ"
    state = f"{count}; run without --check to write" if rows else "up to date"
    notify(f"{output}: {state}")


def _say_unwritten(made: Generation, output: Path) -> None:
    state = "run without --diff to write this" if made.changes else "up to date"
    notify(f"{output}: {state}")


def _kind(path: str, roles: dict[str, str], fabrics: Collection[str]) -> str:
    fabric, _, rest = path.partition("/")
    path = rest if fabric in fabrics else path
    folder, name = owner(path)
    if folder == SWITCHES:
        return roles.get(name, "removed")
    return "server" if folder else "fabric"


def _show_summary(made: Generation, output: Path) -> None:
    design, changes = made.design, made.changes
    gpus = sum(len(server.config.nics) for server in design.servers if server.config.environment)
    numbers = (
        ("leaves", len(design.leaves)),
        ("spines", len(design.spines)),
        ("servers", len(design.servers)),
        ("GPUs", gpus),
        ("leaf-spine links, BGP sessions", len(design.links)),
        ("colors, prefixes per leaf, QPs per connection", len(design.colors)),
        ("prefixes", len(design.leaves) * len(design.colors)),
    )
    facts = [*((name, f"{count:,}") for name, count in numbers), *(("drained", line) for line in design.drained)]
    roles = design.roles
    counts: dict[str, list[int]] = {}
    touched = ((0, changes.new), (1, changes.changed), (2, changes.deleted))
    kind = partial(_kind, roles=roles, fabrics=made.fabrics)
    for path in made.rendering.tree:
        counts.setdefault(kind(path), [0, 0, 0, 0])[3] += 1
    for column, paths in touched:
        for path in paths:
            counts.setdefault(kind(path), [0, 0, 0, 0])[column] += 1
    order = [name for name in ("leaf", "spine", "server", "fabric", "removed") if name in counts]
    files = ((name, *counts[name][:3], counts[name][3] - counts[name][0] - counts[name][1]) for name in order)
    rows = [(kind, *(f"{count:,}" for count in numbers)) for kind, *numbers in files]
    echo_table(f"{'Cluster' if made.fabrics else 'Fabric'} {design.name}", ("item", "number"), facts)
    typer.echo("")
    echo_table(f"Files in {output}", ("kind", "new", "changed", "deleted", "unchanged"), rows)
