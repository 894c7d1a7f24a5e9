"""Tables and rules as `ailb-host setup` sets them: in the kernel of a namespace, and beside those of `ailb-net`."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ailb_gen.ailb_host.files import slaac_address
from ailb_gen.layout import HOST_FILE, SCRIPT
from tests.ailb_host.servers import oldest_python, run
from tests.conftest import need_tool
from tests.golden_trees import GOLDEN
from tests.lab.isolated import isolated

# Its NICs have MACs, and its rules other numbers than its tables.
FILES = GOLDEN / "brownfield/servers/a-gpu1"
MAC = "a0:88:c2:01:01:0{number}"
NOWHERE = "a0:88:c2:00:00:00"
PREFIX, OTHER = "fd12:3456:789a:1041::/64", "fd12:3456:789a:1042::/64"
GATEWAY = "fd12:3456:789a:1041::1"
RULE = f"from {PREFIX} lookup 20000"


@dataclass(frozen=True)
class Answer:
    """What a call printed, its exit code, and what the kernel had then."""

    code: int
    out: str
    err: str
    kernel: str


def sh(script: str) -> None:
    """Run the commands of a shell, all of which must work."""
    subprocess.run(("sh", "-e", "-c", script), check=True, capture_output=True, text=True)


def kernel() -> str:
    """Return all rules and routes that are in the kernel, without those that it sets itself."""
    commands = (("ip", "-6", "-N", "rule"), ("ip", "-6", "-N", "route", "show", "table", "all"))
    # Names of interfaces are bytes.
    text = os.fsdecode(b"".join(subprocess.run(words, capture_output=True, check=True).stdout for words in commands))
    return "".join(f"{line}\n" for line in text.splitlines() if " proto 2 " not in line)


def server(root: Path) -> None:
    """Boot a server in this namespace: the NICs of the plan, with their MACs and an address of every color."""
    shutil.copytree(FILES, root, dirs_exist_ok=True)
    (root / "proc").symlink_to("/proc")
    # The one of before shows the interfaces of another namespace.
    sh("mount -t sysfs sysfs /sys")
    for number, nic in enumerate(json.loads((root / HOST_FILE).read_text("utf-8"))["nics"]):
        name = nic["name"]
        sh(f"ip link add {name} address {nic['mac']} type veth peer name leaf{number}; ip link set leaf{number} up")
        sh(f"sysctl -q net.ipv6.conf.{name}.accept_dad=0; ip link set {name} up")
        for color in nic["colors"]:
            sh(f"ip address add {slaac_address(ipaddress.IPv6Network(color['prefix']), nic['mac'])}/64 dev {name}")


def setup(root: Path, *words: str) -> Answer:
    """Call `ailb-host setup`."""
    done = run(root, "setup", *words)
    return Answer(done.returncode, done.stdout, done.stderr, kernel())


def ailb_net(root: Path, verb: str) -> Answer:
    """Call `ailb-net`."""
    done = subprocess.run(("sh", root / SCRIPT, verb), capture_output=True, text=True, check=False)
    return Answer(done.returncode, done.stdout, done.stderr, kernel())


def both_directions(root: Path) -> dict[str, Answer]:
    """Set everything with one program, compare and remove it with the other, and the other way around."""
    server(root)
    found = {"first": Answer(0, "", "", kernel()), "empty": setup(root, "--verify")}
    found["ailb-net"] = ailb_net(root, "apply")
    found |= {f"same {word}": setup(root, *word.split()) for word in ("--verify", "--dry-run", "")}
    found["ailb-net removed"] = ailb_net(root, "remove")
    found["commands"] = setup(root, "--dry-run")
    found["setup"] = setup(root)
    found |= {f"same {verb}": ailb_net(root, verb) for verb in ("verify", "apply")}
    found["removed"] = setup(root, "--remove")
    found["again"] = setup(root, "--remove")
    sh(found["commands"].out)
    found["by hand"] = setup(root, "--verify")
    setup(root, "--remove")
    # As networkd sets them.
    sh(re.sub(r"(?m)^(.* route add.*)$", r"\1 proto static metric 512", found["commands"].out))
    found["networkd"] = setup(root, "--verify")
    found["kept"] = setup(root)
    return found


def test_same_state_as_ailb_net(tmp_path: Path) -> None:
    found = isolated(both_directions, tmp_path)
    first, expected = found["first"].kernel, found["ailb-net"].kernel
    assert expected.count("lookup 20") == 8 and expected.count(" table 20") == 16
    for name in ("same --verify", "same --dry-run", "same ", "setup", "same verify", "same apply", "by hand"):
        assert found[name] == Answer(0, "", "", expected), name
    for name in ("ailb-net removed", "removed", "again"):
        assert found[name] == Answer(0, "", "", first), name
    networkd = found["networkd"]
    assert networkd == found["kept"] and networkd.code == 0 and networkd.kernel.count(" proto 4 metric 512 ") == 16
    commands = found["commands"]
    assert (commands.code, commands.err, commands.kernel) == (0, "", first)
    assert commands.out.splitlines()[:3] == [
        f"ip -6 route add {PREFIX} dev eth0_gpu table 20000",
        f"ip -6 route add default via {GATEWAY} dev eth0_gpu table 20000",
        f"ip -6 rule add {RULE} priority 12000",
    ]
    assert found["empty"].code == 1 and len(found["empty"].err.splitlines()) == 16


DEFAULT = f"default via {GATEWAY} dev eth0_gpu"
TABLE = f"table 20000 (amber) must hold {PREFIX} dev eth0_gpu and {DEFAULT}, it holds"
# What is done to the kernel, the difference reported, and how many commands it takes.
DAMAGES = {
    "no default route": ("ip -6 route del default table 20000", f"{TABLE} {PREFIX} dev eth0_gpu", 1),
    "no prefix": (f"ip -6 route del {PREFIX} table 20000", f"{TABLE} {DEFAULT}", 1),
    "flushed": ("ip -6 route flush table 20000", f"{TABLE} nothing", 2),
    "gateway": (
        "ip -6 route replace default via fe80::1 dev eth0_gpu table 20000",
        f"{TABLE} {PREFIX} dev eth0_gpu and default via fe80::1 dev eth0_gpu",
        2,
    ),
    "other NIC": (
        "ip -6 route replace default via fe80::1 dev eth1_gpu table 20000",
        f"{TABLE} {PREFIX} dev eth0_gpu and default via fe80::1 dev eth1_gpu",
        2,
    ),
    "second gateway": (
        "ip -6 route append default via fe80::9 dev eth0_gpu table 20000",
        f"{TABLE} {PREFIX} dev eth0_gpu and default nexthop via {GATEWAY} dev eth0_gpu weight 1 nexthop via fe80",
        2,
    ),
    "foreign route": (
        "ip -6 route add 2001:db8::/32 dev eth0_gpu table 20000",
        f"{TABLE} 2001:db8::/32 dev eth0_gpu and {PREFIX}",
        1,
    ),
    "host route": ("ip -6 route add 2001:db8::1 dev eth0_gpu table 20000", f"{TABLE} 2001:db8::1 dev eth0_gpu", 1),
    "unreachable": (
        "ip -6 route add unreachable default metric 9 table 20000",
        f"{TABLE} {PREFIX} dev eth0_gpu and type 7 default dev lo",
        2,
    ),
    "no rule": ("ip -6 rule del priority 12000", f"rule 12000 (amber) must be {RULE}, there is none", 1),
    "other table": (
        f"ip -6 rule del priority 12000; ip -6 rule add from {PREFIX} lookup 20001 priority 12000",
        f"rule 12000 (amber) must be {RULE}, it is from {PREFIX} lookup 20001",
        2,
    ),
    "other prefix": (
        f"ip -6 rule del priority 12000; ip -6 rule add from {OTHER} lookup 20000 priority 12000",
        f"rule 12000 (amber) must be {RULE}, it is from {OTHER} lookup 20000",
        2,
    ),
    "two rules": (
        f"ip -6 rule add not from {PREFIX} iif lo fwmark 3 lookup 20000 priority 12000",
        f"rule 12000 (amber) must be {RULE}, it is {RULE} and not from {PREFIX} fwmark 0x3 iif lo lookup 20000",
        3,
    ),
    "action": (
        f"ip -6 rule del priority 12000; ip -6 rule add from {PREFIX} unreachable priority 12000",
        f"rule 12000 (amber) must be {RULE}, it is from {PREFIX} action 7",
        2,
    ),
}


def damaged(root: Path) -> dict[str, list[Answer]]:
    """Damage the kernel's state, and repair it with both programs."""
    server(root)
    found = {"right": [setup(root)]}
    for name, (damage, _, _) in DAMAGES.items():
        sh(damage)
        answers = [setup(root, "--verify"), setup(root, "--dry-run"), setup(root)]
        sh(damage)
        found[name] = [*answers, ailb_net(root, "apply")]
    # The kernel deletes the routes of a link that goes down.
    sh("ip link set eth0_gpu down; ip link set eth0_gpu up; ip address add fd12:3456:789a:1041::7/64 dev eth0_gpu")
    found["link"] = [setup(root, "--verify"), setup(root)]
    own = slaac_address(ipaddress.IPv6Network("fd12:3456:789a:1082::/64"), ETH1)
    sh(f"ip address flush dev eth1_gpu scope global; ip address add {own}/64 dev eth1_gpu")
    found["address"] = [setup(root, "--verify")]
    sh(f"ip address change {own}/64 dev eth1_gpu preferred_lft 0 valid_lft 600")
    found["deprecated"] = [setup(root, "--verify")]
    return found


