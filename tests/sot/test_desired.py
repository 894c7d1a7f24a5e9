"""The records of a design: complete, each once, and every reference leads to one of them."""

from collections import Counter

import pytest

from ailb_gen.api.generate import compute_design
from ailb_gen.intent.load import load
from ailb_gen.sot.desired import DesiredOptions, desired, options_of, scope_of
from ailb_gen.sot.records import ORDER, Ref, SourceRecord, Value
from tests.conftest import EXAMPLES, SMALL, intent_of

MANAGED = (
    SMALL
    + """\
management: {leaves: 192.0.2.1/24, spines: 192.0.2.101/24, servers: 198.51.100.1/24, gateway: 192.0.2.254}
loopbacks: {leaves: 2001:db8:1::/64, spines: 2001:db8:2::/64}
"""
)


def records(text: str) -> dict[Ref, SourceRecord]:
    """Return the records of a fabric by reference."""
    intent = intent_of(text)
    return {one.ref: one for one in desired(compute_design(intent), options_of(intent.fabric))}


def refs(value: Value) -> list[Ref]:
    """Return every reference in a value."""
    if isinstance(value, tuple):
        return [ref for one in value for ref in refs(one)]
    return [value] if isinstance(value, Ref) else []


@pytest.mark.parametrize("name", ["jvd", "lab", "mixed", "static"])
def test_every_reference_leads_to_a_record_that_is_created_before(name: str) -> None:
    intent = load(EXAMPLES / name / "fabric.yaml")
    found = desired(compute_design(intent), options_of(intent.fabric, "pod 1"))
    by_ref = {one.ref: one for one in found}
    assert len(by_ref) == len(found)
    assert list(found) == sorted(found, key=lambda one: one.sort_key)
    for record in found:
        for field, value in record.fields.items():
            for ref in refs(value):
                assert ref in by_ref, (record, field)
                assert (ORDER[ref.kind] > ORDER[record.kind]) == (field in ("primary_ip", "primary_mac"))


def test_the_validated_design() -> None:
    intent = load(EXAMPLES / "jvd" / "fabric.yaml")
    found = {one.ref: one for one in desired(compute_design(intent), DesiredOptions("dc1"))}
    assert Counter(ref.kind for ref in found) == {
        "tag": 2, "custom-field": 2, "site": 1, "manufacturer": 2, "device-role": 3, "device-type": 2, "platform": 2,
        "rir": 1, "asn": 20, "vlan-group": 2, "vlan": 16, "device": 24, "interface": 228, "prefix": 66,
        "ip-address": 84, "cable": 96, "config-context": 1,
    }  # fmt: skip
    switch = found[Ref("device-type", ("Juniper", "QFX5240-64OD"))]
    ports = switch.fields["ports"]
    assert isinstance(ports, tuple)
    assert (len(ports), ports[0]) == (64, ("et-0/0/0", "800gbase-x-osfp"))
    uplink = found[Ref("interface", ("stripe1-leaf1", "et-0/0/0:0"))].fields
    assert (uplink["type"], uplink["speed"], uplink["mtu"], uplink["color"]) == ("400gbase-x-osfp", 400, 9216, "green")
    downlink = found[Ref("interface", ("stripe1-leaf1", "et-0/0/16:0"))].fields
    assert downlink["vlan"] == Ref("vlan", ("jvd-stripe1", "2"))
    cable = found[Ref("cable", ("spine1", "et-0/0/0:0", "stripe1-leaf1", "et-0/0/0:0"))]
    assert cable.fields["color"] == "green"


def test_management_addresses_are_primary() -> None:
    found = records(MANAGED)
    leaf = found[Ref("device", ("stripe1-leaf1",))].fields["primary_ip"]
    assert isinstance(leaf, Ref)
    port = found[leaf].fields["interface"]
    assert isinstance(port, Ref)
    assert found[port].fields["management"] is True
    server = next(one for ref, one in found.items() if ref.kind == "device" and "server" in str(one.fields["role"]))
    assert server.fields["primary_ip"]
    assert found[Ref("prefix", ("192.0.2.0/24",))].shared


def test_static_neighbors_have_sessions_and_discovered_ones_have_none() -> None:
    assert not [ref for ref in records(SMALL) if ref.kind == "bgp-session"]
    found = records(SMALL + "bgp: {neighbors: static}\n")
    sessions = [one for ref, one in found.items() if ref.kind == "bgp-session"]
    assert len(sessions) == 2 * len([ref for ref in found if ref.kind == "cable" and "spine" in str(ref)])
    ends = {(one.fields["local_address"], one.fields["remote_address"]) for one in sessions}
    assert {(peer, own) for own, peer in ends} == ends


def test_known_macs_are_objects_of_their_own() -> None:
    text = SMALL.replace(
        "servers: 2", "servers: [{name: a, nics: [{mac: 'A0:88:C2:3B:50:66'}, {mac: 'a0:88:c2:3b:50:67'}]}]"
    )
    found = records(text.replace("stripes: 2", "stripes: 1"))
    mac = Ref("mac-address", ("a", "gpu0_eth", "a0:88:c2:3b:50:66"))
    assert found[Ref("interface", ("a", "gpu0_eth"))].fields["primary_mac"] == mac
    assert found[Ref("ip-address", ("fc00:1:1:1:a288:c2ff:fe3b:5066/64",))].fields["interface"] == Ref(
        "interface", ("a", "gpu0_eth")
    )


def test_the_scope_is_around_all_addresses_and_numbers() -> None:
    intent = intent_of(MANAGED)
    design = compute_design(intent)
    scope = scope_of(design, options_of(intent.fabric))
    assert (scope.site, scope.fabric) == ("small", "small")
    assert {"fc00::/16", "192.0.2.0/24", "198.51.100.0/24", "2001:db8:1::/64"} <= set(scope.networks)
    assert all(any(first <= one.asn <= last for first, last in scope.asns) for one in design.switches)
