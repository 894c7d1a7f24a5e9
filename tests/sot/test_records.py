"""Neutral records: their kinds, keys and references."""

import pytest

from ailb_gen.sot.records import KINDS, Ref, SourceRecord, cable_ends, cable_key


def test_a_record_has_the_fields_of_its_kind_only() -> None:
    with pytest.raises(ValueError, match="not a site"):
        SourceRecord("site", ("pod1",), {"color": "green"})
    with pytest.raises(ValueError, match="not a interface"):
        SourceRecord("interface", ("leaf1",))


def test_kinds_stand_in_order_of_dependency() -> None:
    order = list(KINDS)
    for name, kind in KINDS.items():
        assert set(kind.late) <= set(kind.fields)
        if kind.inside:
            assert order.index(kind.inside) < order.index(name)


def test_a_cable_has_the_same_key_from_both_ends() -> None:
    key = cable_key("spine1", "et-0/0/0", "leaf1", "et-0/0/10")
    assert key == cable_key("leaf1", "et-0/0/10", "spine1", "et-0/0/0")
    assert cable_ends(key) == (Ref("interface", ("leaf1", "et-0/0/10")), Ref("interface", ("spine1", "et-0/0/0")))
    assert str(Ref("cable", key)) == "cable leaf1 et-0/0/10 - spine1 et-0/0/0"
