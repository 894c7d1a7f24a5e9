"""Tables 2, 8, 9 and 10 of the design guide (the JVD), row by row, with its errata resolved."""

import re
from pathlib import Path

import pytest

from ailb_gen.design.model import Design, DesignServer, DesignSwitch
from tests.conftest import need_shared

N, RAILS = 4, 8


@pytest.fixture(scope="module")
def seed() -> str:
    folder = need_shared("seeds")
    return next(Path(folder).glob("001_*.txt")).read_text(encoding="utf-8")


def section(text: str, start: str, end: str) -> str:
    """Return the text between two headings."""
    body = text[text.index(start) :]
    return " ".join(body[: body.index(end)].split())


def leaf(design: Design, stripe: int, number: int) -> DesignSwitch:
    return next(s for s in design.leaves if (s.stripe, s.number) == (stripe, number))


def server(design: Design, stripe: int) -> DesignServer:
    return next(s for s in design.servers if s.stripe == stripe)


def test_table_2_irb_prefixes_and_gateways(seed: str, jvd: Design) -> None:
    text = section(seed, "Table 2: IPV6", "SLAAC Verification")
    rows = re.findall(r"STRIPE (\d) LEAF (\d) (\d+) (\d+) ((?:fc00:\S+ ?){8}) (gpu\d_eth)", text)
    assert len(rows) == 16
    for stripe, number, irb, vlan, addresses, gpu in rows:
        device = leaf(jvd, int(stripe), int(number))
        assert device.vlan is not None
        assert device.vlan.id == int(vlan)
        # Erratum: the IRB column counts from 1; the text and Table 9 use irb.2 to irb.17.
        assert device.vlan.id == int(irb) + 1
        pairs = [word for prefix in device.prefixes for word in (prefix.text, prefix.gateway)]
        assert pairs == addresses.split()
        nics = {nic.leaf: nic.name for s in jvd.servers for nic in s.config.nics}
        assert nics[device.name] == gpu


def test_table_8_routing_tables(seed: str, jvd: Design) -> None:
    text = section(seed, "Table 8: Routing Tables", "Verify that the tables were created")
    rows = [(int(number), name) for number, name in re.findall(r"(\d{5}) (gpu\d_subnet\d)", text)]
    assert len(rows) == N * RAILS
    for stripe in (1, 2):
        assert [(t.id, t.name) for nic in server(jvd, stripe).config.nics for t in nic.tables] == rows


def test_table_9_routes(seed: str, jvd: Design) -> None:
    text = section(seed, "Table 9: Routes", "Verify routes creation")
    rows = re.findall(r"(gpu\d_subnet\d) (fc00:\S+/64) (fc00:\S+) \(leaf (\d) irb\.(\d+)", text)
    assert len(rows) == 2 * N * RAILS
    wanted = []
    for number in range(N * RAILS):
        for stripe in (1, 2):
            nic = server(jvd, stripe).config.nics[number // N]
            table = nic.tables[number % N]
            device = next(s for s in jvd.leaves if s.name == nic.leaf)
            assert device.vlan is not None
            wanted.append((table.name, table.prefix.text, table.prefix.gateway, device.number, device.vlan.id))
    for row, (name, prefix, gateway, number, irb) in zip(rows, wanted, strict=True):
        # Erratum: gpu3_subnet4 of stripe 1 is printed as "leaf 5 irb.5"; it is leaf 4.
        printed = 5 if (name, prefix) == ("gpu3_subnet4", "fc00:1:4:4::/64") else number
        assert row == (name, prefix, gateway, str(printed), str(irb))


def test_table_10_rules(seed: str, jvd: Design) -> None:
    text = section(seed, "Table 10: Table and Prefix", "Verify rules creations")
    rows = re.findall(r"(gpu\d_subnet\d) (fc00:\S+/64) (gpu\d_subnet\d) (fc00:\S+/64)", text)
    assert len(rows) == N * RAILS
    one, two = ([t for nic in server(jvd, s).config.nics for t in nic.tables] for s in (1, 2))
    assert rows == [(a.name, a.prefix.text, b.name, b.prefix.text) for a, b in zip(one, two, strict=True)]


@pytest.mark.parametrize("stripe", [1, 2])
@pytest.mark.parametrize("number", range(1, 9))
def test_the_plan_of_the_tables(jvd: Design, stripe: int, number: int) -> None:
    device = leaf(jvd, stripe, number)
    assert device.vlan is not None
    assert device.name == f"stripe{stripe}-leaf{number}"
    assert device.vlan.id == 2 + 8 * (stripe - 1) + (number - 1)
    assert device.vlan.description == f"Virtual network for rail {number - 1} on leaf {device.name}"
    assert [p.text for p in device.prefixes] == [f"fc00:{stripe}:{number}:{k}::/64" for k in range(1, 5)]
    assert [p.gateway for p in device.prefixes] == [f"fc00:{stripe}:{number}:{k}::1" for k in range(1, 5)]
    assert [p.color.name for p in device.prefixes] == ["green", "blue", "red", "orange"]
    nic = server(jvd, stripe).config.nics[number - 1]
    assert nic.name == f"gpu{number - 1}_eth"
    assert [t.id for t in nic.tables] == [10000 + 4 * (number - 1) + k for k in range(4)]
    assert [t.name for t in nic.tables] == [f"gpu{number - 1}_subnet{k}" for k in range(1, 5)]