def test_only_what_differs_is_changed(tmp_path: Path) -> None:
    found = isolated(damaged, tmp_path)
    right = found["right"][0].kernel
    for name, (_, reason, commands) in DAMAGES.items():
        verify, dry_run, repaired, by_ailb_net = found[name]
        assert verify.code == 1 and verify.kernel != right, name
        assert verify.err.startswith(f"ailb-host: eth0_gpu: {reason}"), (name, verify.err)
        assert verify.err.endswith("; run: ailb-host setup\n") and verify.err.count("\n") == 1, name
        assert dry_run.code == 0 and dry_run.out.count("\n") == commands, (name, dry_run.out)
        assert repaired == Answer(0, "", "", right), name
        assert by_ailb_net.kernel == right, name
    verify, repaired = found["link"]
    assert verify.err.count(" holds nothing; run") == 2 and "addr" in verify.err
    assert repaired.code == 0 and repaired.kernel.count(" table 20") == 16
    lines = found["address"][0].err.splitlines()
    assert lines[-1] == (
        "ailb-host: eth1_gpu: no usable address in fd12:3456:789a:1081::/64 (amber); is the leaf advertising it?"
    )
    # One that jobs no longer use counts as none.
    assert len(found["deprecated"][0].err.splitlines()) == len(lines) + 1


