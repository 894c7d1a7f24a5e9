"""Refuse to simulate a fabric that validation finds broken, where that decides how packets fare."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.errors import BrokenFabricError
from ailb_gen.progress import Progress

if TYPE_CHECKING:
    from ailb_gen.sim.scenario.load import Variant

# Errors of these checks decide how packets fare: cables and speeds, addresses, sessions, colors and policies, load
# balancing, servers, and class of service. Neither names, logins and manifests, nor what is computed from all of this:
# paths and failures. Statements that nothing reads (AILB209) are listed as not simulated.
CHECKS = (
    *("AILB001", "AILB002", "AILB003", "AILB006", "AILB009", "AILB011"),
    *("AILB101", "AILB102", "AILB103", "AILB105", "AILB106", "AILB108", "AILB109"),
    *("AILB201", "AILB202", "AILB203", "AILB205", "AILB206", "AILB207", "AILB208", "AILB212", "AILB213"),
    *("AILB30?", "AILB406", "AILB407", "AILB408"),
    *("AILB60[1-6]", "AILB609", "AILB61[0-4]", "AILB7??"),
)
SHOWN = 5


def refuse_broken(files: Iterable[tuple[Path, Path]], progress: Progress) -> None:
    """Check fabric files with the directories generated from them. Raises BrokenFabricError with the causes."""
    from ailb_gen.api.validate import validate

    for fabric, artifacts in dict.fromkeys(files):
        # A run of a few checks takes one process less time than to start others.
        report = validate(fabric, artifacts, checks=CHECKS, executor="serial", jobs=1, html=False, progress=progress)
        if report.passed:
            continue
        causes = report.causes
        rows = [f"  {one.finding.check} {one.finding.scope}: {one.finding.message}" for one in causes[:SHOWN]]
        rows += [f"  and {len(causes) - SHOWN} more"] if len(causes) > SHOWN else []
        hint = f"'ailb-gen validate {fabric} {artifacts}' shows all; --force simulates the files as they are"
        raise BrokenFabricError("\n".join([f"{artifacts} is not the fabric of {fabric}: {hint}", *rows]))


def files_of(variants: Iterable[Variant], folder: Path) -> list[tuple[Path, Path]]:
    """Return the fabric files of scenarios, with the directories that are to be simulated."""
    parts = (variant.scenario.fabric.files for variant in variants)
    return [
        (folder / part.fabric, folder / part.artifacts)
        for part in parts
        if part is not None and part.fabric is not None
    ]
