"""Labels in the small boxes of large fabrics: those that distinguish devices."""

import pytest

from ailb_gen.picture.diagram import labels_of


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("spine1 spine2 spine10", "1 2 10"),
        ("spine1.ams1.example.net spine2.ams1.example.net", "1 2"),
        ("dc7-r1-spine1.pod4 dc7-r1-spine2.pod4 dc7-r2-spine3.pod4", "1 2 3"),
        ("pod1-spine1 pod2-spine2", "1 2"),
        ("1-spine 2-spine", "1 2"),
        ("ams1-spine001 ams1-spine002", "001 002"),
        ("spine1001 spine2001", "1001 2001"),
        # Names that differ in two parts, and in three of which one says nothing more.
        ("ams1-sp1 ams1-sp2 fra1-sp1 fra1-sp2", "ams.1 ams.2 fra.1 fra.2"),
        ("sp1-a sp1-b sp2-a sp2-b", "1.a 1.b 2.a 2.b"),
        ("p1-r1-s1 p1-r1-s2 p1-r2-s1 p2-r3-s1", "1.1 1.2 2.1 3.1"),
        # Names that cannot be compared part by part.
        ("castor pollux", "castor pollux"),
        ("spine-a.ams1.net spine-b2.ams1.net", "a b2"),
        ("spine spine-1", "spine spine-1"),
        ("spine-1-1 spine-1", "spine-1-1 spine-1"),
        ("a.b-c a-b.c", "a.b-c a-b.c"),
        ("SPINEl spine1", "SPINEl spine1"),
        ("spine4001", "spine4001"),
        ("", ""),
    ],
)
def test_labels_differ_where_names_do(names: str, labels: str) -> None:
    found = labels_of(names.split())
    assert found == labels.split()
    assert len(set(found)) == len(found)
