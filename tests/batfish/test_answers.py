"""Names and numbers in rows parsed, and Batfish's names as those of the artifact directory."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.batfish.answers import (
    first_place,
    parse_integer,
    parse_interface,
    parse_ipv4,
    parse_lines,
    parse_network,
    switches_by_file,
    switches_by_node,
    unexpected,
)
from ailb_gen.errors import BatfishError, Place
from tests.batfish.recorded import changed, network

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = st.text(st.characters(codec="ascii", exclude_characters='"[]\n', exclude_categories=["Cc"]), min_size=1)


def test_nodes_are_host_names_in_small_letters() -> None:
    found = network("d_v6_clean")
    assert {node: switch.named for node, switch in switches_by_node(found).items()} == {
        name: name for name in ("leaf1", "leaf2", "spine1", "spine2")
    }
    other = changed(found, "leaf1", host_name="Row-1.Leaf_A")
    assert switches_by_node(other)["row-1.leaf_a"] is other.switches["leaf1"]
    assert "leaf1" not in switches_by_node(other)


def test_a_switch_without_host_name_has_that_of_its_file() -> None:
    found = network("d_v6_clean")
    switch = replace(found.switches["leaf1"], named="LEAF1", host_name="")
    nameless = replace(found, switches={"LEAF1": switch})
    assert switches_by_node(nameless) == {"leaf1": switch}


def test_files_are_those_of_the_snapshot() -> None:
    found = network("d_v6_clean")
    assert switches_by_file(found) == {f"configs/{name}.cfg": switch for name, switch in found.switches.items()}
    curly = changed(found, "leaf1", file="switches/leaf1.conf")
    assert switches_by_file(curly)["configs/leaf1.conf"] is curly.switches["leaf1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaf1[et-0/0/0]", ("leaf1", "et-0/0/0")),
        ("leaf1[et-0/0/0:3.0]", ("leaf1", "et-0/0/0:3.0")),
        ("leaf1[irb.101]", ("leaf1", "irb.101")),
        ('"1leaf"[et-0/0/0]', ("1leaf", "et-0/0/0")),
        ('"row 1/leaf"["re0:mgmt-0.0"]', ("row 1/leaf", "re0:mgmt-0.0")),
    ],
)
def test_interfaces(text: str, expected: tuple[str, str]) -> None:
    assert parse_interface(text) == expected


@given(NAMES, NAMES, st.sampled_from(["{}[{}]", '"{}"[{}]', '{}["{}"]', '"{}"["{}"]']))
def test_whatever_an_interface_is_called(node: str, port: str, form: str) -> None:
    assert parse_interface(form.format(node, port)) == (node, port)


@pytest.mark.parametrize(
    "text",
    ["", "leaf1", "leaf1[]", "[et-0/0/0]", "leaf1[et-0/0/0", "leaf1[a][b]", 'le"af[a]', "leaf1[a] ", None, 7, ["a[b]"]],
)
def test_what_is_no_interface_is_refused(text: object) -> None:
    with pytest.raises(BatfishError, match=f"^{re.escape(f'Batfish answers {str(text)!r} instead of an interface; ')}"):
        parse_interface(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("configs/leaf1.cfg:[92]", [("configs/leaf1.cfg", [92])]),
        ("configs/leaf1.cfg:[92, 93]", [("configs/leaf1.cfg", [92, 93])]),
        ("configs/leaf1.cfg:[]", [("configs/leaf1.cfg", [])]),
        (["configs/a.cfg:[1]", "configs/b.cfg:[2,3]"], [("configs/a.cfg", [1]), ("configs/b.cfg", [2, 3])]),
        (["nothing", "configs/b.cfg:[2]"], [("configs/b.cfg", [2])]),
        ("configs/a:[1].cfg:[2]", [("configs/a:[1].cfg", [2])]),
        ([], []),
        (None, []),
        ("configs/leaf1.cfg", []),
        ("configs/leaf1.cfg:92", []),
        ("configs/leaf1.cfg:[a]", []),
        (":[3]", []),
    ],
)
def test_lines(value: object, expected: list[tuple[str, list[int]]]) -> None:
    assert list(parse_lines(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("configs/leaf1.cfg:[92, 93]", ("leaf1", Place("switches/leaf1.cfg", 92))),
        ("configs/leaf1.cfg:[]", ("leaf1", Place("switches/leaf1.cfg", 1))),
        (["configs/leaf9.cfg:[1]", "configs/spine2.cfg:[7]"], ("spine2", Place("switches/spine2.cfg", 7))),
        (["configs/leaf2.cfg:[3]", "configs/leaf1.cfg:[1]"], ("leaf2", Place("switches/leaf2.cfg", 3))),
        ("switches/leaf1.cfg:[92]", (None, None)),
        ("configs/LEAF1.cfg:[92]", (None, None)),
        (None, (None, None)),
    ],
)
def test_the_place_of_lines(value: object, expected: tuple[str | None, Place | None]) -> None:
    switch, where = first_place(switches_by_file(network("d_v6_clean")), value)
    assert (switch.named if switch is not None else None, where) == expected


def test_numbers_and_addresses() -> None:
    assert [parse_integer(value) for value in (7, "7", " 7 ", -1)] == [7, 7, 7, -1]
    assert parse_ipv4("10.0.0.1") == IPv4Address("10.0.0.1")
    assert parse_network("10.0.0.0/24") == IPv4Network("10.0.0.0/24")


@pytest.mark.parametrize(
    ("read", "what", "values"),
    [
        (parse_integer, "a number", (None, "", "7.0", True, [7])),
        (parse_ipv4, "an IPv4 address", (None, "", "10.0.0.0/24", "fc00::1", 7)),
        (parse_network, "an IPv4 prefix", (None, "", "10.0.0.1/24", "fc00::/64", "10.0.0.0/33")),
    ],
)
def test_what_is_neither_number_nor_address_is_refused(
    read: Callable[[object], object], what: str, values: tuple[object, ...]
) -> None:
    for value in values:
        with pytest.raises(BatfishError) as caught:
            read(value)
        assert str(caught.value) == (
            f"Batfish answers {str(value)!r} instead of {what}; "
            "update both: docker pull batfish/batfish, pip install -U pybatfish"
        )


def test_long_answers_are_cut() -> None:
    assert str(unexpected("a number", "x" * 81)).startswith(f"Batfish answers '{'x' * 80}' instead of a number; ")
