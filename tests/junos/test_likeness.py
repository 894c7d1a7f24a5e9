"""Blocks like those of another switch are judged as when they stand alone, whatever their values are."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.junos import check
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.kept import KeptWalks
from ailb_gen.junos.tree import words_of
from ailb_gen.junos.walk import Walk
from tests.conftest import ROOT
from tests.junos.models import outcome_of, schema

LEAF = (ROOT / "tests/golden/jvd/switches/stripe1-leaf1.conf").read_text()
LINES = LEAF.split("\n")
# Lines with a value that may be another one, in no list and not in quotes. Values that mean something to types or
# constraints.
VALUES = [
    at for at, line in enumerate(LINES) if line.endswith(";") and len(line.split()) > 1 and not {*'"[]'} & {*line}
]
WORDS = (
    *("7", "0", "99999", "x", "trunk", "access", "all", "inner-all", "vpls", "inet6", "et-0/0/0:0", "et-0/0/0:0.0"),
    *("irb.7", "fc00::/7", "fc00:1:1:1::1/64", "10.0.0.1", "64512", "internal", "disable", "none", "mpls", "a" * 300),
)
# A port as the leaf of another rail has it.
OTHER = LEAF.replace("native-vlan-id 2;", "native-vlan-id 9;").replace("members vn2;", "members vn9;")


def checked(reader: AlikeReader, kept: KeptWalks, text: str) -> CheckResult:
    return check.check(reader.read(text, "")[0], schema(), None, kept)


@given(st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(WORDS)), min_size=1, max_size=4))
def test_a_switch_with_other_values_is_judged_as_alone(changes: list[tuple[int, str]]) -> None:
    reader, kept, lines = AlikeReader(), KeptWalks(), list(LINES)
    checked(reader, kept, LEAF)
    for at, word in changes:
        lines[at] = f"{lines[at].rsplit(' ', 1)[0]} {word};"
        text = "\n".join(lines)
        assert checked(reader, kept, text) == outcome_of(text)


def test_blocks_with_other_values_are_not_walked() -> None:
    reader, kept = AlikeReader(), KeptWalks()
    checked(reader, kept, LEAF)
    checked(reader, kept, OTHER)
    tree = reader.read(OTHER, "")[0]
    walk = Walk(kept, keeps=True, alike=True)
    with patch.object(Walk, "_entry", side_effect=Walk._entry, autospec=True) as entries:
        walk.run([(Instance(schema().root, tree, None), tree, False)])
    # Only addresses have to be walked where they stand.
    assert [call.args[3].word for call in entries.call_args_list][:2] == ["irb", "2"]
    assert not any(call.args[3].word.startswith("et-") for call in entries.call_args_list)
    assert walk.names >= words_of(tree)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("native-vlan-id 2;", "native-vlan-id 99999;"),
        ("interface-mode trunk;", "interface-mode access;"),
        ("interface-mode trunk;", "interface-mode nonsense;"),
    ],
)
def test_a_value_that_does_not_fit_is_found_in_every_port(before: str, after: str) -> None:
    reader, kept = AlikeReader(), KeptWalks()
    checked(reader, kept, LEAF)
    text = LEAF.replace(before, after)
    found = checked(reader, kept, text)
    assert found == outcome_of(text)
    assert len({one.path[:2] for one in found.findings}) == LEAF.count(before)


def test_constraints_that_look_elsewhere_are_evaluated_where_they_stand() -> None:
    reader, kept = AlikeReader(), KeptWalks()
    checked(reader, kept, LEAF)
    # As for a switch with words that leave other constraints open.
    with patch.object(check, "holds_with", return_value=False) as asked:
        assert checked(reader, kept, OTHER) == outcome_of(OTHER)
    assert asked.call_count == 1
