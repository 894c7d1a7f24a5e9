"""Interfaces for extensions: a distribution adds checks, report formats and exports by entry points.

`ailb_gen.checks` names a Check or a list of them; its `run` gets FabricFiles and Findings. `ailb_gen.reports` names a
function from a CheckReport to text, `ailb_gen.exports` one from a Design to text; the entry point's name is what users
write. `docs/how-to/extend.md` explains each, and `examples/extension` is a complete distribution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ailb_gen.design.model import Design
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import Network
from ailb_gen.report.check_report import CheckReport
from ailb_gen.routing.rib import Routing


class FabricFiles(Protocol):
    """The files of a fabric, as a check sees them; `routing` is computed when it is first used."""

    @property
    def fabric(self) -> Fabric:
        """The intent: the models of `fabric.yaml`."""

    @property
    def network(self) -> Network:
        """The switches, servers and cables as the files describe them."""

    @property
    def routing(self) -> Routing:
        """The routes of all switches that follow from the files."""

    @property
    def root(self) -> Path:
        """The artifact directory."""


class ReportFormat(Protocol):
    """A report format."""

    def __call__(self, report: CheckReport, /) -> str:
        """Return the report as text."""


class Export(Protocol):
    """An export."""

    def __call__(self, design: Design, /) -> str:
        """Return the design as text."""
