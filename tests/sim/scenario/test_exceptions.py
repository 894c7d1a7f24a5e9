"""Settings of single switches and ports in scenarios."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.point import Point
from ailb_gen.sim.scenario.exceptions import UNSET
from ailb_gen.sim.scenario.fabrics import points_of
from ailb_gen.sim.scenario.load import parse
from tests.conftest import ROOT

CLOS = "fabric: {clos: {leaves: 2, spines: 2, hosts_per_leaf: 2}}"
JVD = "fabric: {files: {artifacts: tests/golden/jvd}}"
TRAFFIC = "traffic: [{collective: {kind: permutation, bytes: 1M}}]"


def point(fabric: str, switches: str, balancer: str = "dlb") -> Point:
    text = f"{fabric}\nswitches: {switches}\nbalancer: {balancer}\n{TRAFFIC}"
    return points_of(parse(text, "scenario.yaml"), ROOT)[0][0]


def into(fabric: FabricArrays, node: str) -> list[int]:
    return np.flatnonzero(fabric.link_target == fabric.names.index(node)).tolist()


def test_of_a_switch_and_of_a_port() -> None:
    rows = "{at: leaf1, pfc: off, shared_buffer: 1MiB, ingress_alpha: 2, ecn: {min: 1, max: 2}}, "
    rows += "{at: 'spine1:leaf2', obeys_pauses: off, headroom: 5kB, ecn: off}"
    found = point(CLOS, f"{{shared_buffer: 9MiB, pfc: on, ecn: {{min: 10, max: 20}}, exceptions: [{rows}]}}")
    fabric, switches = found.fabric, found.settings.switches
    names = fabric.names[fabric.host_count :]
    assert np.asarray(switches.shared_buffer_bytes).tolist() == [
        1 << 20 if name == "leaf1" else 9 << 20 for name in names
    ]
    assert np.array_equal(switches.ingress_alpha, np.where(np.array(names) == "leaf1", 2, 1 / 16))
    assert isinstance(switches.pfc, np.ndarray)
    assert np.flatnonzero(~switches.pfc).tolist() == into(fabric, "leaf1")
    (port,) = [link for link, name in enumerate(fabric.link_names) if name == "spine1:leaf2"]
    assert isinstance(switches.obeys_pauses, np.ndarray)
    assert np.flatnonzero(~switches.obeys_pauses).tolist() == [port]
    # Headroom is for what comes in there; of other ports it is as much as is needed.
    assert isinstance(switches.headroom_bytes, np.ndarray)
    assert switches.headroom_bytes[fabric.link_reverse[port]] == 5000
    assert set(np.delete(switches.headroom_bytes, fabric.link_reverse[port])) == {-1}
    assert switches.ecn_min_bytes is not None
    leaf = fabric.link_source == fabric.names.index("leaf1")
    assert set(switches.ecn_min_bytes[leaf]) == {1}
    assert switches.ecn_min_bytes[port] == -1
    assert set(np.delete(switches.ecn_min_bytes[~leaf], port - leaf[:port].sum())) == {10}


def test_the_last_one_counts_and_the_files_hold_for_the_others() -> None:
    rows = "{at: 'stripe1-*', ingress_alpha: 1}, {at: stripe1-leaf2, ingress_alpha: 3}"
    found = point(JVD, f"{{exceptions: [{rows}]}}")
    names = found.fabric.names[found.fabric.host_count :]
    expected = [3 if name == "stripe1-leaf2" else 1 if name.startswith("stripe1") else 1 / 16 for name in names]
    assert np.array_equal(found.settings.switches.ingress_alpha, expected)


def test_parameters_of_a_load_balancer() -> None:
    rows = "{at: stripe1-leaf1, parameters: {dynamic: 0, inactivity_us: 7}}"
    found = point(JVD, f"{{exceptions: [{rows}]}}", "{name: dlb, parameters: {quality_delta: 2}}")
    (only,) = found.settings.balancer.exceptions.values()
    assert only == {**found.settings.balancer.parameters, "dynamic": 0, "inactivity_us": 7}
    assert only["quality_delta"] == 2
    assert not point(JVD, f"{{exceptions: [{rows}]}}", "ecmp").settings.balancer.exceptions


def test_an_infinite_buffer_of_one_switch() -> None:
    found = point(CLOS, "{shared_buffer: 1MiB, exceptions: [{at: leaf1, shared_buffer: infinite}]}")
    sizes = set(np.asarray(found.settings.switches.shared_buffer_bytes).tolist())
    assert sizes == {1 << 20, UNSET["shared_buffer_bytes"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("{at: nowhere, pfc: off}", "no switch or port is called 'nowhere'; names are such as 'leaf1'"),
        ("{at: 'spline*', pfc: off}", r"switches.exceptions\[0\].at: no .* called 'spline\*'; did you mean 'spine"),
        ("{at: 'leaf1:spine1', pause: 9kB}", "'leaf1:spine1' names ports, and 'pause' is a setting of whole switches"),
        ("{at: leaf1, pfc: on}", "switches: PFC needs a finite buffer"),
    ],
)
def test_what_cannot_be(rows: str, message: str) -> None:
    with pytest.raises((UsageError, IntentError), match=message):
        point(CLOS, f"{{exceptions: [{rows}]}}")


def test_switches_that_pause_do_not_trim() -> None:
    """PFC of the files, of the scenario, or of one switch."""
    for fabric, switches in ((JVD, "{}"), (CLOS, "{shared_buffer: 1MiB, exceptions: [{at: leaf1, pfc: on}]}")):
        with pytest.raises(UsageError, match=r"receiver-driven needs trimming; write 'switches: \{pfc: off\}'"):
            point(fabric, f"{switches}\ntransport: receiver-driven")
        assert point(fabric, "{pfc: off}\ntransport: receiver-driven").settings.transport.name == "receiver-driven"


def test_switches_that_trim_have_room_for_a_packet() -> None:
    """In the buffer, or in a queue's share of it: each is refused that is one byte smaller than a packet."""
    size = point(CLOS, "{}").settings.packets
    least = size.payload_bytes + size.header_bytes
    way = "\ntransport: receiver-driven"
    for room in ("shared_buffer: {}B", "shared_buffer: 1MiB, exceptions: [{{at: leaf1, shared_buffer: {}B}}]"):
        point(CLOS, f"{{{room.format(least)}, egress_alpha: 1}}{way}")
        with pytest.raises(UsageError, match=rf"leave {least - 1:,} bytes for a queue, .* packet of {least:,} bytes"):
            point(CLOS, f"{{{room.format(least - 1)}, egress_alpha: 1}}{way}")
    with pytest.raises(UsageError, match=rf"leave {least // 2:,} bytes for a queue"):
        point(CLOS, f"{{shared_buffer: {least}B, egress_alpha: 0.5}}{way}")


def test_problems_are_those_of_the_file() -> None:
    rows = "[{at: leaf1, parameters: {inactivity: 1, dynamic: 5}}, {at: leaf1, ecn: {min: 3, max: 2}}, {pfc: off}]"
    with pytest.raises(IntentError) as error:
        point(CLOS, f"{{exceptions: {rows}}}")
    assert "at" in str(error.value)
    rows = rows.replace(", {pfc: off}", "")
    with pytest.raises(IntentError) as error:
        point(CLOS, f"{{exceptions: {rows}}}")
    assert "DLB has no such parameter; did you mean 'inactivity_us'?" in str(error.value)
    assert "switches.exceptions[0].parameters.dynamic: must be 0 to 1, not 5" in str(error.value)
    assert "is more than 'max'" in str(error.value)