ETH0, ETH1 = MAC.format(number=0), MAC.format(number=1)
ODD = 'x\\200"#\\033'
# How the NICs differ from the plan, exit code and lines of `--dry-run`, and what it prints by the way.
NICS: dict[str, tuple[str, int, str, str]] = {
    "renamed": (
        "ip link set eth0_gpu down; ip link set eth0_gpu name ens1; ip link set ens1 up",
        0,
        f"# eth0_gpu is ens1 here, which has its MAC {ETH0}\nip -6 route add {PREFIX} dev ens1 table 20000\n",
        "",
    ),
    "names swapped": (
        "for nic in eth0_gpu:x eth1_gpu:eth0_gpu x:eth1_gpu; do ip link set ${nic%:*} down;"
        "ip link set ${nic%:*} name ${nic#*:}; done; ip link set eth0_gpu up; ip link set eth1_gpu up",
        0,
        f"# eth0_gpu is eth1_gpu here, which has its MAC {ETH0}\n"
        f"# eth1_gpu is eth0_gpu here, which has its MAC {ETH1}\n"
        f"ip -6 route add {PREFIX} dev eth1_gpu table 20000\n",
        "",
    ),
    "new MAC": (
        f"ip link set eth0_gpu address {NOWHERE}",
        0,
        f"# eth0_gpu is taken by its name: no interface has its MAC {ETH0}, and this one has {NOWHERE}\n"
        f"ip -6 route add {PREFIX} dev eth0_gpu table 20000\n",
        "",
    ),
    "odd name": (
        f"ip link set eth0_gpu down; name=$(printf '{ODD}'); ip link set eth0_gpu name \"$name\"; "
        'ip link set "$name" up',
        0,
        f"# eth0_gpu is $'\\x78\\x80\\x22\\x23\\x1b' here, which has its MAC {ETH0}\n"
        f"ip -6 route add {PREFIX} dev $'\\x78\\x80\\x22\\x23\\x1b' table 20000\n",
        "",
    ),
    "macvlan": (
        f"ip link add link eth0_gpu name ens2 address {ETH0} type macvlan mode passthru; ip link set ens2 up",
        0,
        f"ip -6 route add {PREFIX} dev eth0_gpu table 20000\n",
        "",
    ),
    "two": (
        f"ip link add ens1 address {ETH0} type veth peer name leaf9",
        1,
        "ip -6 route add fd12:3456:789a:1081::/64 dev eth1_gpu table 20002\n",
        f"eth0_gpu: eth0_gpu and ens1 have its MAC {ETH0}; set the MAC of one of them to its own",
    ),
    "gone": (
        "ip link del eth0_gpu",
        1,
        "ip -6 route add fd12:3456:789a:1081::/64 dev eth1_gpu table 20002\n",
        f"eth0_gpu: no interface has this name or the MAC {ETH0}; check the NIC and its driver: ip link",
    ),
    "name of another": (
        f"ip link set eth0_gpu address {NOWHERE}; ip link set eth0_gpu down; ip link set eth0_gpu name x;"
        "ip link set eth1_gpu down; ip link set eth1_gpu name eth0_gpu; ip link set eth0_gpu up",
        1,
        f"# eth1_gpu is eth0_gpu here, which has its MAC {ETH1}\n"
        "ip -6 route add fd12:3456:789a:1081::/64 dev eth0_gpu table 20002\n",
        f"eth0_gpu: no interface has its MAC {ETH0}, and the one of its name has the MAC of eth1_gpu; "
        "correct mac in the fabric file",
    ),
    "down": (
        "ip link set eth0_gpu down",
        1,
        f"ip -6 rule add {RULE} priority 12000\n",
        "eth0_gpu: eth0_gpu is down; set it up: ip link set eth0_gpu up",
    ),
    "IPv6 disabled": (
        "sysctl -qw net/ipv6/conf/eth0_gpu/disable_ipv6=1",
        1,
        f"ip -6 rule add {RULE} priority 12000\n",
        "eth0_gpu: IPv6 is disabled on eth0_gpu; enable it: sysctl -w net/ipv6/conf/eth0_gpu/disable_ipv6=0",
    ),
}


