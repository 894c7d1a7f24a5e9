"""Where flows start and end: names, NICs, addresses of servers and switches, and what is none of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.addresses import address_text
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.endpoints import flows, leave
from ailb_gen.network.fabric import End, Network
from tests.forwarding.examples import address, network
from tests.routing.fabrics import prefix

MAC_OF_B2 = "fd12:3456:789a:2041:a288:c2ff:fe02:200"


def pairs(name: str, source: str, destination: str, pair: int | None = None) -> list[tuple[str, str]]:
    return [(first.text, last.text) for first, last in flows(network(name), source, destination, pair)]


def test_queue_pair_k_connects_prefixes_k() -> None:
    """The MAC addresses are not in the files: only the prefixes are known."""
    expected = [(f"fc00:1:1:{k}::/64", f"fc00:2:1:{k}::/64") for k in range(1, 5)]
    assert pairs("lab", "gpu-s1-1", "gpu-s2-2") == expected
    assert pairs("lab", "gpu-s1-1", "gpu-s2-2", 3) == expected[2:3]


def test_an_endpoint_in_full() -> None:
    ((first, last),) = flows(network("jvd"), "h100-01:gpu3_eth", "h100-04", 2)
    assert (first.device, first.port, first.pair) == ("h100-01", "gpu3_eth", 2)
    assert (first.prefix, first.address) == (prefix("fc00:1:4:2::/64"), address("fc00:1:4:2::"))
    assert (first.known, first.certain, first.leaf) == (False, True, End("stripe1-leaf4", "et-0/0/16:0"))
    # Without a NIC the destination is the one on the source's rail.
    assert (last.device, last.port, last.leaf) == ("h100-04", "gpu3_eth", End("stripe2-leaf4", "et-0/0/16:1"))
    assert [last.port for _, last in flows(network("jvd"), "h100-01", "h100-04:gpu7_eth")] == ["gpu7_eth"] * 4


def test_addresses_by_mac() -> None:
    """a-gpu1's first NIC has a0:88:c2:01:01:00 and two prefixes."""
    assert pairs("brownfield", "a-gpu1", "b-gpu2") == [
        ("fd12:3456:789a:1041:a288:c2ff:fe01:100", MAC_OF_B2),
        ("fd12:3456:789a:1042:a288:c2ff:fe01:100", MAC_OF_B2.replace(":2041:", ":2042:")),
    ]


def test_an_address_belongs_to_a_nic_and_a_queue_pair() -> None:
    ((first, last),) = flows(network("brownfield"), "a-gpu1", MAC_OF_B2.replace(":2041:", ":2042:"))
    assert (last.device, last.port, last.pair, last.certain) == ("b-gpu2", "eth0_gpu", 2, True)
    assert (first.pair, first.prefix) == (2, prefix("fd12:3456:789a:1042::/64"))
    ((first, last),) = flows(network("brownfield"), MAC_OF_B2, "a-gpu3")
    assert (first.device, first.pair, last.device, last.pair) == ("b-gpu2", 1, "a-gpu3", 1)


def test_another_queue_pair_may_be_asked_to_reach_an_address() -> None:
    ((first, last),) = flows(network("brownfield"), "a-gpu1", MAC_OF_B2, 2)
    assert (first.pair, last.pair) == (2, 1)


def test_any_server_of_a_prefix_may_have_an_address() -> None:
    """Without MAC addresses it is one of them, but not the one that the packets come from."""
    ((first, last),) = flows(network("lab"), "gpu-s1-1", "fc00:1:1:3::17")
    assert (last.device, last.pair, last.certain, last.text) == ("gpu-s1-2", 3, False, "fc00:1:1:3::17")
    assert (first.device, first.pair, first.certain) == ("gpu-s1-1", 3, True)
    ((first, _),) = flows(network("lab"), "fc00:1:1:3::17", "gpu-s2-1")
    assert (first.device, first.certain, address_text(first.address)) == ("gpu-s1-1", False, "fc00:1:1:3::17")


def test_addresses_of_switches() -> None:
    """A gateway is no server's; every queue pair may ask for it. So for a loopback."""
    found = flows(network("lab"), "gpu-s2-1", "fc00:1:1:2::1")
    assert [first.pair for first, _ in found] == [1, 2, 3, 4]
    assert {(last.device, last.port, last.pair, last.leaf) for _, last in found} == {
        ("stripe1-leaf1", "irb.2", 0, End("stripe1-leaf1", "irb.2"))
    }
    ((_, last),) = flows(network("brownfield"), "a-gpu1", "fd00:9::1", 1)
    assert (last.device, last.port, last.prefix) == ("core-a", "lo0.0", prefix("fd00:9::1/128"))


def test_how_a_server_sends() -> None:
    """Rule, table and gateway; on its own prefix there is no gateway."""
    found = network("lab")
    ((first, last),) = flows(found, "gpu-s1-1", "gpu-s2-2", 4)
    lookup = leave(found, first, last.address)
    assert lookup.rule is not None
    assert (lookup.rule.priority, lookup.table_name, lookup.nic) == (10003, "gpu0_subnet4", "gpu0_eth")
    assert lookup.gateway == address("fc00:1:1:4::1")
    ((first, last),) = flows(found, "gpu-s1-1", "gpu-s1-2", 4)
    assert leave(found, first, last.address).gateway is None


