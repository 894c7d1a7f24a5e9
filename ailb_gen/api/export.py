"""Exports of a design for other programs: tables of cables and devices, starts of jobs, those of extensions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError
from ailb_gen.extensions import installed
from ailb_gen.wording import did_you_mean

if TYPE_CHECKING:
    from ailb_gen.design.model import Design
    from ailb_gen.jobs.command import JobRequest

Export = Callable[["Design"], str]


def _topology(design: Design) -> str:
    from ailb_gen.render.fabric_files import topology

    return topology(design).decode()


def _cabling(design: Design) -> str:
    from ailb_gen.render.fabric_files import cabling

    return cabling(design).decode()


def _netbox_cables(design: Design) -> str:
    """Return the cables in the columns of NetBox's import form for cables."""
    rows = csv.DictReader(io.StringIO(_cabling(design)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "label"]
    )
    for row in rows:
        a, a_port, b, b_port, *_ = row.values()
        writer.writerow([a, "dcim.interface", a_port, b, "dcim.interface", b_port, row["color"]])
    return text.getvalue()


EXPORTS: dict[str, Export] = {
    "topology": _topology,
    "cabling": _cabling,
    "netbox-cables": _netbox_cables,
}
# Exports that start a job.
JOBS = ("hostfile", "mpirun", "slurm", "slurm-topology", "kubernetes")


def job_export(design: Design, name: str, request: JobRequest) -> str:
    """Return the text of an export that starts a job, one of JOBS.

    Raises UsageError for servers that cannot run the job.
    """
    from ailb_gen.jobs import kubernetes, openmpi, slurm

    texts: dict[str, Callable[[Design, JobRequest], str]] = {
        "hostfile": openmpi.hostfile,
        "mpirun": openmpi.mpirun_script,
        "slurm": slurm.batch_script,
        "slurm-topology": slurm.topology_conf,
        "kubernetes": kubernetes.kubernetes_objects,
    }
    return texts[name](design, request)


def exports() -> dict[str, str]:
    """Return the names of all exports with their origin: empty for those of this program, else the distribution."""
    return dict.fromkeys([*EXPORTS, *JOBS], "") | {
        extension.name: extension.origin for extension in installed("exports")
    }


def export(design: Design, name: str) -> str:
    """Return a design as text in the form of an export: one of EXPORTS or JOBS, or an extension's.

    Raises UsageError for an unknown export, ExtensionError where an extension fails.
    """
    if name in EXPORTS:
        return EXPORTS[name](design)
    if name in JOBS:
        from ailb_gen.jobs.command import JobRequest

        return job_export(design, name, JobRequest())
    known = {extension.name: extension for extension in installed("exports")}
    if name not in known:
        names = [*EXPORTS, *JOBS, *known]
        raise UsageError(f"there is no export {name!r}; {did_you_mean(name, names) or 'there are ' + ', '.join(names)}")
    return known[name].text(design)
