"""The fabric of a scenario from the files of `generate` or `collect`."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.errors import UsageError
from ailb_gen.intent.load import load
from ailb_gen.junos.tree import Node
from ailb_gen.manifest import read_any
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.nics import server_nics
from ailb_gen.sim.scenario.models import Files


def _nothing(written: Node, tree: Node) -> int:
    """Look at nothing in a switch's tree."""
    return 0


def read_files(part: Files, folder: Path) -> tuple[tuple[Network, Routing], list[str]]:
    """Read a fabric's files; returns what they are and warnings. Raises UsageError, IntentError, OutputError."""
    artifacts = folder / part.artifacts
    warnings = []
    if part.fabric is not None:
        intent = load(folder / part.fabric)
        manifest = read_any(artifacts) if artifacts.is_dir() else None
        if manifest is not None and manifest.fabric not in ("", intent.fabric.name):
            raise UsageError(
                f"{artifacts}: these are the files of the fabric {manifest.fabric!r}, and {part.fabric} describes "
                f"{intent.fabric.name!r}"
            )
        if manifest is not None and manifest.input_sha256 not in (None, intent.digest):
            warnings.append(f"{artifacts}: {part.fabric} has changed since these files were generated")
    network = read_network(artifacts, _nothing).network
    warnings += [f"{defect.place or defect.scope}: {defect.message}" for defect in network.defects]
    warnings += [doubt for nic in server_nics(network) for doubt in nic.doubts]
    return (network, Routing(network, frozenset(), Graph(network))), warnings
