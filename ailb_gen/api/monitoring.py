"""Monitoring of a fabric: the files for a collector, Prometheus and Grafana."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.errors import OutputError, UsageError
from ailb_gen.progress import Warn, unheeded

if TYPE_CHECKING:
    from ailb_gen.design.model import Design
    from ailb_gen.exports.kind import Files
    from ailb_gen.monitoring.stack import MonitoringOptions


def monitoring(design: Design, artifacts: Path, options: MonitoringOptions, warn: Warn = unheeded) -> Files:
    """Return the files that monitor a fabric, by path; expected loads follow from its generated files.

    Raises UsageError for a directory that has no generated files, or those of another fabric.
    """
    from ailb_gen.api.routes import doubts
    from ailb_gen.monitoring.expected import expectations
    from ailb_gen.monitoring.stack import monitoring_files
    from ailb_gen.network.routed import read_routed

    network = read_routed(artifacts)
    _check_fabric(design.name, artifacts)
    for doubt in doubts(network):
        warn(doubt)
    expected = expectations(design, network)
    if not expected.uplinks:
        warn("no traffic crosses the spines, so no load is expected: alerts about loads cannot fire")
    return monitoring_files(design, expected, options)


def _check_fabric(name: str, artifacts: Path) -> None:
    """Refuse files of another fabric, which may have the same ports. Raises UsageError."""
    from ailb_gen.manifest import read_any

    try:
        manifest = read_any(artifacts)
    except OutputError:
        # A damaged manifest names no fabric; the ports are compared all the same.
        return
    if manifest is not None and manifest.fabric != name:
        raise UsageError(
            f"{artifacts}: these files are of the fabric {manifest.fabric}, not of {name}; "
            f"name the fabric file of {manifest.fabric}, or the directory of {name}"
        )
