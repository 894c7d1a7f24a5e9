"""Verification against a kernel and gateways that are damaged one by one, and answers that make no sense."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.deploy.servers.script import apply, confirm
from ailb_gen.deploy.servers.ssh import ScriptAnswer
from ailb_gen.deploy.servers.verify import compare, observed_of, verify
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from tests.deploy.servers.sandbox import Host, host_at, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.deploy.servers.files import Tree
    from ailb_gen.deploy.servers.ssh import ServerConnection
    from ailb_gen.deploy.servers.verify import ExpectedServer
    from ailb_gen.design.model import HostConfig

RULE = "from fc00:1:1:2::/64 lookup 10001"
# What is done on the host (h) or beyond it (g), how it is undone, and what verification must say.
DAMAGES = (
    (
        "h ip -6 rule del priority 10001",
        f"h ip -6 rule add {RULE} priority 10001",
        [f"rule 10001: '{RULE}' is not there"],
    ),
    (
        "h ip -6 rule add from fc00:9::/64 lookup 10001 priority 10001",
        "h ip -6 rule del from fc00:9::/64 priority 10001",
        ["rule 10001: 'from fc00:9::/64 lookup 10001' does not belong"],
    ),
    (
        "h ip -6 rule add from fc00:9::/64 lookup 10002 priority 9",
        "h ip -6 rule del priority 9",
        ["rule 9: 'from fc00:9::/64 lookup 10002' does not belong"],
    ),
    (
        "h ip -6 route add fc00:9::/64 dev gpu0_eth table 10001",
        "h ip -6 route del fc00:9::/64 dev gpu0_eth table 10001",
        ["table 10001: 'fc00:9::/64 dev gpu0_eth' does not belong"],
    ),
    (
        "h ip -6 route del default table 10001",
        "h ip -6 route add default via fc00:1:1:2::1 dev gpu0_eth table 10001",
        ["table 10001: 'default via fc00:1:1:2::1 dev gpu0_eth' is not there"],
    ),
    (
        "h ip -6 addr del fc00:1:1:2:a288:c2ff:fe3b:1/64 dev gpu0_eth",
        "h ip -6 addr add fc00:1:1:2:a288:c2ff:fe3b:1/64 dev gpu0_eth nodad",
        ["gpu0_eth: no usable address in fc00:1:1:2::/64; does the leaf advertise it?"],
    ),
    (
        "g ip -6 addr del fc00:1:1:2::1/64 dev leaf0",
        "g ip -6 addr add fc00:1:1:2::1/64 dev leaf0 nodad",
        ["gpu0_eth: fc00:1:1:2::1 does not answer fc00:1:1:2:a288:c2ff:fe3b:1"],
    ),
    (
        "h sysctl -q net.ipv6.conf.gpu0_eth.accept_ra_defrtr=1",
        "h sysctl -q net.ipv6.conf.gpu0_eth.accept_ra_defrtr=0",
        ["net.ipv6.conf.gpu0_eth.accept_ra_defrtr: is 1, it must be 0"],
    ),
    (
        "h ip link set gpu0_eth mtu 1500",
        "h ip link set gpu0_eth mtu 9000",
        ["gpu0_eth: the MTU is 1500, it must be 9000"],
    ),
)


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, config: HostConfig, files: Tree
) -> Iterator[tuple[Host, ServerConnection]]:
    """A host that has its files, for all tests here."""
    for host in host_at(tmp_path_factory.mktemp("shared") / "host", config):
        server = host.server()
        server.open()
        apply(server, files, "r1", 10)
        confirm(server, "r1")
        yield host, server
        server.close()


def do(host: Host, what: str) -> None:
    where, *words = what.split()
    run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)


def told(server: ServerConnection, expected: ExpectedServer) -> list[str]:
    return [finding.message for finding in verify(server, expected)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("damage", "repair", "findings"), DAMAGES, ids=[damage for damage, *_ in DAMAGES])
def test_a_damage_is_found(
    shared: tuple[Host, ServerConnection], expected: ExpectedServer, damage: str, repair: str, findings: list[str]
) -> None:
    host, server = shared
    assert told(server, expected) == []
    do(host, damage)
    try:
        assert told(server, expected) == findings
    finally:
        do(host, repair)


def test_edited_and_missing_files_are_found(shared: tuple[Host, ServerConnection], expected: ExpectedServer) -> None:
    host, server = shared
    env, unit = host.root / "etc/ailb/nccl.env", host.root / "etc/systemd/system/ailb-net.service"
    text, mode = env.read_bytes(), unit.stat().st_mode
    env.unlink()
    unit.chmod(0o666)
    assert told(server, expected) == [
        "/etc/ailb/nccl.env: is not there",
        "/etc/systemd/system/ailb-net.service: has another kind, owner or mode than the file that was pushed",
    ]
    env.write_bytes(text)
    unit.chmod(mode)
    assert told(server, expected) == []


def test_a_link_that_is_down_and_a_nic_that_is_missing(
    shared: tuple[Host, ServerConnection], expected: ExpectedServer
) -> None:
    host, server = shared
    do(host, "h ip link set gpu1_eth down")
    found = told(server, expected)
    assert "gpu1_eth: the link is down" in found
    assert "table 10004: 'fc00:1:2:1::/64 dev gpu1_eth' is not there" in found
    assert "gpu1_eth: no usable address in fc00:1:2:1::/64; does the leaf advertise it?" in found
    assert not [line for line in found if "gpu0_eth" in line]
    do(host, "h ip link del gpu1_eth")
    found = told(server, expected)
    assert "gpu1_eth: there is no such interface" in found
    assert "net.ipv6.conf.gpu1_eth.autoconf: there is no such setting; is the NIC there?" in found


EMPTY = {
    "way": "ailb-net",
    "files": "",
    "link": "[]",
    "addr": "[]",
    "rule": "[]",
    "route": "[]",
    "sysctl": "",
    "ping": "",
}


def answer(**parts: str) -> ScriptAnswer:
    """Return what a host says: nothing is there, unless it is given."""
    text = "".join(f"== {title}\n{body}\n" for title, body in {**EMPTY, **parts}.items())
    return ScriptAnswer(0, f"{text}== end\n".encode(), "")


def test_a_host_that_has_nothing(expected: ExpectedServer) -> None:
    found = compare("h", expected, observed_of("h", answer()))
    kinds = [aspect.name if aspect.kind == "setting" else "" for *_, aspect in (one.subjects for one in found)]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "file": len(expected.tree),
        "link": 2,
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


@pytest.mark.parametrize(
    "parts",
    [
        {"rule": "not json"},
        {"rule": '[{"priority": 1}]'},
        {"link": '[{"ifname": "x"}]'},
        {"route": '[{"dst": "default", "dev": "x", "table": "name"}]'},
        {"ping": "too few words"},
        {"files": "no list"},
        {"files": "= etc/a"},
    ],
)
def test_answers_that_make_no_sense(parts: dict[str, str]) -> None:
    with pytest.raises(
        DeviceError, match=r"the host's answer cannot be read|files of the host cannot be read"
    ) as caught:
        observed_of("h", answer(**parts))
    assert caught.value.phase in (Phase.VERIFY, Phase.READ)


def test_answers_that_are_cut_off(expected: ExpectedServer) -> None:
    with pytest.raises(DeviceError, match="not complete"):
        observed_of("h", ScriptAnswer(0, b"== way\nailb-net\n", ""))
    with pytest.raises(DeviceError, match="not text"):
        observed_of("h", ScriptAnswer(0, b"== way\n\xff", ""))
