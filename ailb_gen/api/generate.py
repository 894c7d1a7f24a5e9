"""From a fabric file to the design and the tree of configuration files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ailb_gen.api.inputs import intent_of
from ailb_gen.errors import UsageError, WorkerError
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.progress import Progress, Warn, quiet, unheeded

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ailb_gen.design.model import Design
    from ailb_gen.errors import Problem
    from ailb_gen.intent.load import Intent
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.compare import Changes
    from ailb_gen.render.generate import Rendering

# How switch files are written.
Format = Literal["curly", "set"]


@dataclass(frozen=True, slots=True)
class Generation:
    """The files of a fabric beside those that its output directory had.

    `written`: the directory now has them. `warnings` are in the order in which they were found. `fabrics` are the
    folders of a cluster's fabrics, whose devices `design` has.
    """

    design: Design
    rendering: Rendering
    warnings: tuple[Problem, ...]
    written: bool
    fabrics: tuple[str, ...] = ()

    @property
    def changes(self) -> Changes:
        """The paths that are new, changed, deleted and unchanged, relative to the output directory."""
        return self.rendering.changes

    @property
    def files(self) -> dict[str, bytes]:
        """The content of every rendered file by its path, relative to the output directory; links are left out."""
        from ailb_gen.render.artifacts import LINK

        return {path: file.content for path, file in self.rendering.tree.items() if file.mode != LINK}

    def diff(self) -> str:
        """Return unified diffs of what would change. Raises UsageError if it has been written."""
        from ailb_gen.render.tree_diff import diff

        if self.written:
            raise UsageError("the files were written, so no difference is left; call generate with write=False")
        return "".join(diff(self.rendering.target, self.rendering.tree, self.changes))


def compute_design(fabric: Intent | str | Path, warn: Warn = unheeded) -> Design:
    """Compute the design of an intent or a fabric file: every address, port, color and number of every device.

    Raises IntentError for an intent that no fabric can satisfy.
    """
    from ailb_gen.design.build import build

    design, warnings = build(intent_of(fabric))
    for problem in warnings:
        warn(str(problem))
    return design


def generate(
    fabric: Intent | str | Path,
    output: str | Path,
    *,
    limit: Sequence[str] = (),
    templates: Path | None = None,
    form: Format = "curly",
    write: bool = True,
    replace_fabric: bool = False,
    links: bool | None = None,
    jobs: int = 1,
    progress: Progress = quiet,
    warn: Warn = unheeded,
    permit: Callable[[Changes], None] = lambda changes: None,
) -> Generation:
    """Generate the configuration of every device; write what changed to `output`, all of it or nothing.

    `limit` are names, globs or roles of devices; `templates` a directory of templates that replace the shipped ones;
    `links`: servers of one profile are links to it, by default as the directory has it. With `replace_fabric` the
    directory may hold another fabric. `permit` is called with the changes before they are written, and may raise.
    Raises IntentError, UsageError, TemplateError, OutputError, WorkerError.
    """
    from ailb_gen.design.build import build
    from ailb_gen.design.problems import collapsed
    from ailb_gen.network.extra_config import warnings as not_modeled
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.generate import rendering, write_rendering
    from ailb_gen.selection import pick_devices

    output, options = Path(output), RenderOptions(form, templates)
    intent = intent_of(fabric)
    # One pass over large data without cycles: collecting garbage would only cost time.
    with no_garbage_collection():
        design, warnings = build(intent)
        warnings += tuple(collapsed(not_modeled(intent)))
        for problem in warnings:
            warn(str(problem))
        selected = pick_devices(design.roles, limit)
        total = len(design.switches) + len(design.servers) if selected is None else len(selected)
        with render_pool(design, options, min(jobs, total)) as executor, progress("rendering", total) as advance:
            made = rendering(design, output, options, selected, advance, executor, not write, links)
        if replace_fabric or made.before is None or made.before.fabric == design.name:
            moved = tuple(recolored_links(intent, design, made, output))
            for problem in moved:
                warn(str(problem))
            warnings += moved
        if write:
            permit(made.changes)
            write_rendering(made, replace_fabric)
    return Generation(design, made, warnings, write)


@contextmanager
def render_pool(design: Design, options: RenderOptions, jobs: int) -> Iterator[Executor | None]:
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


def recolored_links(intent: Intent, design: Design, made: Rendering, output: Path, folder: str = "") -> list[Problem]:
    """Return a warning of links that have another color in the tree that stands in `output`. Raises OSError.

    `folder` is that of a fabric in the tree of a cluster, with a slash.
    """
    from ailb_gen.layout import TOPOLOGY

    file = f"{folder}{TOPOLOGY}"
    known = made.before.files.get(file) if made.before is not None else None
    if known is None or (file in made.tree and file not in (*made.changes.changed, *made.changes.new)):
        return []
    # Slow to import, and a tree that is new or stays the same needs none of it.
    from ailb_gen.design.recolored import OldColors, recolored, unknown
    from ailb_gen.manifest import found_entry
    from ailb_gen.network.topology import read_topology

    path, where = made.target / file, str(output / folder)
    if found_entry(path) != known:
        return [unknown(intent, where, f"{TOPOLOGY} is missing or was edited")]
    old = read_topology(path.read_text(encoding="utf-8"))
    names = tuple(record.key for record in old.records if record.kind == "color")
    links = {(cable.a.device, cable.a.port, cable.b.device, cable.b.port): cable.color for cable in old.links}
    if old.defects or not set(links.values()) <= set(names):
        return [unknown(intent, where, f"{TOPOLOGY} cannot be read")]
    return recolored(intent, design, OldColors(names, links), where)
