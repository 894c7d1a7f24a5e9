"""What a check changes is undone: by itself, or by the next one if it was killed."""

from __future__ import annotations

import json

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.errors import LabError, UsageError
from ailb_gen.lab import run_directory
from ailb_gen.lab.check.changes import RECORD, LabChanges, alone
from ailb_gen.lab.faults import FaultKind, fail, faults_of
from ailb_gen.lab.kernel import addresses
from ailb_gen.lab.routers import control_socket
from ailb_gen.network.fabric import End
from tests.checks.trees import GOLDEN
from tests.lab.isolated import isolated
from tests.lab.labs import running, wired_up

LEAF = "stripe1-leaf1"
ENDS = (End(LEAF, "et-0/0/0"), End("spine2", "et-0/0/1"))
PREFIX = Prefix(0xFC00_00FF << 96, 64)


def left_by_links() -> list[str]:
    """What has failed, step by step."""
    _, plan, _ = wired_up()
    fail(plan, "spine4", FaultKind.CARRIER)
    seen = [len(faults_of(plan))]
    # It is killed now.
    LabChanges(plan).fail(ENDS, FaultKind.CARRIER)
    seen.append(len(faults_of(plan)))
    with alone(plan):
        seen.append(len(faults_of(plan)))
        with pytest.raises(UsageError, match="another 'lab check' of this lab is running"), alone(plan):
            pass
    return [*map(str, seen), run_directory.here(RECORD).read_text()]


def test_links_that_a_killed_check_took_down_are_repaired() -> None:
    *counts, record = isolated(left_by_links, tools=("ip",))
    assert counts == ["4", "6", "4"], "what somebody else took down stays down"
    assert json.loads(record) == {"failed": [], "addresses": {}}


def left_by_a_probe() -> list[tuple[bool, bool]]:
    """Whether a leaf has the address of a probe, and runs another configuration, step by step."""
    plan = running(GOLDEN / "lab").plan
    seen = []

    def look() -> None:
        has = any(PREFIX.holds(one.value) for one in addresses(LEAF))
        seen.append((has, control_socket(LEAF).with_suffix(".probe").exists()))

    text = control_socket(LEAF).with_suffix(".conf").read_text()
    look()
    changed = LabChanges(plan).running(LEAF, f"{text}# other", "lo", PREFIX)
    changed.__enter__()
    look()
    with alone(plan):
        look()
    try:
        with LabChanges(plan).running(LEAF, "no configuration", "lo", PREFIX):
            pass
    except LabError:
        look()
    return seen


def test_a_probe_of_a_killed_check_is_withdrawn() -> None:
    nothing = (False, False)
    assert isolated(left_by_a_probe, tools=("ip", "bird")) == [nothing, (True, True), nothing, nothing]
