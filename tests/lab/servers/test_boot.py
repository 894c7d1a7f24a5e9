"""Servers of a lab boot from their files, with netplan and networkd, and with the script and the kernel's SLAAC."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.addresses import Prefix, address_text, eui64
from ailb_gen.errors import LabError, UsageError
from ailb_gen.lab.namespaces import output
from ailb_gen.lab.plan import plan
from ailb_gen.lab.servers.boot import NETWORK_KEY, boot, command, missing, usable_method, wait
from ailb_gen.lab.servers.files import NETPLAN, NETWORKD
from tests.checks.trees import GOLDEN, network_of
from tests.conftest import missing as absent
from tests.lab.attached import attach
from tests.lab.isolated import isolated

TOOLS = ("ip", "unshare", "nsenter")
NAME = "gpu-s1-2"
CONFIGURED = (
    "/etc/netplan/60-ailb-gpu.yaml",
    "/etc/systemd/network/10-netplan-gpu0_eth.network.d/50-ailb.conf",
    "/usr/local/sbin/ailb-net",
    "/etc/ailb/nccl.env",
)


@dataclass
class Seen:
    """What is found on a server that has booted."""

    warnings: Mapping[str, list[str]]
    lost: Mapping[tuple[str, str], tuple[Prefix, ...]]
    addresses: list[tuple[str, str]]
    rules: set[tuple[int, str, str]]
    routes: list[dict[str, Any]]
    main: str
    mtu: str
    host_name: str
    modes: list[str]
    verified: str
    machine: str


def booted(root: Path, way: str, timeout_s: float = 60.0) -> Seen:
    network = network_of(root)
    made = plan(network)
    attach(made, network)
    with boot(made, network, root, way) as servers:
        assert servers.method == way
        assert len(missing(made, network.hosts)) == sum(len(server.nics) for server in made.servers.values())
        lost = wait(made, network.hosts, timeout_s, timeout_s)

        def say(*words: str) -> str:
            return output(NAME, command(NAME, words))

        links = json.loads(say("ip", "-j", "-6", "addr", "show", "scope", "global"))
        rules = json.loads(say("ip", "-j", "-6", "-N", "rule", "show"))
        return Seen(
            warnings=servers.warnings,
            lost=lost,
            addresses=[(link["ifname"], one["local"]) for link in links if link for one in link["addr_info"] if one],
            rules={(rule["priority"], rule["src"], rule["table"]) for rule in rules if rule["src"] != "all"},
            routes=json.loads(say("ip", "-j", "-6", "-N", "route", "show", "table", "10005")),
            main=say("ip", "-6", "route", "show", "table", "main"),
            mtu=say("cat", "/sys/class/net/gpu1_eth/mtu").strip(),
            host_name=say("hostname").strip(),
            modes=say("stat", "-c", "%a %U", *CONFIGURED).split("\n"),
            machine=say("sh", "-c", "echo 7 2>/dev/null >/proc/sys/kernel/panic || echo read-only").strip(),
            verified=say("sh", "-c", "/usr/local/sbin/ailb-net verify 2>&1 || true"),
        )


@pytest.mark.parametrize("way", ["netplan", pytest.param("script", marks=pytest.mark.long)])
def test_boot(way: str) -> None:
    for path in (NETPLAN, NETWORKD):
        if way == "netplan" and not path.exists():
            absent(f"{path} is not installed")
    seen = isolated(booted, GOLDEN / "lab", way, tools=TOOLS)

    macs = {nic.nic: nic.mac for nic in plan(network_of(GOLDEN / "lab")).servers[NAME].nics.values()}
    own = {
        (
            f"gpu{rail}_eth",
            address_text((0xFC00 << 112 | 1 << 96 | rail + 1 << 80 | color << 64) | eui64(macs[f"gpu{rail}_eth"])),
        )
        for rail in (0, 1)
        for color in (1, 2, 3, 4)
    }
    assert (dict(seen.warnings), dict(seen.lost)) == ({}, {})
    assert (len(seen.addresses), set(seen.addresses)) == (8, own)
    assert seen.rules == {
        (number, f"fc00:1:{1 + at // 4}:{1 + at % 4}::", str(number)) for at, number in enumerate(range(10000, 10008))
    }
    assert {(route["dst"], route.get("gateway"), route["dev"]) for route in seen.routes} == {
        ("fc00:1:2:2::/64", None, "gpu1_eth"),
        ("default", "fc00:1:2:2::1", "gpu1_eth"),
    }
    assert "default" not in seen.main
    assert (seen.mtu, seen.host_name, seen.verified) == ("9000", NAME, "")
    assert seen.machine == "read-only"
    assert seen.modes[:4] == ["600 root", "644 root", "755 root", "644 root"]


@pytest.mark.long
def test_what_is_wrong_with_a_file_is_said_and_does_not_stop_the_others(tmp_path: Path) -> None:
    root = tmp_path / "lab"
    shutil.copytree(GOLDEN / "lab", root, symlinks=True)
    profile = root / "profiles/stripe1"
    sysctl = profile / "etc/sysctl.d/99-accept-ra.conf"
    more = "net.ipv6.conf.gpu9_eth.accept_ra = 1\nkernel.panic = 7\n"
    sysctl.write_text(sysctl.read_text() + more)
    script = profile / "usr/local/sbin/ailb-net"
    script.write_text(script.read_text().replace("gpu1_eth 10007", "gpu7_eth 10007"))

    seen = isolated(booted, root, "script", tools=TOOLS)

    assert set(seen.warnings) == {"gpu-s1-1", "gpu-s1-2"}
    kernel, machine, tables = seen.warnings[NAME]
    assert machine == "kernel.panic is not set: it is a setting of the machine, not of a namespace"
    assert "net.ipv6.conf.gpu9_eth.accept_ra = 1 cannot be set" in kernel
    assert tables == "ailb-net: gpu7_eth: there is no such interface; table 10007 (gpu1_subnet4) is not set"
    assert len(seen.rules) == 7


@pytest.mark.parametrize(
    ("key", "taken"),
    [
        ("net.ipv6.conf.gpu0_eth.accept_ra", True),
        ("net/ipv6/conf/gpu0.5/accept_ra", True),
        ("kernel.panic", False),
        ("network.a", False),
        ("net/../kernel/panic", False),
        ("net/ipv6/..", False),
        ("../kernel/panic", False),
        ("", False),
    ],
)
def test_kernel_parameters_of_a_network(key: str, taken: bool) -> None:
    assert bool(NETWORK_KEY.fullmatch(key)) == taken


def test_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'dhcp' is not a method to configure servers; choose auto, netplan or script"):
        usable_method("dhcp")
    monkeypatch.setattr("ailb_gen.lab.servers.boot.NETPLAN", tmp_path / "netplan")
    assert usable_method("auto") == usable_method("script") == "script"
    with pytest.raises(LabError, match="missing: netplan"):
        usable_method("netplan")


def test_a_server_that_does_not_run() -> None:
    with pytest.raises(LabError, match="gpu-s9 is not a running server"):
        command("gpu-s9", ("true",))
