"""A real Batfish service: `AILB_BATFISH=localhost:9996 pytest -n 0 tests/batfish/test_real.py`.

Nothing else tells whether Batfish really says what the fake says; run it before a release, and whenever the
service or pybatfish is updated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ailb_gen.batfish.address import parse_address
from ailb_gen.batfish.answers import Batfish
from ailb_gen.batfish.run import second_opinion
from ailb_gen.batfish.service import connect
from ailb_gen.checks.model import Result
from ailb_gen.intent.load import load
from tests.batfish.fake.near import ALL, OF_SHADOW, Counted, opinion
from tests.batfish.recorded import FILES, SHADOWS
from tests.batfish.test_contract import compare, questions
from tests.batfish.test_run import DAMAGE, damaged, found
from tests.checks.trees import GOLDEN, shown
from tests.conftest import EXAMPLES, need_shared

SERVICE = os.environ.get("AILB_BATFISH", "")
pytestmark = pytest.mark.skipif(not SERVICE, reason="needs a real Batfish service: AILB_BATFISH=HOST[:PORT]")


@pytest.fixture
def batfish() -> Iterator[Batfish]:
    with connect(*parse_address(SERVICE), 600) as service:
        yield service
    assert not service.left_behind


def judged(batfish: Batfish, name: str, root: Path, ids: frozenset[str]) -> list[Result]:
    chosen = opinion(load(EXAMPLES / name / "fabric.yaml"), root, ids)
    return list(second_opinion(batfish, chosen, Counted()))


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "brownfield"])
def test_shipped_fabrics_are_clean(batfish: Batfish, name: str) -> None:
    results = judged(batfish, name, GOLDEN / name, ALL)
    assert not shown(results)
    assert {result.check.id for result in results} == ALL
    assert all(result.examined for result in results)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(batfish: Batfish, name: str, tmp_path: Path) -> None:
    results = judged(batfish, "lab", damaged(name, tmp_path / "out"), OF_SHADOW)
    assert found(results) == set(DAMAGE[name].split()), shown(results)


@pytest.mark.parametrize("name", [*FILES, *SHADOWS])
def test_recorded_answers_still_hold(batfish: Batfish, name: str) -> None:
    """What the tests take for Batfish's answers is what this service answers."""
    batfish.upload(name, need_shared(f"batfish-rows/snapshots/{name}"))
    for question, given, recorded in questions(name):
        compare(question, batfish.ask(question, name, None, **given)(), recorded)
