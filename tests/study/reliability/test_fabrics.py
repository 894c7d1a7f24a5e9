"""Other numbers of spines, and what can fail in a fabric."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.design.build import build
from ailb_gen.errors import UsageError
from ailb_gen.intent.load import load
from ailb_gen.study.reliability.fabrics import inventory_of, with_spines
from ailb_gen.study.reliability.models import Reliability
from tests.conftest import EXAMPLES

FABRIC = EXAMPLES / "study" / "months" / "fabric.yaml"
DESIGN, _ = build(load(FABRIC))
GIVEN = {"mttr": "24h", "checkpoints": {"write": "30s", "restart": "10min"}}


def asked(**more: object) -> Reliability:
    return Reliability.model_validate(GIVEN | more)


def test_a_number_of_spines_is_replaced_and_a_list_is_cut(tmp_path: Path) -> None:
    assert len(build(with_spines(FABRIC, 3))[0].spines) == 3
    listed = tmp_path / "fabric.yaml"
    listed.write_text(FABRIC.read_text().replace("spines: 4", "spines: [{name: a}, {name: b}, {name: c}]"))
    assert [spine.name for spine in build(with_spines(listed, 2))[0].spines] == ["a", "b"]
    with pytest.raises(UsageError, match="lists 3 spines, fewer than 4"):
        with_spines(listed, 4)


def test_everything_that_can_fail_is_counted() -> None:
    found = inventory_of(DESIGN, asked(elements={"optics": {"afr": "2%"}}), used=7, packed=False)
    assert [parts.count for parts in found.all] == [64, 4, 16, 8]
    assert {one.kind: one.count for one in found.links.each} == {"links": 1, "optics": 2}
    assert {one.kind: one.count for one in found.servers.each} == {"nics": 8, "links": 8, "optics": 16}
    # 64 links and as many to servers, with 2 optics each, of which 2 % fail in a year of 12 months.
    assert found.failures_per_month()["optics"] == pytest.approx(256 * 0.02 / 12, rel=1e-3)


def test_copper_has_no_optics_and_packed_jobs_need_fewer_leaves() -> None:
    found = inventory_of(
        DESIGN, asked(media="dac", elements={"links": {"mtbf": "1000h", "mttr": "2h"}}), 4, packed=True
    )
    assert [parts.count for parts in found.all] == [64, 4, 8, 8]
    (link,) = found.links.each
    assert (link.kind, link.mtbf_h, link.mttr_h) == ("links", 1000, 2)
    assert found.spines.each[0].mttr_h == 24
