"""Numbers in the small boxes of large fabrics: those that tell devices apart."""

import pytest

from ailb_gen.picture.grouped import numbers_of


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["spine1", "spine2", "spine10"], ["1", "2", "10"]),
        (["spine1.ams1.example.net", "spine2.ams1.example.net"], ["1", "2"]),
        (["dc7-r1-spine1.pod4", "dc7-r1-spine2.pod4", "dc7-r2-spine3.pod4"], ["1", "2", "3"]),
        (["pod1-spine1", "pod2-spine2"], ["1", "2"]),
        (["spine4001"], ["001"]),
        (["spine1.ams1"], ["1"]),
        (["spine.ams1"], ["1"]),
        (["alpha", "beta"], ["al", "be"]),
        (["alpha", "beta2"], ["al", "2"]),
        ([], []),
    ],
)
def test_numbers_differ_where_names_do(names: list[str], numbers: list[str]) -> None:
    assert numbers_of(names) == numbers
