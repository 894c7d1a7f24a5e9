"""Generate and validate a cluster: several fabrics, which may share servers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.generate import Generation, recolored_links, render_pool
from ailb_gen.design.build import build
from ailb_gen.design.cluster import check_cluster, cluster_design
from ailb_gen.design.problems import collapsed
from ailb_gen.errors import Problem, UsageError
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.intent.cluster import Cluster, load_cluster
from ailb_gen.layout import SWITCHES
from ailb_gen.network.extra_config import warnings as not_modeled
from ailb_gen.progress import Progress, Warn, quiet, unheeded
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import cluster_rendering, fabric_part, write_rendering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.api.generate import Format
    from ailb_gen.api.validate import FailOn
    from ailb_gen.checks.model import Run
    from ailb_gen.design.model import Design
    from ailb_gen.render.artifacts import Tree
    from ailb_gen.report.check_report import CheckReport


def generate_cluster(
    file: Path,
    output: Path,
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
) -> Generation:
    """Generate all fabrics of a cluster file, each in a folder of `output`, beside the servers of all.

    Arguments and errors are those of `generate`; a `limit` is a UsageError.
    """
    if limit:
        raise UsageError("--limit: the servers of a cluster depend on all fabrics; generate the whole cluster")
    options = RenderOptions(form, templates)
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


def validate_cluster(
    file: Path,
    artifacts: Path,
    *,
    checks: Sequence[str] = (),
    limit: Sequence[str] = (),
    fail_on: FailOn = "error",
    waivers: Path | None = None,
    yang: Path | None = None,
    seed: int = 1,
    executor: str = "processes",
    jobs: int | None = None,
    batfish: str | None = None,
    batfish_failures: int | str | None = None,
    html: bool = True,
    progress: Progress = quiet,
) -> CheckReport:
    """Check all fabrics of a cluster file, and then together.

    Arguments and errors are those of `validate`; those of Batfish are a UsageError.
    """
    from ailb_gen.api.batfish import most_failures
    from ailb_gen.api.validate import asked_checks, trouble_of
    from ailb_gen.checks.catalogue import OF_CLUSTER, checks_of
    from ailb_gen.checks.cluster_parts import cluster_parts
    from ailb_gen.checks.cluster_run import in_cluster, joined
    from ailb_gen.checks.expected_hosts import expected_hosts
    from ailb_gen.checks.families.cluster import check_cluster as compare
    from ailb_gen.checks.model import Findings
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.hosts.read import read_hosts
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    if batfish is not None:
        raise UsageError("--batfish: a service computes one fabric; name a fabric file instead of the cluster file")
    most_failures(batfish_failures, False)
    asked = asked_checks(artifacts, checks, waivers, yang, seed, executor, jobs, False, html, of_cluster=True)
    cluster = load_cluster(file)
    _check_folders(cluster, artifacts)
    expected = {intent.fabric.name: expected_hosts(intent.fabric) for intent in cluster.intents}
    parts = cluster_parts(*read_hosts(artifacts), expected)
    runs: list[Run] = []
    contexts = {}
    for intent in cluster.intents:
        name = intent.fabric.name
        with progress(f"checking {name}", STEPS) as advance:
            options, foreign, part = asked.options, asked.foreign, parts[name]
            done, context = examine(intent, artifacts / name, options, advance, advance.step, foreign, part=part)
        runs.append(in_cluster(done, name))
        contexts[name] = context
    findings = Findings()
    compare(cluster, contexts, artifacts, findings)
    chosen = [check for check in checks_of(OF_CLUSTER) if check.id in asked.options.checks]
    together = tuple(findings.results(chosen))
    run = joined(cluster.name, file, artifacts, runs, together)
    trouble = trouble_of(None, asked.errors, run.trouble)
    run = replace(run, trouble=str(trouble or ""))
    each = [*(one.results for one in runs), together]
    verdict = judge(run, asked.waivers, asked.options.checks, limit, fail_on, parts=each)
    return CheckReport(verdict, "validate", None, trouble)


def _check_folders(cluster: Cluster, artifacts: Path) -> None:
    """Refuse a directory that lacks the switches of a fabric. Raises UsageError."""
    names = [intent.fabric.name for intent in cluster.intents]
    absent = [name for name in names if not (artifacts / name / SWITCHES).is_dir()]
    if absent:
        folders = ", ".join(f"{name}/{SWITCHES}/" for name in absent)
        reason = f"the directory of cluster {cluster.name} lacks {folders}"
        raise UsageError(f"{artifacts}: {reason}; 'ailb-gen generate {cluster.file} -o {artifacts}' writes them")
