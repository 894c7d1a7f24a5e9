"""Intent in, a working RDMA-load-balanced GPU fabric out: the public Python interface.

Only the names in `__all__` are public; `docs/how-to/use-from-python.md` shows how to use them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ailb_gen.version import __version__ as __version__

if TYPE_CHECKING:
    from ailb_gen.api.check_lab import check_lab as check_lab
    from ailb_gen.api.connect import Connection as Connection
    from ailb_gen.api.connect import connect as connect
    from ailb_gen.api.drain import DrainChange as DrainChange
    from ailb_gen.api.drain import drain as drain
    from ailb_gen.api.drain import undrain as undrain
    from ailb_gen.api.explain import FabricSummary as FabricSummary
    from ailb_gen.api.explain import summarize as summarize
    from ailb_gen.api.export import export as export
    from ailb_gen.api.generate import Generation as Generation
    from ailb_gen.api.generate import compute_design as compute_design
    from ailb_gen.api.generate import generate as generate
    from ailb_gen.api.grow import GrowthResult as GrowthResult
    from ailb_gen.api.grow import grow as grow
    from ailb_gen.api.inputs import load as load
    from ailb_gen.api.maintain import Maintainer as Maintainer
    from ailb_gen.api.maintain import MaintenanceReport as MaintenanceReport
    from ailb_gen.api.maintain import maintainer as maintainer
    from ailb_gen.api.points import Execution as Execution
    from ailb_gen.api.replace import Replacement as Replacement
    from ailb_gen.api.replace import replace_nic as replace_nic
    from ailb_gen.api.replace import replace_server as replace_server
    from ailb_gen.api.replace import replace_switch as replace_switch
    from ailb_gen.api.routes import Routes as Routes
    from ailb_gen.api.routes import compute_routes as compute_routes
    from ailb_gen.api.simulate import SimulationReport as SimulationReport
    from ailb_gen.api.simulate import simulate as simulate
    from ailb_gen.api.simulate import simulate_collective as simulate_collective
    from ailb_gen.api.study import StudyReport as StudyReport
    from ailb_gen.api.study import run_study as run_study
    from ailb_gen.api.validate import validate as validate
    from ailb_gen.api.watch import DeviceWatch as DeviceWatch
    from ailb_gen.api.watch import watch as watch
    from ailb_gen.checks.model import Check as Check
    from ailb_gen.checks.model import Finding as Finding
    from ailb_gen.checks.model import Findings as Findings
    from ailb_gen.checks.model import Severity as Severity
    from ailb_gen.design.model import Design as Design
    from ailb_gen.errors import AilbError as AilbError
    from ailb_gen.errors import IntentError as IntentError
    from ailb_gen.intent.load import Intent as Intent
    from ailb_gen.report.check_report import CheckReport as CheckReport

# The public names by the modules that define them, which are imported when a name is first used: `ailb-gen --help`
# needs none.
_NAMES = {
    "api.check_lab": ("check_lab",),
    "api.connect": ("Connection", "connect"),
    "api.drain": ("DrainChange", "drain", "undrain"),
    "api.explain": ("FabricSummary", "summarize"),
    "api.export": ("export",),
    "api.generate": ("Generation", "compute_design", "generate"),
    "api.grow": ("GrowthResult", "grow"),
    "api.inputs": ("load",),
    "api.maintain": ("Maintainer", "MaintenanceReport", "maintainer"),
    "api.points": ("Execution",),
    "api.replace": ("Replacement", "replace_nic", "replace_server", "replace_switch"),
    "api.routes": ("Routes", "compute_routes"),
    "api.simulate": ("SimulationReport", "simulate", "simulate_collective"),
    "api.study": ("StudyReport", "run_study"),
    "api.validate": ("validate",),
    "api.watch": ("DeviceWatch", "watch"),
    "checks.model": ("Check", "Finding", "Findings", "Severity"),
    "design.model": ("Design",),
    "errors": ("AilbError", "IntentError"),
    "intent.load": ("Intent",),
    "report.check_report": ("CheckReport",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [*_MODULES, "__version__"]  # noqa: PLE0604 - the keys are text


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
