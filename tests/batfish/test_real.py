"""A real Batfish service: `AILB_BATFISH=localhost:9996 pytest -n 0 tests/batfish/test_real.py`.

Nothing else tells whether Batfish really says what the stand-ins say; run it before a release, and whenever the
service or pybatfish is updated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ailb_gen.batfish.address import parse_address
from ailb_gen.batfish.model import Batfish, Row
from ailb_gen.batfish.run import SecondOpinion, second_opinion
from ailb_gen.batfish.service import connect
from ailb_gen.checks.model import Result, RunOptions
from ailb_gen.checks.run import examine
from ailb_gen.intent.load import load
from tests.batfish.near import ALL, OF_SHADOW, Counted
from tests.batfish.recorded import AS_RECORDED, FILES, SHADOWS, rows
from tests.batfish.test_run import DAMAGE, found
from tests.checks.trees import GOLDEN, shown
from tests.conftest import EXAMPLES, need_shared
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import golden
from tests.mutations.tree import copy_with

SERVICE = os.environ.get("AILB_BATFISH", "")
pytestmark = pytest.mark.skipif(not SERVICE, reason="needs a real Batfish service: AILB_BATFISH=HOST[:PORT]")
QUESTIONS = (
    "fileParseStatus",
    "parseWarning",
    "initIssues",
    "undefinedReferences",
    "unusedStructures",
    "switchedVlanProperties",
    "bgpSessionStatus",
    "bgpSessionCompatibility",
)


@pytest.fixture
def batfish() -> Iterator[Batfish]:
    with connect(*parse_address(SERVICE), 600) as service:
        yield service
    assert not service.left_behind


def judged(batfish: Batfish, name: str, root: Path, ids: frozenset[str]) -> list[Result]:
    _, context = examine(load(EXAMPLES / name / "fabric.yaml"), root, RunOptions(frozenset(), executor="serial"))
    return list(second_opinion(batfish, SecondOpinion(context, ids), Counted()))


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield"])
def test_shipped_fabrics_are_clean(batfish: Batfish, name: str) -> None:
    results = judged(batfish, name, GOLDEN / name, ALL)
    assert not shown(results)
    assert {result.check.id for result in results} == ALL
    assert all(result.examined for result in results)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(batfish: Batfish, name: str, tmp_path: Path) -> None:
    kind = next(kind for kind in KINDS if kind.name == name)
    tree = golden("lab")
    copy_with(GOLDEN / "lab", changes_of(kind, tree, chosen(kind, tree, "lab", 1)), tmp_path / "out")
    results = judged(batfish, "lab", tmp_path / "out", OF_SHADOW)
    assert found(results) == set(DAMAGE[name].split()), shown(results)


def comparable(found: list[Row]) -> list[str]:
    """Write rows free of order: Batfish gives sets."""
    return sorted(
        repr({name: sorted(map(str, value)) if isinstance(value, list) else value for name, value in row.items()})
        for row in found
    )


@pytest.mark.parametrize("name", [*FILES, *SHADOWS])
def test_recorded_answers_still_hold(batfish: Batfish, name: str) -> None:
    """What the tests take for Batfish's answers is what this service answers."""
    batfish.upload(name, need_shared(f"batfish-rows/snapshots/{name}"))
    for question in QUESTIONS:
        assert comparable(batfish.ask(question, name)()) == comparable(rows(name, question)), question
    owners = batfish.ask("ipOwners", name, duplicatesOnly=True)
    assert comparable(owners()) == comparable(rows(name, AS_RECORDED["ipOwners"]))
    routes = batfish.ask("routes", name, nodes="leaf2", protocols="bgp")
    assert comparable(routes()) == comparable(rows(name, AS_RECORDED["routes"]))
