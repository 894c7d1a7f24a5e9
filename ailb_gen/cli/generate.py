"""`ailb-gen generate`: from the fabric file to the tree of configuration files."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_changes, echo_table, fabric_file, warn
from ailb_gen.cli.fleet import FABRIC
from ailb_gen.cli.live import progress
from ailb_gen.cli.output import steady
from ailb_gen.errors import ExitCode, WorkerError
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.layout import SWITCHES, owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from ailb_gen.design.model import Design
    from ailb_gen.errors import Problem
    from ailb_gen.intent.load import Intent
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.generate import Rendering


# How switch files are written.
Format = Literal["curly", "set"]
OUTPUT = Annotated[Path, typer.Option("-o", "--output", help="Directory to write to.", metavar="DIR")]
LIMIT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", help="Only these devices: names, globs or roles.", metavar="PATTERN", autocompletion=complete.limit
    ),
]
TEMPLATES = Annotated[
    Path | None, typer.Option("--templates", help="Templates that replace the shipped ones.", metavar="DIR")
]
FORMAT = Annotated[Format, typer.Option("--format", help="Format of the switch files.")]
CHECK = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 and list what differs.")]
DIFF = Annotated[bool, typer.Option("--diff", help="Write nothing; print unified diffs of what would change.")]
REPLACE = Annotated[bool, typer.Option("--replace-fabric", help="Overwrite the files of a fabric with another name.")]
LINKS = Annotated[
    bool | None,
    typer.Option(
        "--links/--no-links",
        help="Servers of one profile: links to it, or folders; default: as in DIR, links where new.",
        show_default=False,
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
JOBS = Annotated[int, typer.Option("-j", "--jobs", min=1, max=256, help="Processes.")]


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

    Only what changed is written, and all of it or nothing.
    """
    from ailb_gen.design.build import build
    from ailb_gen.design.problems import collapsed
    from ailb_gen.intent.load import load
    from ailb_gen.network.asked import warnings as not_modelled
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.compare import diff as diff_lines
    from ailb_gen.render.generate import rendering, write_rendering
    from ailb_gen.selection import pick_devices

    # One pass over large data without cycles: collecting garbage would only cost time.
    with no_garbage_collection():
        intent = load(fabric_file(fabric))
        design, warnings = build(intent)
        warnings += tuple(collapsed(not_modelled(intent)))
        warn(warnings)
        selected = pick_devices(design.roles, limit or [])
        options = RenderOptions(form, templates)
        shows = check or diff
        total = len(design.switches) + len(design.servers) if selected is None else len(selected)
        with _pool(design, options, min(jobs, total)) as executor, progress("rendering", total) as advance:
            planned = rendering(design, output, options, selected, advance, executor, shows, links)
        if replace_fabric or planned.before is None or planned.before.fabric == design.name:
            warnings += (moved := tuple(_recolored(intent, design, planned, output)))
            warn(moved)
        shown = "".join(diff_lines(planned.target, planned.tree, planned.changes)) if diff else ""
        if not shows:
            write_rendering(planned, replace_fabric)
        if not as_json:
            echo_changes(shown.removesuffix("\n").split("\n") if shown else ())
        if as_json:
            result = _result(design, planned, warnings, not shows) | ({"diff": shown} if diff else {})
            typer.echo(json.dumps(result, indent=1))
        elif check:
            with steady():
                _list_differences(planned, output)
        elif diff:
            _say_unwritten(planned, output)
        else:
            _show_summary(design, planned, output)
        if check and planned.changes:
            raise typer.Exit(ExitCode.FINDINGS)


@contextmanager
def _pool(design: Design, options: RenderOptions, jobs: int) -> Iterator[Executor | None]:
    """Yield a process pool for more than one job or the templates of a user, nothing otherwise.

    Raises WorkerError when a worker dies, TemplateError when templates are the likely reason.
    """
    if jobs < 2 and options.templates is None:
        yield None
        return
    from ailb_gen.parallel import process_pool
    from ailb_gen.render.artifacts import start_worker

    try:
        with process_pool(max(jobs, 1), start_worker, design, options) as executor:
            yield executor
    except WorkerError as error:
        if options.templates is None:
            raise
        from ailb_gen.render.budget import killed

        raise killed(options.templates) from error