def different_nics(root: Path, change: str) -> list[Answer]:
    """Change the NICs of a server, and set it up."""
    server(root)
    sh(change)
    first = kernel()
    answers = [setup(root, "--dry-run"), setup(root)]
    answers += [ailb_net(root, "apply"), setup(root, "--remove")]
    return [*answers, Answer(0, "", "", first)]


@pytest.mark.parametrize("name", NICS)
def test_nics_differ_from_the_plan(tmp_path: Path, name: str) -> None:
    change, code, out, err = NICS[name]
    dry_run, done, by_ailb_net, removed, first = isolated(different_nics, tmp_path, change)
    assert (dry_run.code, done.code) == (code, code)
    assert dry_run.out.startswith(out), dry_run.out
    assert dry_run.kernel == first.kernel
    notes = [line[2:] for line in dry_run.out.splitlines() if line.startswith("# ")]
    assert done.out.splitlines() == notes
    assert dry_run.err == done.err == (f"ailb-host: {err}\n" if err else "")
    if name in ("down", "IPv6 disabled", "new MAC", "macvlan", "gone"):
        assert by_ailb_net.kernel == done.kernel
    assert removed == Answer(0, "", "", first.kernel)


def without_the_right(root: Path) -> list[tuple[int, str, str]]:
    """Call the program as root of a container that may not change networks."""
    server(root)
    run(root, "setup", "--dry-run")
    before = ("setpriv", "--bounding-set=-net_admin", oldest_python(), root / "usr/local/sbin/ailb-host")
    answers = []
    for words in ((), ("--remove",), ("--dry-run",), ("--verify",)):
        command = (*before, "--root", root, "setup", *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        answers.append((done.returncode, done.stdout, done.stderr))
    return answers


def test_no_right_to_change_networks(tmp_path: Path) -> None:
    need_tool("setpriv")
    refused, nothing, dry_run, verify = isolated(without_the_right, tmp_path)
    command = f"ip -6 route add {PREFIX} dev eth0_gpu table 20000"
    assert refused == (3, "", f"ailb-host: {command}: only root may do this; run it with sudo\n")
    assert nothing == (0, "", "")
    assert (dry_run[0], len(dry_run[1].splitlines()), dry_run[2]) == (0, 24, "")
    assert (verify[0], len(verify[2].splitlines())) == (1, 16), verify[2]


def fake_ip(root: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program called ip before all others."""
    program = root / "bin/ip"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    shutil.copytree(FILES, root, dirs_exist_ok=True)


Link = dict[str, object]


def bond(links: list[Link]) -> None:
    """Put the first two NICs into a bond, which gives both the MAC of the first."""
    info = {"info_slave_kind": "bond"}
    links[0] |= {"master": "bond0", "linkinfo": info}
    links[1] |= {"master": "bond0", "linkinfo": info, "address": ETH0, "permaddr": ETH1}
    links.append({"ifname": "bond0", "address": ETH0, "flags": ["UP"], "linkinfo": {"info_kind": "bond"}})


def bond_without_the_first(links: list[Link]) -> None:
    """Leave the MAC of the first NIC to the bond and the second one."""
    bond(links)
    del links[0]


def changed_mac(links: list[Link]) -> None:
    """Let another NIC have the MAC of the first one, as it was set by hand."""
    links[0] |= {"ifname": "ens1", "permaddr": NOWHERE}


def vlan(links: list[Link]) -> None:
    """Let VLANs be before the NIC that carries them, one of them with its name."""
    links[0]["ifname"] = "ens1"
    kind = {"info_kind": "vlan"}
    for name in ("eth0_gpu", "ens1.5"):
        links.insert(0, {"ifname": name, "link": "ens1", "address": ETH0, "flags": ["UP"], "linkinfo": kind})


STACKED: dict[str, tuple[Callable[[list[Link]], None], Sequence[str], str]] = {
    "bond": (
        bond,
        (
            "eth0_gpu: eth0_gpu is part of bond0; take it out: ip link set eth0_gpu nomaster",
            "eth1_gpu: eth1_gpu is part of bond0; take it out: ip link set eth1_gpu nomaster",
        ),
        f"ip -6 rule add {RULE} priority 12000",
    ),
    "bond without the first NIC": (
        bond_without_the_first,
        (
            f"eth0_gpu: no interface has this name or the MAC {ETH0}; check the NIC and its driver: ip link",
            "eth1_gpu: eth1_gpu is part of bond0; take it out: ip link set eth1_gpu nomaster",
        ),
        "ip -6 rule add from fd12:3456:789a:1081::/64 lookup 20002 priority 12002",
    ),
    "MAC set by hand": (changed_mac, (), f"# eth0_gpu is ens1 here, which has its MAC {ETH0}"),
    "VLAN": (vlan, (), f"# eth0_gpu is ens1 here, which has its MAC {ETH0}"),
}


@pytest.mark.parametrize(("change", "refused", "first"), STACKED.values(), ids=STACKED)
def test_physical_interface_is_taken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[list[Link]], None],
    refused: Sequence[str],
    first: str,
) -> None:
    links: list[Link] = [
        {"ifname": f"eth{number}_gpu", "address": MAC.format(number=number), "flags": ["BROADCAST", "UP"]}
        for number in range(4)
    ]
    change(links)
    fake_ip(tmp_path, f"case \"$*\" in *link*) echo '{json.dumps(links)}' ;; *) echo '[]' ;; esac", monkeypatch)
    done = run(tmp_path, "setup", "--dry-run")
    assert done.stderr.splitlines() == [f"ailb-host: {line}" for line in refused]
    assert done.stdout.splitlines()[0] == first
    assert done.returncode == (1 if refused else 0)


def test_rdma_device_tells_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ip(tmp_path, "echo '[]'", monkeypatch)
    (tmp_path / "sys/class/infiniband/mlx5_2/device/net/ens3").mkdir(parents=True)
    done = run(tmp_path, "setup")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[2] == (
        "ailb-host: eth2_gpu: no interface has this name or the MAC a0:88:c2:01:01:02; "
        "mlx5_2 is ens3: name that eth2_gpu, or set mac in the fabric file"
    )
    assert len(lines) == 4 and lines[0].endswith("; check the NIC and its driver: ip link")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'Option \"-N\" is unknown' >&2; exit 255", 'Option "-N" is unknown'),
        ("exit 4", "exit code 4"),
        ("echo 1: lo", "it printed no JSON; install a newer iproute2"),
        (
            "echo 'RTNETLINK answers: Address family not supported' >&2; exit 2",
            "RTNETLINK answers: Address family not supported",
        ),
    ],
)
def test_ip_gives_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    fake_ip(tmp_path, script, monkeypatch)
    for words in ((), ("--verify",), ("--dry-run",), ("--remove",)):
        done = run(tmp_path, "setup", *words)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == (
            f"ailb-host: cannot read the kernel's state: ip -N -j -6 route show table all: {message}\n"
        )


def test_wrong_arguments(tmp_path: Path) -> None:
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    done = run(tmp_path, "setup", "--verify", "--remove")
    assert done.returncode == 2 and "not allowed with argument" in done.stderr
