"""What leaves are configured for, and what differs among the servers of a fabric."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ailb_gen.addresses import prefix_value
from ailb_gen.deploy.servers.addresses import Advertised, NicHardware
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.fleet import of_fleet, read_state, with_leaves
from ailb_gen.deploy.servers.jobs import ExpectedJobs, PlugIn
from ailb_gen.deploy.servers.ssh import SHORT_ANSWER, ScriptAnswer, ServerConnection
from ailb_gen.deploy.servers.verify import beyond_push, compare_all
from ailb_gen.deploy.switch_driver import Phase
from tests.deploy import lab
from tests.deploy.servers.conftest import NAME
from tests.deploy.servers.steps import probe_text

JOBS = ExpectedJobs("libnccl-net-x.so", ("/usr/local/lib",), {"NCCL_NET_PLUGIN": "x"})


class Answering(ServerConnection):
    """A server that answers everything with one text, and keeps what it was asked."""

    name = NAME
    asked = ""

    def __init__(self, out: str) -> None:
        self.out = out

    def run(self, script: str, phase: Phase, timeout_s: float, most: int = SHORT_ANSWER) -> ScriptAnswer:
        """Answer."""
        assert timeout_s > 0
        assert most > len(self.out)
        assert phase is Phase.VERIFY
        self.asked = script
        return ScriptAnswer(0, self.out.encode(), "")


def test_the_leaf_of_a_nic_says_how_fast_it_is_and_how_often_it_advertises(expected: ExpectedServer) -> None:
    found = with_leaves(NAME, expected, lab.fabric_model())
    port = found.ports["gpu0_eth"]
    leaf = lab.fabric_model().switches["stripe1-leaf1"]
    own = lab.fabric_model().attachments[NAME, "gpu0_eth"]
    assert own.device == "stripe1-leaf1"
    assert port.speed_bps == leaf.ports[own.port].speed_bps
    prefix = prefix_value("fc00:1:1:2::/64")
    assert prefix is not None
    assert port.advertised[prefix] == Advertised(604_800, 30)
    assert set(port.advertised) == set(port.prefixes)
    assert (port.prefixes, port.mac) == (expected.ports["gpu0_eth"].prefixes, None)
    # Another server is at no leaf of these.
    assert with_leaves("gpu-9", expected, lab.fabric_model()) == expected


@pytest.fixture
def answer() -> str:
    """What a server says with an IPv4 address, another variable, a plug-in and a firmware."""
    address = {"family": "inet", "local": "10.0.0.7", "prefixlen": 24, "scope": "global"}
    row = {"ifname": "gpu0_eth", "address": "a0:88:c2:3b:00:01", "addr_info": [address]}
    return probe_text(
        addr=json.dumps([row]),
        nic="gpu0_eth 400000 mlx5_core 28.39.1002\ngpu1_eth - - -",
        plugin=f"rdma 1\npath /usr/local/lib/libnccl-net-x.so\ndigest {'a' * 64}\nmissing libx.so",
        environment="/etc/environment:2:NCCL_IB_GID_INDEX=3",
    )


def test_a_server_is_read_once(expected: ExpectedServer, answer: str) -> None:
    server = Answering(answer)
    there = replace(expected, tree={}, jobs=JOBS)
    state = read_state(server, there, beyond_push)
    assert [one.message.partition("; ")[0] for one in state.findings] == [
        "gpu0_eth: the IPv4 address 10.0.0.7/24 takes a GID",
        "/usr/local/lib/libnccl-net-x.so cannot be loaded: libx.so is missing",
        "/etc/environment:2: NCCL_IB_GID_INDEX=3: a fixed GID gives all queue pairs the same address, and so one color",
    ]
    assert {one.check for one in state.findings} == {"AILBD03"}
    for line in ("nic gpu0_eth", "nic gpu1_eth", "library libnccl-net-x.so /usr/local/lib"):
        assert f"\n{line}\n" in server.asked
    assert len(read_state(server, there, compare_all).findings) > len(state.findings)
    findings, figures = of_fleet({"a": state, "b": replace(state, plug_in=PlugIn(state.plug_in.path, "b" * 64))})
    assert [one.device for one in findings] == ["b"]
    assert figures == (("firmware of mlx5_core", "28.39.1002 on 2 NICs"),)
    assert state.hardware["gpu0_eth"] == NicHardware(400_000, "mlx5_core", "28.39.1002")
