"""Routing on a server: rule, table, gateway, NIC."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import address_text, address_value
from ailb_gen.hosts.lookup import MAIN_TABLE, route, table_name
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.hosts.read import read_hosts, read_profile
from ailb_gen.layout import NETPLAN
from tests.conftest import ROOT

PROFILE = read_hosts(ROOT / "tests/golden/lab")[0]["gpu-s1-1"].profile


def value(text: str) -> int:
    found = address_value(text)
    assert found is not None
    return found


def of(tmp_path: Path, text: str) -> ServerProfile:
    path = tmp_path / "p" / NETPLAN
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return read_profile(tmp_path, "p")


@given(leaf=st.integers(1, 2), color=st.integers(1, 4), host=st.integers(2, 2**64 - 1))
def test_the_source_decides_table_gateway_and_nic(leaf: int, color: int, host: int) -> None:
    own = value(f"fc00:1:{leaf}:{color}::")
    away = route(PROFILE, own + host, value(f"fc00:2:{leaf}:{color}::1234"))
    assert (away.table_name, away.nic) == (f"gpu{leaf - 1}_subnet{color}", f"gpu{leaf - 1}_eth")
    assert away.gateway == own + 1
    near = route(PROFILE, own + host, own + 77)
    assert (near.table, near.gateway, near.nic) == (away.table, None, away.nic)


def test_a_foreign_source_gets_the_main_table_without_default_route() -> None:
    found = route(PROFILE, value("fc00:9::1"), value("fc00:2:1:1::5"))
    assert (found.rule, found.table, found.route, found.nic) == (None, MAIN_TABLE, None, "")
    near = route(PROFILE, value("fc00:9::1"), value("fc00:1:2:1::5"))
    assert (near.nic, near.gateway) == ("gpu1_eth", None)


@pytest.mark.parametrize(("source", "gateway"), [("fc00::1", "fe80::1"), ("fd00::1", "fe80::2")])
def test_the_lowest_priority_wins_and_an_empty_table_is_passed_over(tmp_path: Path, source: str, gateway: str) -> None:
    profile = of(
        tmp_path,
        """network: {ethernets: {a: {
  routes: [{to: default, via: "fe80::1", table: 1000}, {to: "::/0", via: "fe80::2", table: 1001}],
  routing-policy: [{from: "::/0", table: 1001, priority: 30}, {from: "fc00::/16", table: 1000, priority: 20},
                   {from: "::/0", table: 999, priority: 10}, {from: "::/0", table: 1000, priority: 40000}]}}}""",
    )
    found = route(profile, value(source), value("fc00:2::1"))
    assert found.gateway is not None
    assert address_text(found.gateway) == gateway
    assert found.table_name == str(found.table)


def test_the_longest_prefix_wins(tmp_path: Path) -> None:
    profile = of(
        tmp_path,
        """network: {ethernets: {a: {
  routes: [{to: "fc00::/16", via: "fe80::1", table: 1000}, {to: "fc00:1::/32", via: "fe80::2", table: 1000},
           {to: "::/0", via: "fe80::3", table: 1000}],
  routing-policy: [{from: "::/0", table: 1000, priority: 30}]}}}""",
    )
    gateways = [route(profile, 1, value(text)).gateway for text in ("fc00:1::9", "fc00:2::9", "fd00::")]
    assert gateways == [value("fe80::2"), value("fe80::1"), value("fe80::3")]


def test_tables_have_names() -> None:
    assert [table_name(PROFILE, table) for table in (10007, 254, 5)] == ["gpu1_subnet4", "main", "5"]
