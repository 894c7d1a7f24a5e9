"""Verification against a kernel and gateways that are damaged one by one, and answers that make no sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ailb_gen.deploy.servers.files import Tree
from ailb_gen.deploy.servers.script import apply, confirm
from ailb_gen.deploy.servers.ssh import ScriptAnswer, ServerConnection
from ailb_gen.deploy.servers.verify import ExpectedServer, compare, observed_of, verify
from ailb_gen.deploy.switch_driver import DeviceError
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import probe_text

RULE = "from fc00:1:1:2::/64 lookup 10001"
PLACE, PREFIX, ADDRESS = "fc00:9::/64 dev gpu0_eth", "fc00:1:1:2::/64", "fc00:1:1:2:a288:c2ff:fe3b:1"
DEFAULT, GATEWAY = "default via fc00:1:1:2::1 dev gpu0_eth", "fc00:1:1:2::1"
# What is done on the host (h) or beyond it (g), as a damage and as its repair, and what verification must say.
DAMAGES = (
    (f"h ip -6 rule {{}} {RULE} priority 10001", "del", "add", f"rule 10001: '{RULE}' is missing"),
    (
        "h ip -6 rule {} from fc00:9::/64 lookup 10001 priority 10001", "add", "del",
        "rule 10001: 'from fc00:9::/64 lookup 10001' is unexpected",
    ),
    (
        "h ip -6 rule {} from fc00:9::/64 lookup 10002 priority 9", "add", "del",
        "rule 9: 'from fc00:9::/64 lookup 10002' is unexpected",
    ),
    (f"h ip -6 route {{}} {PLACE} table 10001", "add", "del", f"table 10001: '{PLACE}' is unexpected"),
    (f"h ip -6 route {{}} {DEFAULT} table 10001", "del", "add", f"table 10001: '{DEFAULT}' is missing"),
    (
        f"h ip -6 addr {{}} {ADDRESS}/64 dev gpu0_eth", "del", "add",
        f"gpu0_eth: no usable address in {PREFIX}; does the leaf advertise it?",
    ),
    (f"g ip -6 addr {{}} {GATEWAY}/64 dev leaf0", "del", "add", f"gpu0_eth: {GATEWAY} does not answer {ADDRESS}"),
    (
        "h sysctl -q net.ipv6.conf.gpu0_eth.accept_ra_defrtr={}", "1", "0",
        "net.ipv6.conf.gpu0_eth.accept_ra_defrtr: is 1, it must be 0",
    ),
    ("h ip link set gpu0_eth mtu {}", "1500", "9000", "gpu0_eth: the MTU is 1500, it must be 9000"),
)  # fmt: skip


@pytest.fixture(scope="module")
def told(shared_server: ServerConnection, files: Tree, expected: ExpectedServer) -> Callable[[], list[str]]:
    """Give a host its files; return how it is verified."""
    apply(shared_server, files, "r1", 10)
    confirm(shared_server, "r1")
    return lambda: [finding.message for finding in verify(shared_server, expected)]


def do(host: Host, what: str) -> None:
    where, *words = what.split()
    run("ip", "netns", "exec", {"h": host.netns, "g": host.outside}[where], *words)


@pytest.mark.sampled(3)
# Without `::` in a name, all are the work of one process of pytest.
@pytest.mark.parametrize(("command", "damage", "repair", "finding"), DAMAGES, ids=map(str, range(len(DAMAGES))))
def test_a_damage_is_found(
    shared: Host, told: Callable[[], list[str]], command: str, damage: str, repair: str, finding: str
) -> None:
    assert told() == []
    do(shared, command.format(damage))
    try:
        assert told() == [finding]
    finally:
        do(shared, command.format(repair))


def test_edited_and_missing_files_are_found(shared: Host, told: Callable[[], list[str]]) -> None:
    env, unit = shared.root / "etc/ailb/nccl.env", shared.root / "etc/systemd/system/ailb-net.service"
    text, mode = env.read_bytes(), unit.stat().st_mode
    env.unlink()
    unit.chmod(0o666)
    assert told() == [
        "/etc/ailb/nccl.env: is missing",
        "/etc/systemd/system/ailb-net.service: has another kind, owner or mode than the file that was pushed",
    ]
    env.write_bytes(text)
    unit.chmod(mode)
    assert told() == []


def test_a_link_that_is_down_and_a_nic_that_is_missing(shared: Host, told: Callable[[], list[str]]) -> None:
    do(shared, "h ip link set gpu1_eth down")
    found = told()
    assert "gpu1_eth: the link is down" in found
    assert "table 10004: 'fc00:1:2:1::/64 dev gpu1_eth' is missing" in found
    assert "gpu1_eth: no usable address in fc00:1:2:1::/64; does the leaf advertise it?" in found
    assert not [line for line in found if "gpu0_eth" in line]
    do(shared, "h ip link del gpu1_eth")
    found = told()
    assert "gpu1_eth: there is no such interface" in found
    assert "net.ipv6.conf.gpu1_eth.autoconf: there is no such setting; does the NIC exist?" in found


def answer(**parts: str) -> ScriptAnswer:
    """Return what a host says: nothing is there, unless it is given."""
    return ScriptAnswer(0, probe_text(**{"way": "ailb-net"} | parts).encode(), "")


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


def test_answers_that_are_cut_off(expected: ExpectedServer) -> None:
    with pytest.raises(DeviceError, match="not complete"):
        observed_of("h", ScriptAnswer(0, b"== way\nailb-net\n", ""))
    with pytest.raises(DeviceError, match="not text"):
        observed_of("h", ScriptAnswer(0, b"== way\n\xff", ""))