def _recolored(intent: Intent, design: Design, rendering: Rendering, output: Path) -> list[Problem]:
    """Return a warning of links that have another color in the tree that stands in `output`. Raises OSError."""
    from ailb_gen.design.recolored import OldColors, recolored, unknown
    from ailb_gen.layout import TOPOLOGY
    from ailb_gen.manifest import found_entry
    from ailb_gen.network.topology import read_topology

    known = rendering.before.files.get(TOPOLOGY) if rendering.before is not None else None
    if known is None or (
        TOPOLOGY in rendering.tree and TOPOLOGY not in (*rendering.changes.changed, *rendering.changes.new)
    ):
        return []
    path, where = rendering.target / TOPOLOGY, str(output)
    if found_entry(path) != known:
        return [unknown(intent, where, f"{TOPOLOGY} is missing or was edited")]
    old = read_topology(path.read_text(encoding="utf-8"))
    names = tuple(record.key for record in old.records if record.kind == "color")
    links = {(cable.a.device, cable.a.port, cable.b.device, cable.b.port): cable.color for cable in old.links}
    if old.defects or not set(links.values()) <= set(names):
        return [unknown(intent, where, f"{TOPOLOGY} cannot be read")]
    return recolored(intent, design, OldColors(names, links), where)


def _result(design: Design, rendering: Rendering, warnings: tuple[Problem, ...], written: bool) -> dict[str, object]:
    changes = rendering.changes
    return {
        "fabric": design.name,
        "output": str(rendering.target),
        "written": written,
        "new": changes.new,
        "changed": changes.changed,
        "deleted": changes.deleted,
        "unchanged": changes.unchanged,
        "drained": list(design.drained),
        "warnings": [str(problem) for problem in warnings],
    }


def _differences(rendering: Rendering) -> Iterator[str]:
    for word, paths in (
        ("new", rendering.changes.new),
        ("changed", rendering.changes.changed),
        ("deleted", rendering.changes.deleted),
    ):
        yield from (f"{word:8} {path}" for path in paths)


def _list_differences(rendering: Rendering, output: Path) -> None:
    rows = list(_differences(rendering))
    for row in rows:
        typer.echo(row)
    count = "1 file differs" if len(rows) == 1 else f"{len(rows)} files differ"
    state = f"{count}; run without --check to write" if rows else "up to date"
    typer.echo(f"{output}: {state}", err=True)


def _say_unwritten(rendering: Rendering, output: Path) -> None:
    """Print that a diff was only shown: what it shows is not on disk."""
    state = "run without --diff to write this" if rendering.changes else "up to date"
    typer.echo(f"{output}: {state}", err=True)


def _kind(path: str, roles: dict[str, str]) -> str:
    folder, name = owner(path)
    if folder == SWITCHES:
        return roles.get(name, "removed")
    return "server" if folder else "fabric"


def _show_summary(design: Design, rendering: Rendering, output: Path) -> None:
    """Print what the fabric is and what was written."""
    gpus = sum(len(server.config.nics) for server in design.servers)
    facts = (
        ("leaves", len(design.leaves)),
        ("spines", len(design.spines)),
        ("servers", len(design.servers)),
        ("GPUs", gpus),
        ("leaf-spine links, BGP sessions", len(design.links)),
        ("colors, prefixes per leaf, QPs per connection", len(design.colors)),
        ("prefixes", len(design.leaves) * len(design.colors)),
        *(("drained", line) for line in design.drained),
    )
    roles = design.roles
    counts: dict[str, list[int]] = {}
    touched = ((0, rendering.changes.new), (1, rendering.changes.changed), (2, rendering.changes.deleted))
    for path in rendering.tree:
        counts.setdefault(_kind(path, roles), [0, 0, 0, 0])[3] += 1
    for column, paths in touched:
        for path in paths:
            counts.setdefault(_kind(path, roles), [0, 0, 0, 0])[column] += 1
    order = [kind for kind in ("leaf", "spine", "server", "fabric", "removed") if kind in counts]
    rows = [(kind, *counts[kind][:3], counts[kind][3] - counts[kind][0] - counts[kind][1]) for kind in order]
    echo_table(f"Fabric {design.name}", ("what", "number"), facts)
    typer.echo("")
    echo_table(f"Files in {output}", ("kind", "new", "changed", "deleted", "unchanged"), rows)
