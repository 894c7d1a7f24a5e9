"""Verification of a host with damages at the same time, and answers that make no sense; one by one: test_ways.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import Tree
from ailb_gen.deploy.servers.observed import observed_of
from ailb_gen.deploy.servers.script import apply, confirm
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.servers.verify import PUSH, compare, verify
from ailb_gen.deploy.switch_driver import DeviceError
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import probe_text


@pytest.fixture(scope="module")
def told(shared_server: ServerConnection, files: Tree, expected: ExpectedServer) -> Callable[[], list[str]]:
    """Give a host its files; return how it is verified."""
    apply(shared_server, files, "r1", 10)
    confirm(shared_server, "r1")
    return lambda: [finding.message for finding in verify(shared_server, expected)]


def do(host: Host, what: str) -> None:
    where, *words = what.split()
    run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)


def test_edited_and_missing_files_are_found(shared: Host, told: Callable[[], list[str]]) -> None:
    env, unit = shared.root / "etc/ailb/nccl.env", shared.root / "etc/systemd/system/ailb-net.service"
    text, mode = env.read_bytes(), unit.stat().st_mode
    env.unlink()
    unit.chmod(0o666)
    assert told() == [
        f"/etc/ailb/nccl.env: is missing; {PUSH}",
        f"/etc/systemd/system/ailb-net.service: has another kind, owner or mode than the file that was pushed; {PUSH}",
    ]
    env.write_bytes(text)
    unit.chmod(mode)
    assert told() == []


def test_a_link_that_is_down_and_a_nic_that_is_missing(shared: Host, told: Callable[[], list[str]]) -> None:
    """What such a NIC lacks is not told besides."""
    do(shared, "h ip link set gpu1_eth down")
    assert told() == ["gpu1_eth: the link is down; check cable and leaf, and run: ip link set dev gpu1_eth up"]
    do(shared, "h ip link del gpu1_eth")
    assert told() == ["gpu1_eth: there is no such interface; check its name and driver: ip link"]


def answer(**parts: str) -> ScriptAnswer:
    """Return what a host says: nothing is there, unless it is given."""
    return ScriptAnswer(0, probe_text(**{"way": "ailb-net"} | parts).encode(), "")


def test_a_host_that_has_nothing_but_its_nics(expected: ExpectedServer) -> None:
    links = json.dumps([{"ifname": nic, "mtu": mtu, "operstate": "UP"} for nic, mtu in expected.mtus.items()])
    found = compare("h", expected, observed_of("h", answer(link=links)))
    kinds = [aspect.name if aspect.kind == "setting" else "" for *_, aspect in (one.subjects for one in found)]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "file": len(expected.tree),
        "rule": 8,
        "table": 16,
        "sysctl": len(expected.sysctls),
        "address": 8,
    }


def test_networkd_keeps_the_kernel_from_listening_itself(expected: ExpectedServer) -> None:
    """With netplan accept_ra is 0 on purpose; the other settings hold."""
    keys = dict(expected.sysctls) | {key: "0" for key in expected.sysctls if key.endswith(".accept_ra")}
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    for way, count in (("netplan", 0), ("ailb-net", 2)):
        seen = observed_of("h", answer(way=way, sysctl=lines))
        only = replace(expected, tree={}, mtus={}, rules=(), routes=(), gateways=())
        assert len(compare("h", only, seen)) == count


def test_answers_that_are_cut_off(expected: ExpectedServer) -> None:
    with pytest.raises(DeviceError, match="not complete"):
        observed_of("h", ScriptAnswer(0, b"== way\nailb-net\n", ""))
    with pytest.raises(DeviceError, match="not text"):
        observed_of("h", ScriptAnswer(0, b"== way\n\xff", ""))