REFUSED = [
    ("lab", "nobody", "gpu-s1-1", None, "'nobody': there is no server called 'nobody'; there are 4: gpu-s1-1, "),
    ("lab", "gpu-s1-1", "gpu-s2-22", None, "there is no server called 'gpu-s2-22'; did you mean 'gpu-s2-2'?"),
    ("lab", "spine1", "gpu-s1-1", None, "'spine1': this is a switch; name a server, or an address"),
    ("lab", "gpu-s1-1", "spine1:et-0/0/0", None, "'spine1:et-0/0/0': this is a switch; name a server, or an address"),
    ("lab", "gpu-s1-1:gpu0", "gpu-s1-2", None, "this server has no NIC 'gpu0'; did you mean 'gpu0_eth'?"),
    ("lab", "gpu-s1-1:x", "gpu-s1-2", None, "this server has no NIC 'x'; it has gpu0_eth, gpu1_eth"),
    ("lab", "gpu-s1-1", "gpu-s1-2", 5, "--qp 5: gpu0_eth of gpu-s1-1 has 4 prefixes, counted from 1"),
    ("lab", "gpu-s1-1", "gpu-s1-1", None, "gpu-s1-1 and gpu-s1-1: the same NIC; such packets never leave the server"),
    ("lab", "fc00:1:1:3::17", "gpu-s2-1", 2, "--qp 2: fc00:1:1:3::17 is the address of queue pair 3"),
    ("lab", "fc00:1:1:3::1", "gpu-s2-1", None, "fc00:1:1:3::1: this is an address of stripe1-leaf1, a switch; "),
    ("lab", "gpu-s1-1", "2001:db8::1", None, "2001:db8::1: no server and no switch has an address there; "),
    (
        "brownfield",
        "a-gpu1",
        "fd12:3456:789a:2041::5",
        None,
        "fd12:3456:789a:2041::5: no server has this address; on fd12:3456:789a:2041::/64 are b-gpu1 eth0_gpu, ",
    ),
    ("brownfield", MAC_OF_B2, "b-gpu2:eth0_gpu", None, "the same NIC"),
]


@pytest.mark.parametrize(("name", "source", "destination", "pair", "message"), REFUSED)
def test_what_cannot_be_followed(name: str, source: str, destination: str, pair: int | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        flows(network(name), source, destination, pair)
    assert message in str(caught.value)


def without_rules(found: Network, server: str) -> Network:
    host = found.hosts[server]
    return replace(found, hosts={**found.hosts, server: replace(host, profile=replace(host.profile, rules=()))})


def test_damaged_servers() -> None:
    found = network("lab")
    with pytest.raises(UsageError, match="gpu-s1-1: gpu0_eth has no usable routing rules"):
        flows(without_rules(found, "gpu-s1-1"), "gpu-s1-1", "gpu-s2-1")
    with pytest.raises(UsageError, match="gpu-s2-1: gpu0_eth has no usable routing rules"):
        flows(without_rules(found, "gpu-s2-1"), "gpu-s1-1", "gpu-s2-1")
    host = found.hosts["gpu-s1-1"]
    bare = replace(found, hosts={**found.hosts, "gpu-s1-1": replace(host, profile=replace(host.profile, nics={}))})
    with pytest.raises(UsageError, match="'gpu-s1-1': this server has no NICs in its netplan files"):
        flows(bare, "gpu-s1-1", "gpu-s2-1")
    with pytest.raises(UsageError, match="'gpu-s1-1': the server has cables but no usable files"):
        flows(replace(found, hosts={}), "gpu-s1-1", "gpu-s2-1")
    with pytest.raises(UsageError, match="'x': there is no server called 'x'; there are 0: none"):
        flows(replace(found, hosts={}), "x", "gpu-s2-1")


def test_a_mac_address_that_is_none_is_not_known() -> None:
    found = network("brownfield")
    host = found.hosts["b-gpu2"]
    nic = host.profile.nics["eth0_gpu"]
    match = tuple(replace(setting, value="zz:1") for setting in nic.match)
    assert any(setting.key == "macaddress" for setting in nic.match)
    profile = replace(host.profile, nics={**host.profile.nics, "eth0_gpu": replace(nic, match=match)})
    ((_, last),) = flows(
        replace(found, hosts={**found.hosts, "b-gpu2": replace(host, profile=profile)}), "a-gpu1", "b-gpu2", 1
    )
    assert (last.known, last.text) == (False, "fd12:3456:789a:2041::/64")


def test_an_uncabled_nic_has_no_leaf() -> None:
    found = network("lab")
    ((_, last),) = flows(replace(found, attachments={}), "gpu-s1-1", "gpu-s2-1", 1)
    assert last.leaf is None
