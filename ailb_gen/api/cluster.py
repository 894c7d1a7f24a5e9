"""Generate and validate a cluster: several fabrics, which may share servers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.generate import Generation, recolored_links, render_pool
from ailb_gen.design.build import build
from ailb_gen.design.cluster import check_cluster, cluster_design
from ailb_gen.design.problems import collapsed
from ailb_gen.errors import Problem
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.intent.cluster import load_cluster
from ailb_gen.network.extra_config import warnings as not_modeled
from ailb_gen.progress import Progress, Warn
from ailb_gen.render.generate import cluster_rendering, fabric_part, write_rendering

if TYPE_CHECKING:
    from ailb_gen.design.model import Design
    from ailb_gen.render.artifacts import RenderOptions, Tree


def generate_cluster(
    file: Path,
    output: Path,
    options: RenderOptions,
    write: bool,
    replace_fabric: bool,
    links: bool | None,
    jobs: int,
    progress: Progress,
    warn: Warn,
) -> Generation:
    """Generate all fabrics of a cluster file, each in its folder, and the servers of all (see `generate`)."""
    cluster = load_cluster(file)
    with no_garbage_collection():
        warnings: list[Problem] = []
        designs = []
        for intent in cluster.intents:
            design, found = build(intent)
            designs.append(design)
            warnings += [*found, *collapsed(not_modeled(intent))]
        warnings += check_cluster(cluster, designs)
        for problem in warnings:
            warn(str(problem))

        def part(design: Design) -> Tree:
            total = len(design.switches)
            with render_pool(design, options, min(jobs, total)) as executor, progress("rendering", total) as advance:
                return fabric_part(design, options, advance, executor)

        whole = cluster_design(cluster, designs)
        parts = {design.name: partial(part, design) for design in designs}
        made = cluster_rendering(whole, parts, output, options, not write, links)
        if made.before is not None and (replace_fabric or made.before.fabric == cluster.name):
            for intent, design in zip(cluster.intents, designs, strict=True):
                moved = recolored_links(intent, design, made, output, f"{design.name}/")
                for problem in moved:
                    warn(str(problem))
                warnings += moved
        if write:
            write_rendering(made, replace_fabric)
    return Generation(whole, made, tuple(warnings), write, tuple(parts))
