"""What the tests of checks share: rendered trees, networks read from them, and findings by check."""

from collections.abc import Iterable
from pathlib import Path

from ailb_gen.checks.catalogue import checks_of
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding, Findings, Result
from ailb_gen.design.build import build
from ailb_gen.intent.load import Intent, load
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import EXAMPLES, ROOT, intent_of

GOLDEN = ROOT / "tests" / "golden"


def fabric_of(name: str) -> Fabric:
    """The intent of a shipped example."""
    return load(EXAMPLES / name / "fabric.yaml").fabric


def network_of(root: Path) -> Network:
    """The network that the files of an artifact directory describe."""
    return read_network(root, lambda *trees: True).network


def rendered(text: str, folder: Path) -> tuple[Intent, Path]:
    """Generate the tree of a fabric file given as text."""
    intent = intent_of(text)
    out = folder / "out"
    write_rendering(rendering(build(intent)[0], out, RenderOptions()))
    return intent, out


def change(path: Path, old: str, new: str, count: int = 1) -> None:
    """Replace the first places of a text in a file, all of them for -1; a text that is not there is an error."""
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, count))


def run_family(start: str, context: Context) -> list[Result]:
    """Run all checks of a family, such as AILB1, over a context."""
    checks, found = checks_of(start), Findings()
    for function in dict.fromkeys(check.run for check in checks if check.run is not None):
        function(context, found)
    return [result for result in found.results(checks) if result.check.run is not None]


def ids(start: str) -> list[str]:
    """The ids of the checks of a family that the driver runs."""
    return [check.id for check in checks_of(start) if check.run is not None]


def findings(results: Iterable[Result]) -> list[Finding]:
    """All findings of all results."""
    return [finding for result in results for finding in result.findings]


def shown(results: Iterable[Result]) -> list[str]:
    """All findings as text, for messages of failed tests."""
    return [f"{finding.check} {finding.scope}: {finding.message} ({finding.place})" for finding in findings(results)]
