"""Tables 2, 4, 8, 9 and 10 of the design guide (the JVD), row by row, with its errata resolved."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.addresses import address_text, eui64
from ailb_gen.design.build import build
from ailb_gen.design.model import Design, DesignServer, DesignSwitch
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import parse
from tests.conftest import design_of, example, intent_of, need_shared

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


def test_table_4_gateways_and_addresses(seed: str, jvd: Design) -> None:
    """All rows are of one leaf: they have the gateways of the first, and addresses in its prefixes."""
    text = section(seed, "Table 4: GPU to Leaf", "BGP DPF (Deterministic")
    rows = re.findall(r"Leaf 1 - \S+ ((?:fc00:\S+ ){4})Server \d - gpu0_eth (\S+) ((?:fc00:\S+ ){4})", text)
    prefixes = leaf(jvd, 1, 1).prefixes
    used = [
        ([one.gateway for one in prefixes], [address_text(one.network | eui64(mac)) for one in prefixes])
        for _, mac, _ in rows
    ]
    assert [(gateways.split(), addresses.split()) for gateways, _, addresses in rows][:1] == used[:1]
    # Errata: row 2 prints the second prefix of leaves 1 to 4 instead of the four prefixes of leaf 1, row 3 the third;
    # the suffix of row 2 belongs to another MAC address.
    for number, (printed, mac, addresses) in enumerate(rows[1:], 2):
        starts = [f"fc00:1:{number_of_leaf}:{number}:" for number_of_leaf in range(1, N + 1)]
        assert printed.split() == [f"{start}:1" for start in starts]
        suffix = "a288:c2ff:fe3b:506a" if mac == "58:a2:e1:46:c6:ca" else used[number - 1][1][0].split(":", 4)[4]
        assert addresses.split() == [f"{start}{suffix}" for start in starts]
    assert used[1][1][0] == "fc00:1:1:1:5aa2:e1ff:fe46:c6ca"


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


KINDS = """
name: f
platform: qfx5240-64od
stripes: [{}, {host_ports: {speed: 800g, packing: spread}}]
rails: 2
spines: 2
servers: [{count: 2}, {count: 1, kind: big}, {count: 2, kind: store, name: "st{s}-{i}", stripe: 2}]
server_kinds:
  big: {host_ports: {speed: 800g, first_port: 24}}
  store: {rails: [1], gpus: off, host_ports: {speed: 200g, first_port: 40, packing: packed}, nic: "ens{i}", mtu: 4200}
"""


def test_kinds_have_rows_of_ports_and_speeds_of_their_own() -> None:
    """A stripe's keys hold for its kinds as well, a kind's own ones win; what is counted is counted by kind."""
    ports = {one.name: (one.ports, {nic.speed_gbps for nic in one.config.nics}) for one in design_of(KINDS).servers}
    assert ports == {
        "server-001": (("et-0/0/16:0",) * 2, {400}),
        "server-002": (("et-0/0/16:1",) * 2, {400}),
        "big-001": (("et-0/0/24",) * 2, {800}),
        "server-003": (("et-0/0/16",) * 2, {800}),
        "server-004": (("et-0/0/17",) * 2, {800}),
        "big-002": (("et-0/0/24",) * 2, {800}),
        "st2-1": (("et-0/0/40:0",), {200}),
        "st2-2": (("et-0/0/40:1",), {200}),
    }


GROWING = """
name: f
platform: qfx5240-64od
stripes: 2
rails: 3
spines: 4
servers: [{{count: {0}}}, {{count: {1}, kind: big}}, {{count: {2}, kind: store, stripe: 2}}, {{count: {3}, kind: log}}]
server_kinds:
  big: {{host_ports: {{speed: 800g, first_port: 24}}}}
  store: {{rails: [2, 0], gpus: off, host_ports: {{speed: 200g, first_port: 40}}}}
  log: {{rails: [1], gpus: off, host_ports: {{speed: 100g, first_port: 52, packing: spread}}}}
