"""The servers' files against the real tools: netplan, the kernel's routing rules, systemd."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ailb_gen.design.model import HostConfig
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import example, need_root, need_tool

# The kernel keeps what a dead rule or route leaves; nothing of the fabric may be among it.
COMMANDS = (("rule", "show"), ("route", "show", "table", "all"))


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("trees")
    for name in ("jvd", "jvd-8-uplinks", "lab", "brownfield"):
        planned = rendering(example(name), root / name, RenderOptions())
        write_rendering(planned)
    return root


@pytest.fixture(scope="module")
def script(trees: Path) -> Path:
    """The script that sets the network of a server."""
    return trees / "jvd/servers/h100-03/usr/local/sbin/ailb-net"


def run(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert not check or done.returncode == 0, f"{words}: {done.stderr or done.stdout}"
    return done.stdout


def units(root: Path, nic: str) -> dict[str, list[dict[str, str]]]:
    """Read a generated networkd unit: its sections, in order, as key-value mappings."""
    sections: dict[str, list[dict[str, str]]] = {}
    current: dict[str, str] = {}
    text = (root / f"run/systemd/network/10-netplan-{nic}.network").read_text(encoding="utf-8")
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            current = {}
            sections.setdefault(line.strip("[]"), []).append(current)
        else:
            key, _, value = line.partition("=")
            current[key] = value
    return sections


@pytest.mark.parametrize(
    ("name", "server"),
    [("jvd", "h100-01"), ("jvd-8-uplinks", "h100-04"), ("lab", "gpu-s2-1"), ("brownfield", "b-gpu2")],
)
def test_netplan_generates_the_units_that_were_meant(trees: Path, tmp_path: Path, name: str, server: str) -> None:
    netplan = need_tool("netplan")
    root = tmp_path / "root"
    run("cp", "-rL", str(trees / name / "servers" / server), str(root))
    run(netplan, "generate", "--root-dir", str(root))
    config = next(s.config for s in example(name).servers if s.name == server)
    for nic in config.nics:
        sections = units(root, nic.name)
        network = sections["Network"][0]
        assert network["IPv6AcceptRA"] == "yes"
        assert network["LinkLocalAddressing"] == "ipv6"
        assert "DHCP" not in network
        assert sections["Link"][0]["MTUBytes"] == str(nic.mtu)
        routes = [(r["Destination"], r.get("Gateway"), r["Table"]) for r in sections["Route"]]
        rules = [(r["From"], r["Table"], r["Priority"]) for r in sections["RoutingPolicyRule"]]
        wanted = [
            row for t in nic.tables for row in ((t.prefix.text, None, str(t.id)), ("::/0", t.prefix.gateway, str(t.id)))
        ]
        assert routes == wanted
        assert rules == [(t.prefix.text, str(t.id), str(t.priority)) for t in nic.tables]
        # The drop-in belongs to the unit that netplan really generates.
        drop_in = root / f"etc/systemd/network/10-netplan-{nic.name}.network.d/50-ailb.conf"
        assert "UseGateway=no" in drop_in.read_text(encoding="utf-8")


class Namespace:
    """A network namespace with a NIC for every NIC of a server; veth pairs, both ends inside."""

    def __init__(self, name: str, config: HostConfig) -> None:
        self.name, self.config = name, config
        self.ip = need_tool("ip")
        run(self.ip, "netns", "add", name)
        for nic in config.nics:
            mac, peer = f"a0:88:c2:3b:00:{nic.index + 1:02x}", f"peer{nic.index}"
            run(self.ip, "-n", name, "link", "add", nic.name, "address", mac, "type", "veth", "peer", "name", peer)
            for end in (nic.name, peer):
                self.sysctl(f"net.ipv6.conf.{end}.accept_dad", 0)
                run(self.ip, "-n", name, "link", "set", end, "up")
            for table in nic.tables:
                address = f"{table.prefix.text.removesuffix('::/64')}:a288:c2ff:fe3b:{nic.index + 1}/64"
                run(self.ip, "-n", name, "-6", "addr", "add", address, "dev", nic.name, "nodad")

    def sysctl(self, key: str, value: int) -> None:
        path = f"/proc/sys/{key.replace('.', '/')}"
        run(self.ip, "netns", "exec", self.name, "sh", "-c", f"echo {value} >{path}")

    def state(self) -> list[str]:
        return [run(self.ip, "-n", self.name, "-6", *command) for command in COMMANDS]

    def script(self, path: Path, *verb: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        words = (self.ip, "netns", "exec", self.name, str(path), *verb)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert not check or done.returncode == 0, done.stderr
        return done


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Iterator[Namespace]:
    need_root()
    config = next(s.config for s in example("jvd").servers if s.name == "h100-03")
    name = f"ailb-test-{os.getpid()}"
    try:
        yield Namespace(name, config)
    finally:
        run(need_tool("ip"), "netns", "del", name, check=False)


def test_the_script_sets_keeps_checks_and_removes(script: Path, namespace: Namespace) -> None:
    before = namespace.state()
    namespace.script(script, "apply")
    applied = namespace.state()
    assert applied != before
    namespace.script(script, "apply")
    assert namespace.state() == applied, "running it twice changes nothing"
    namespace.script(script, "verify")

    rules = run(namespace.ip, "-n", namespace.name, "-6", "-N", "rule", "show").splitlines()
    for nic in namespace.config.nics:
        for table in nic.tables:
            assert f"{table.priority}:\tfrom {table.prefix.text} lookup {table.id}" in [r.rstrip() for r in rules]
            source = f"{table.prefix.text.removesuffix('::/64')}:a288:c2ff:fe3b:{nic.index + 1}"
            remote = table.prefix.text.replace("fc00:2:", "fc00:1:").replace("::/64", "::1234")
            got = run(namespace.ip, "-n", namespace.name, "-6", "-N", "route", "get", remote, "from", source)
            assert f"via {table.prefix.gateway} dev {nic.name} table {table.id} " in got

    namespace.script(script, "remove")
    assert namespace.state() == before, "remove leaves no trace"
    failed = namespace.script(script, "verify", check=False)
    assert failed.returncode == 1
    assert failed.stderr.count("no rule") == 32


@pytest.mark.long
def test_the_script_repairs_what_somebody_changed(script: Path, namespace: Namespace) -> None:
    namespace.script(script, "apply")
    applied = namespace.state()
    ip = (namespace.ip, "-n", namespace.name, "-6")
    run(*ip, "rule", "del", "priority", "10003")
    run(*ip, "rule", "add", "from", "fc00:9::/64", "lookup", "10009", "priority", "10004")
    run(*ip, "route", "flush", "table", "10010")
    run(*ip, "route", "add", "fc00:9::/64", "dev", "gpu0_eth", "table", "10000")
    failed = namespace.script(script, "verify", check=False)
    assert failed.returncode == 1
    assert [line.split(":")[1] for line in failed.stderr.splitlines()] == [f" gpu{nic}_eth" for nic in (0, 0, 1, 2)]
    namespace.script(script, "apply")
    assert namespace.state() == applied


def test_a_missing_nic_and_a_down_nic_do_not_keep_the_others_from_their_tables(
    script: Path, namespace: Namespace
) -> None:
    run(namespace.ip, "-n", namespace.name, "link", "del", "gpu0_eth")
    run(namespace.ip, "-n", namespace.name, "link", "set", "gpu1_eth", "down")
    failed = namespace.script(script, "apply", check=False)
    assert failed.returncode == 1
    told = [line for line in failed.stderr.splitlines() if line.startswith("ailb-net: ")]
    assert told[0] == "ailb-net: gpu0_eth: there is no such interface; table 10000 (gpu0_subnet1) is not set"
    assert told[4] == "ailb-net: gpu1_eth: cannot set table 10004 (gpu1_subnet1); is the link up?"
    assert len(told) == 8
    tables = run(namespace.ip, "-n", namespace.name, "-6", "-N", "route", "show", "table", "all")
    for number in range(10008, 10032):
        assert tables.count(f" table {number} ") == 2


def test_verify_takes_what_networkd_has_set(script: Path, namespace: Namespace) -> None:
    """networkd marks its rules and routes with `proto static`; the rest of the line is the same."""
    ip = (namespace.ip, "-n", namespace.name, "-6")
    for nic in namespace.config.nics:
        for table in nic.tables:
            prefix, number = table.prefix.text, str(table.id)
            rule = ("from", prefix, "lookup", number, "priority", str(table.priority))
            run(*ip, "rule", "add", *rule, "protocol", "static")
            run(*ip, "route", "add", prefix, "dev", nic.name, "table", number, "proto", "static")
            via = ("via", table.prefix.gateway, "dev", nic.name)
            run(*ip, "route", "add", "default", *via, "table", number, "proto", "static", "onlink")
    before = namespace.state()
    namespace.script(script, "verify")
    namespace.script(script, "apply")
    assert namespace.state() == before


def test_scripts_are_posix_shell(script: Path) -> None:
    for path in (script, script.with_name("ailb-qos")):
        run("sh", "-n", str(path))


def test_the_script_explains_itself(script: Path) -> None:
    for words in ((), ("apply", "--force"), ("verify", "--flush-stale"), ("apply", "--flush-stale", "x")):
        done = subprocess.run((script, *words), capture_output=True, text=True, check=False)
        told = "usage: ailb-net apply [--flush-stale [--force]] | verify | remove\n"
        assert (done.returncode, done.stderr) == (2, told)


def test_addresses_that_are_not_of_the_plan(script: Path, namespace: Namespace) -> None:
    """Each in one line with its repair, as `verify` of ailb-gen tells it."""
    ip = (namespace.ip, "-n", namespace.name)
    namespace.script(script, "apply")
    prefix = "fc00:2:1:1"
    own = f"{prefix}:a288:c2ff:fe3b:1"
    lifetimes = ("valid_lft", "900", "preferred_lft", "0")
    run(*ip, "addr", "add", "10.9.0.1/24", "dev", "gpu0_eth")
    run(*ip, "addr", "add", "fc00:9::1/64", "dev", "gpu0_eth", "nodad")
    run(*ip, "addr", "add", "fc00:9::2/64", "dev", "gpu1_eth", "nodad", *lifetimes)
    run(*ip, "addr", "change", f"{own}/64", "dev", "gpu0_eth", *lifetimes)
    run(*ip, "addr", "del", "fc00:2:2:1:a288:c2ff:fe3b:2/64", "dev", "gpu1_eth")
    failed = namespace.script(script, "verify", check=False)
    assert failed.returncode == 1
    told = [line.removeprefix("ailb-net: ") for line in failed.stderr.splitlines()]
    taken = "is not of the plan, and takes a GID"
    assert told == [
        f"gpu0_eth: {prefix}:a288:c2ff:fe3b:0001 is deprecated: the leaf no longer advertises {prefix}::/64",
        "gpu1_eth: no usable address in fc00:2:2:1::/64; is the leaf advertising it?",
        f"gpu0_eth: the IPv4 address 10.9.0.1/24 {taken}; remove it: ip addr del 10.9.0.1/24 dev gpu0_eth",
        f"gpu0_eth: the address fc00:9::1/64 {taken}; remove it: ip addr del fc00:9::1/64 dev gpu0_eth",
        f"gpu1_eth: the address fc00:9::2/64 {taken}; run: ailb-net apply --flush-stale",
    ]


@contextmanager
def traffic(namespace: Namespace) -> Iterator[None]:
    """Send a hundred packets a second over the first NIC."""
    words = (namespace.ip, "netns", "exec", namespace.name, "ping", "-6", "-i", "0.01", "-q", "ff02::1%gpu0_eth")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def test_stale_addresses_are_removed_but_not_under_traffic(script: Path, namespace: Namespace) -> None:
    need_tool("ping")
    ip = (namespace.ip, "-n", namespace.name)
    namespace.script(script, "apply")
    for address in ("fc00:9::1/64", "fc00:9::2/64"):
        run(*ip, "addr", "add", address, "dev", "gpu0_eth", "nodad", "valid_lft", "9000", "preferred_lft", "8000")
    run(*ip, "addr", "add", "fc00:9::3/64", "dev", "gpu1_eth", "nodad")
    shown = "".join(f"ailb-net: gpu0_eth: to be removed: fc00:9::{number}/64\n" for number in (2, 1))
    with traffic(namespace):
        kept = namespace.script(script, "apply", "--flush-stale", check=False)
        assert (kept.returncode, kept.stdout) == (1, shown)
        assert re.fullmatch(
            r"ailb-net: gpu0_eth: nothing is removed: \d+ packets in a second; end the job first, or add --force\n",
            kept.stderr,
        )
        assert namespace.script(script, "apply", "--flush-stale", "--force").stdout == shown
    # One that somebody has set by hand stays.
    assert "fc00:9::3" in run(*ip, "addr", "show", "dev", "gpu1_eth")
    run(*ip, "addr", "del", "fc00:9::3/64", "dev", "gpu1_eth")
    namespace.script(script, "verify")
    assert namespace.script(script, "apply", "--flush-stale").stdout == ""


# Where the drivers of NVIDIA, Broadcom and AMD count the packets of RDMA.
RDMA_PACKETS = ("counters/port_xmit_packets", "hw_counters/rx_pkts", "hw_counters/tx_rdma_ucast_pkts")


@pytest.mark.parametrize("counter", RDMA_PACKETS)
def test_packets_of_rdma_are_traffic(script: Path, namespace: Namespace, tmp_path: Path, counter: str) -> None:
    address = ("addr", "add", "fc00:9::1/64", "dev", "gpu0_eth", "nodad", "valid_lft", "900", "preferred_lft", "800")
    run(namespace.ip, "-n", namespace.name, *address)
    for nic in namespace.config.nics:
        (tmp_path / nic.name).mkdir()
        (tmp_path / nic.name / "address").write_text(f"a0:88:c2:3b:00:{nic.index + 1:02x}\n", encoding="utf-8")
    file = tmp_path / "gpu0_eth/device/infiniband/rdma0/ports/1" / counter
    file.parent.mkdir(parents=True)
    file.write_text("7\n", encoding="utf-8")
    text = script.read_text(encoding="utf-8").replace("/sys/class/net/", f"{tmp_path}/")
    assert "sleep 1" in text
    busy = tmp_path / "ailb-net"
    busy.write_text(text.replace("sleep 1", f"echo 1007 >{file}"), encoding="utf-8")
    busy.chmod(0o755)
    kept = namespace.script(busy, "apply", "--flush-stale", check=False)
    assert (kept.returncode, kept.stdout) == (1, "ailb-net: gpu0_eth: to be removed: fc00:9::1/64\n")
    assert "nothing is removed: 1000 packets in a second" in kept.stderr
