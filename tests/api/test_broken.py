"""Files that are not the fabric of the intent are not simulated unless that is forced; drops are said first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.api.broken import CHECKS
from ailb_gen.checks.catalogue import CATALOGUE
from ailb_gen.checks.layers import NAMES
from ailb_gen.checks.model import Severity
from ailb_gen.checks.select import pick_checks
from tests.checks.trees import change, rendered
from tests.cli.verbs import refused, run
from tests.sim.damaged.runs import INTENT
from tests.sim.engine.cases import needs_compiler

pytest.importorskip("pyarrow")
pytestmark = needs_compiler
WHAT_IF = """\
fabric: fabric.yaml
artifacts: out
job:
  data: 6
  tensor: 2
  model: {parameters: 1B, layers: 8, hidden: 512, sequence: 512}
  gpu: {flops: 989T, utilization: 50%, memory: 80GB}
balancers: [rlb]
level: flow
"""
LEAF = "switches/stripe1-leaf1.conf"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose first leaf has no headroom, beside its fabric file."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "fabric.yaml").write_text(INTENT)
    (folder / "what-if.yaml").write_text(WHAT_IF)
    rendered(INTENT, folder)
    change(folder / "out" / LEAF, "percent 24", "percent 0")
    return folder


def words(folder: Path) -> tuple[str, ...]:
    place = (str(folder / "fabric.yaml"), str(folder / "out"))
    return (
        "simulate",
        *place,
        "--collective",
        "incast",
        "--bytes",
        "300K",
        "--balancer",
        "rlb",
        "--executor",
        "serial",
    )


def test_what_validation_finds_is_said_and_nothing_simulated(broken: Path) -> None:
    message = "AILB711 stripe1-leaf1: shared-buffer ingress buffer-partition lossless-headroom percent 0 is not what"
    refused(run(*words(broken)), message, "--force simulates the files as they are", code=1)


def test_forced_it_is_simulated_and_the_first_line_says_that_packets_are_dropped(broken: Path) -> None:
    code, printed, _ = run(*words(broken), "--force")
    assert code == 0
    assert printed.startswith("Packets are dropped although PFC is on: rlb (")
    assert "Not simulated:" in printed


def test_a_what_if_study_is_refused_too(broken: Path) -> None:
    told = run("study", "what-if", str(broken / "what-if.yaml"), "--quick", "--executor", "serial")
    refused(told, "AILB711 stripe1-leaf1", code=1)


def test_the_checks_are_errors_of_the_catalogue() -> None:
    chosen = {check.id: check.severity for check in pick_checks(CATALOGUE, NAMES, CHECKS)}
    assert "AILB711" in chosen
    # Statements that nothing reads are listed as not simulated; manifests and names change no packet.
    assert not {"AILB209", "AILB005", "AILB004", "AILB401", "AILB501"} & chosen.keys()
    assert set(chosen.values()) == {Severity.ERROR}