"""


@given(st.tuples(*[st.integers(0, 5)] * 4), st.integers(0, 3), st.integers(1, 3))
def test_more_servers_of_a_kind_with_ports_of_its_own_change_nothing_of_others(
    counts: tuple[int, ...], kind: int, more: int
) -> None:
    def others(*numbers: int) -> dict[str, object]:
        grown = ("server", "big", "store", "log")[kind]
        servers = design_of(GROWING.format(*numbers)).servers
        return {one.name: one for one in servers if not one.name.startswith(grown)}

    assert others(*counts) == others(*(count + more * (n == kind) for n, count in enumerate(counts)))


def test_a_server_without_gpus_on_one_rail() -> None:
    """Its first NIC is on the second leaf, and has the tables of a first NIC."""
    store = next(one for one in design_of(KINDS).servers if one.name == "st2-1").config
    (nic,) = store.nics
    assert (nic.name, nic.rdma, nic.rail, nic.leaf, nic.mtu) == ("ens0", "mlx5_0", 1, "stripe2-leaf2", 4200)
    assert [(table.id, table.prefix.text) for table in nic.tables] == [
        (10000, "fc00:2:2:1::/64"),
        (10001, "fc00:2:2:2::/64"),
    ]
    assert (store.environment, store.profile) == ((), "stripe2-store")


def test_kinds_with_one_layout_share_a_row_of_ports() -> None:
    text = "name: f\nstripes: 1\nrails: 1\nspines: 2\nserver_kinds: {a: {}, b: {gpus: off}}\n"
    servers = "servers: [{count: 1, kind: b}, {name: x, kind: a}, {count: 1}]\n"
    found = [(one.name, *one.ports) for one in design_of(text + servers).servers]
    assert found == [("b-001", "et-0/0/16:0"), ("x", "et-0/0/16:1"), ("server-001", "et-0/0/17:0")]


def test_servers_of_a_stripe_replace_what_is_counted_for_all_but_not_for_that_stripe() -> None:
    text = (
        "name: f\nstripes: [{servers: 1}, {}]\nrails: 1\nspines: 2\nserver_kinds: {a: {}}\n"
        "servers: [{count: 2}, {count: 1, kind: a, stripe: 1}, {name: x, stripe: 1}]\n"
    )
    found = [(one.stripe, one.name) for one in design_of(text).servers]
    assert found == [(1, "server-001"), (1, "a-001"), (1, "x"), (2, "server-002"), (2, "server-003")]


def test_the_most_loaded_leaf_decides_about_oversubscription() -> None:
    """The second leaf of stripe 2: 3 x 800g and 2 x 200g against 2 x 400g up."""
    (warning,) = (row for row in build(intent_of(KINDS))[1] if row.code == "oversubscribed")
    assert "leaves of stripes 1 and 2 are oversubscribed up to 3.50:1 (2800g to servers, 800g up)" in warning.reason


def test_the_environment_of_every_kind_with_gpus_is_checked() -> None:
    text = (
        "name: f\nstripes: 1\nrails: 2\nspines: 2\nservers: [{count: 1, kind: a}, {count: 1, kind: b}]\n"
        "server_kinds: {a: {rdma: 'x{i}'}, b: {rdma: 'y{i}', gpus: off}}\n"
        "nccl: {environment: {NCCL_IB_HCA: '=x0,x1'}}\n"
    )
    build(intent_of(text))
    with pytest.raises(IntentError, match="lacks y0"):
        build(intent_of(text.replace(", gpus: off", "")))


def test_of_a_list_of_rdma_devices_a_smaller_server_has_the_first() -> None:
    text = (
        "name: f\nstripes: 1\nrails: 2\nspines: 2\nservers: [{count: 1}, {count: 1, kind: half}]\n"
        "server_kinds: {half: {rails: [1]}}\nhosts: {rdma: [x0, x1]}\nnccl: {environment: {UCX_NET_DEVICES: 'x0:1'}}\n"
    )
    build(intent_of(text))
    with pytest.raises(IntentError, match="x1 is not an RDMA device"):
        build(intent_of(text.replace("x0:1", "x1:1")))


def test_a_csv_file_names_kinds(tmp_path: Path) -> None:
    (tmp_path / "servers.csv").write_text("name,stripe,kind\na,1,half\nb,1,\n")
    text = "name: f\nstripes: 1\nrails: 2\nspines: 2\nservers: {csv: servers.csv}\nserver_kinds: {half: {rails: [1]}}\n"
    design = build(parse(text, "fabric.yaml", tmp_path))[0]
    assert [(one.name, [nic.rail for nic in one.config.nics]) for one in design.servers] == [("a", [1]), ("b", [0, 1])]


def test_the_example_has_the_speeds_of_its_table() -> None:
    rows = {one.name: [(nic.rail, nic.speed_gbps) for nic in one.config.nics] for one in example("mixed").servers}
    assert rows["h100-01"] == [(rail, 400) for rail in range(4)]
    assert rows["b200-01"] == [(rail, 800) for rail in range(4)]
    assert rows["store-2-1"] == [(0, 200), (2, 200)]
