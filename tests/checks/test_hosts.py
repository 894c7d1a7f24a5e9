"""The checks of servers: shipped trees are clean, and every damage is found by the check that names it."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.checks.causes import causes
from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding
from ailb_gen.errors import Place
from ailb_gen.hosts.read import read_hosts
from ailb_gen.intent.models import Fabric
from ailb_gen.layout import ENVIRONMENT, NETPLAN, QOS, QOS_UNIT, SCRIPT, SCRIPT_UNIT, SYSCTL, TABLE_NAMES
from ailb_gen.network.fabric import End, Network
from tests.checks.trees import GOLDEN, change, fabric_of, findings, network_of, run_family
from tests.conftest import examples

LAB = fabric_of("lab")
PROFILE = "profiles/stripe1"
DROP_IN = "etc/systemd/network/10-netplan-gpu1_eth.network.d/50-ailb.conf"
FILES = (ENVIRONMENT, NETPLAN, QOS, QOS_UNIT, SCRIPT, SCRIPT_UNIT, SYSCTL, TABLE_NAMES, DROP_IN)


@pytest.fixture(scope="module")
def lab() -> Network:
    return network_of(GOLDEN / "lab")


@pytest.fixture(scope="module")
def brownfield() -> Network:
    return network_of(GOLDEN / "brownfield")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the lab's servers."""
    for name in ("profiles", "servers"):
        shutil.copytree(GOLDEN / "lab" / name, tmp_path / name, symlinks=True)
    return tmp_path


def judged(tree: Path, lab: Network, fabric: Fabric = LAB) -> list[Finding]:
    """Findings about the servers of `tree` beside the switches of the lab."""
    network = replace(lab, hosts=read_hosts(tree)[0])
    return findings((*run_family("AILB6", Context(fabric, network)), *run_family("AILB7", Context(fabric, network))))


# file, text, replacement, the check that names it, a part of the line that its finding points at
DAMAGES = [
    (NETPLAN, "fc00:1:1:", "fc00:1:2:", "AILB606", "fc00:1:2:"),
    (NETPLAN, "table: 10003", "table: 10004", "AILB603", "table: 10004"),
    (NETPLAN, "table: 10003", "table: 254", "AILB603", "table: 254"),
    (NETPLAN, "priority: 10002", "priority: 10001", "AILB604", "priority: 10001"),
    (NETPLAN, "priority: 10002", "priority: 32766", "AILB604", "priority: 32766"),
    (NETPLAN, '- from: "fc00:1:1:2::/64"', '- from: "fc00:1:1:4::/64"', "AILB604", "from"),
    (NETPLAN, "table: 10004\n          priority", "table: 10003\n          priority", "AILB604", "table: 10003"),
    (NETPLAN, "          scope: link\n", "", "AILB605", "to:"),
    (NETPLAN, "          on-link: true\n", "", "AILB605", "to:"),
    (NETPLAN, "          scope: link\n", "          scope: link\n          metric: 5\n", "AILB605", "metric"),
    (NETPLAN, "dhcp6: false", "dhcp6: yes", "AILB609", "dhcp6"),
    (NETPLAN, "optional: true", "optional: true\n      addresses: [10.0.0.1/24]", "AILB609", "addresses"),
    (NETPLAN, "mtu: 9000", "mtu: 9001", "AILB613", "mtu: 9001"),
    (NETPLAN, "gpu1_eth:", "gpu2_eth:", "AILB602", "gpu2_eth"),
    (NETPLAN, "optional: true", "match: {macaddress: 'a0:88:c2:00:00:01'}\n      optional: true", "AILB614", "match"),
    (NETPLAN, "optional: true", "set-name: x\n      optional: true", "AILB614", "set-name"),
    (NETPLAN, "ethernets:", "ethernets: [", "AILB601", ""),
    (SYSCTL, "gpu0_eth.accept_ra = 1", "gpu0_eth.accept_ra = 2", "AILB610", "accept_ra = 2"),
    (SYSCTL, "gpu1_eth", "gpu2_eth", "AILB602", "gpu2_eth"),
    (TABLE_NAMES, "10002 gpu0_subnet3", "10002 gpu0_subnet4", "AILB608", "10002"),
    (TABLE_NAMES, "10002", "10001", "AILB608", "10001"),
    (SCRIPT, " fc00:1:2:4::1", " fc00:1:1:4::1", "AILB607", "fc00:1:1:4::1"),
    (SCRIPT, "gpu1_eth 10004", "gpu0_eth 10004", "AILB607", "10004"),
    (SCRIPT, 'ip -6 rule add from "$2"', 'ip -6 rule add to "$2"', "AILB616", "rule add"),
    (SCRIPT, "set -eu", "set -u", "AILB616", "set -u"),
    (ENVIRONMENT, "QPS_PER_CONNECTION=4", "QPS_PER_CONNECTION=1", "AILB612", "QPS"),
    (SCRIPT_UNIT, "ailb-net apply", "ailb-net verify", "AILB615", "verify"),
    (QOS_UNIT, "After=sys-subsystem-net-devices-gpu0_eth.device", "", "AILB615", ""),
    (QOS, "gpu1_eth mlx5_1", "gpu1_eth mlx5_0", "AILB602", "gpu1_eth mlx5_0"),
    (QOS, "\ndscp=26", "\ndscp=28", "AILB708", "dscp=28"),
    (DROP_IN, "UseDNS=no\n", "", "AILB611", ""),
]
# What is told first is told where it is wrong: file, text, replacement, the check, the whole line.
PLACES = [
    (DROP_IN, "[IPv6AcceptRA]", "[IPv6AcceptR]", "AILB611", "[IPv6AcceptR]"),
    (SCRIPT_UNIT, "[Service]", "[Servce]", "AILB615", "[Servce]"),
    (
        SCRIPT_UNIT,
        "Wants=sys-subsystem-net-devices-gpu0_eth.device",
        "Wants=sys-subsystem-net-devices-gpu1_eth.device",
        "AILB615",
        "Wants=sys-subsystem-net-devices-gpu1_eth.device",
    ),
    (
        SYSCTL,
        "net.ipv6.conf.gpu0_eth.autoconf = 1",
        "net.ipv6.conf.gpu1_eth.autoconf = 1",
        "AILB610",
        "net.ipv6.conf.gpu1_eth.autoconf = 1",
    ),
    (NETPLAN, "          scope: link\n", "          scope: lnk\n", "AILB605", "          scope: lnk"),
    (NETPLAN, "          on-link: true\n", "          on-link: false\n", "AILB605", "          on-link: false"),
    (
        NETPLAN,
        '64"\n          scope: link\n          table: 10002',
        '64"\n          table: 10002',
        "AILB605",
        "fc00:1:1:3",
    ),
    (QOS, "gpu0_eth mlx5_0", "gpu1_eth mlx5_0", "AILB602", "gpu1_eth mlx5_0"),
    (NETPLAN, "  ethernets:\n", "  etherets:\n", "AILB602", "  etherets:"),
    (QOS, "    fi\n", "    if\n", "AILB616", "    if"),
    (SCRIPT, "    status=1", "    status=0", "AILB616", "    status=0"),
    (SCRIPT, 'add "$3" dev "$1" table "$2"', 'add "$3" dev "$1" table "$8"', "AILB616", "$8"),
    (SCRIPT, "#!/bin/sh", " #!/bin/sh", "AILB616", " #!/bin/sh"),
]


@pytest.mark.parametrize(("file", "old", "new", "check", "pointed"), PLACES)
def test_a_damage_is_the_first_cause_and_told_at_its_line(
    file: str, old: str, new: str, check: str, pointed: str, tree: Path, lab: Network
) -> None:
    path = tree / PROFILE / file
    change(path, old, new)
    results = run_family("AILB6", Context(LAB, replace(lab, hosts=read_hosts(tree)[0])))
    explained = causes(results)
    (cause,) = [one for one in findings(results) if one not in explained]
    assert cause.check == check
    assert cause.place is not None
    assert cause.place.file == f"{PROFILE}/{file}"
    assert pointed in path.read_text().split("\n")[cause.place.line - 1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("on-link: true\n          table: 10002", "on-link: true\n          table: 10003"),
        ("scope: link\n          table: 10002", "scope: link\n          table: 10001"),
    ],
)
def test_a_route_in_another_table_is_told_first_at_its_table(old: str, new: str, tree: Path, lab: Network) -> None:
    path = tree / PROFILE / NETPLAN
    text = path.read_text()
    changed = text.index(old) + new.index("table")
    path.write_text(text.replace(old, new, 1))
    results = run_family("AILB6", Context(LAB, replace(lab, hosts=read_hosts(tree)[0])))
    explained = causes(results)
    places = [one.place for one in findings(results) if one not in explained]
    assert places[0] is not None
    assert places[0].line == text[:changed].count("\n") + 1


def test_a_route_below_another_nic_is_one_cause(tree: Path, lab: Network) -> None:
    path = tree / PROFILE / NETPLAN
    text = path.read_text()
    route = '        - to: "fc00:1:1:2::/64"\n          scope: link\n          table: 10001\n'
    before = '        - to: "fc00:1:2:2::/64"\n'
    path.write_text(text.replace(route, "").replace(before, route + before))
    results = run_family("AILB6", Context(LAB, replace(lab, hosts=read_hosts(tree)[0])))
    explained = causes(results)
    (cause,) = [one for one in findings(results) if one not in explained]
    assert cause.place is not None
    assert path.read_text().split("\n")[cause.place.line - 1].strip() == "table: 10001"


def test_values_of_nccl_that_do_not_work_are_told_with_their_reason(tree: Path, lab: Network) -> None:
    for path in (tree / "profiles").glob(f"*/{ENVIRONMENT}"):
        text = path.read_text()
        path.write_text(text.replace("SPLIT_DATA_ON_QPS=1", "SPLIT_DATA_ON_QPS=0") + "NCCL_IB_GID_INDEX=0\n")
    asked = LAB.model_copy(
        update={"nccl": LAB.nccl.model_copy(update={"environment": {"NCCL_IB_SPLIT_DATA_ON_QPS": "0"}})}
    )
    one_color, pinned = "a message uses one queue pair, and so one color; write 1", "the same address"
    for fabric in (LAB, asked):
        found = [finding.message for finding in judged(tree, lab, fabric) if finding.check == "AILB612"]
        split = [message for message in found if one_color in message]
        fixed = [message for message in found if "NCCL_IB_GID_INDEX does not belong here" in message]
        assert len(split) == len(fixed) > 0
        assert sorted((*split, *fixed)) == sorted(found)
        assert all(pinned in message for message in fixed)


@pytest.mark.parametrize(("file", "old", "new", "check", "pointed"), DAMAGES)
def test_a_damage_is_found_by_the_check_that_names_it(
    file: str, old: str, new: str, check: str, pointed: str, tree: Path, lab: Network
) -> None:
    path = tree / PROFILE / file
    change(path, old, new, -1)
    found = [finding for finding in judged(tree, lab) if finding.check == check]
    assert found
    assert {finding.scope.split()[0] for finding in found} <= {PROFILE, "gpu-s1-1", "gpu-s1-2"}
    places = [finding.place for finding in found if finding.place is not None and finding.place.file.endswith(file)]
    assert places
    lines = path.read_text().split("\n")
    assert any(pointed in lines[place.line - 1] for place in places)


def test_a_gateway_of_another_rail_names_leaf_and_table(tree: Path, lab: Network) -> None:
    change(tree / PROFILE / NETPLAN, "fc00:1:1:3:", "fc00:1:2:3:", -1)
    found = next(finding for finding in judged(tree, lab) if finding.check == "AILB606")
    assert found.scope == f"{PROFILE} gpu0_eth"
    assert "stripe1-leaf1" in found.message
    assert "table 10002" in found.message
    assert "(2 servers)" in found.message
    assert (found.expected, found.found) == ("fc00:1:1:3::/64", "fc00:1:2:3::/64")


def test_a_moved_cable_is_found_for_its_server_alone(lab: Network) -> None:
    moved = {("gpu-s1-2", "gpu0_eth"): End("stripe2-leaf1", "et-0/0/17")}
    network = replace(lab, attachments={**lab.attachments, **moved})
    found = findings(run_family("AILB6", Context(LAB, network)))
    assert {(finding.check, finding.scope) for finding in found} == {("AILB606", "gpu-s1-2 gpu0_eth")}
    assert len(found) == 4


def test_a_cable_too_few_and_a_cable_too_many(lab: Network) -> None:
    attachments = dict(lab.attachments)
    end = attachments.pop(("gpu-s1-1", "gpu1_eth"))
    attachments["gpu-s1-1", "gpu9_eth"] = end
    attachments["gpu-s9-9", "gpu0_eth"] = end
    found = findings(run_family("AILB6", Context(LAB, replace(lab, attachments=attachments))))
    assert {(finding.check, finding.scope) for finding in found} == {
        ("AILB602", "gpu-s1-1 gpu1_eth"),
        ("AILB602", "gpu-s1-1 gpu9_eth"),
        ("AILB602", "gpu-s9-9 gpu0_eth"),
    }


def test_swapped_cables_of_a_server_are_found(lab: Network) -> None:
    one, two = ("gpu-s1-1", "gpu0_eth"), ("gpu-s1-1", "gpu1_eth")
    swapped = {one: lab.attachments[two], two: lab.attachments[one]}
    found = findings(run_family("AILB6", Context(LAB, replace(lab, attachments={**lab.attachments, **swapped}))))
    assert {finding.scope for finding in found if finding.check == "AILB606"} == {
        "gpu-s1-1 gpu0_eth",
        "gpu-s1-1 gpu1_eth",
    }


def test_a_server_with_the_profile_of_another_stripe(tree: Path, lab: Network) -> None:
    link = tree / "servers/gpu-s1-1"
    link.unlink()
    link.symlink_to("../profiles/stripe2")
    found = judged(tree, lab)
    (finding,) = found
    assert (finding.check, finding.scope, finding.place) == ("AILB606", "gpu-s1-1", Place("servers/gpu-s1-1"))
    assert "is a link to profiles/stripe2" in finding.message
    assert finding.expected == "a link to profiles/stripe1"


@pytest.mark.parametrize(
    ("server", "kind"),
    [("store-2-1", ""), ("h100-03", "-storage"), ("h100-03", "-b200"), ("b200-01", ""), ("b200-01", "-storage")],
)
def test_a_server_with_the_profile_of_another_kind(server: str, kind: str, tmp_path: Path) -> None:
    """That is the only finding: nothing in those files is about the server."""
    for name in ("profiles", "servers"):
        shutil.copytree(GOLDEN / "mixed" / name, tmp_path / name, symlinks=True)
    link = tmp_path / "servers" / server
    right = link.readlink().name
    link.unlink()
    link.symlink_to(f"../profiles/stripe2{kind}")
    (finding,) = judged(tmp_path, network_of(GOLDEN / "mixed"), fabric_of("mixed"))
    assert (finding.check, finding.scope, finding.expected) == ("AILB606", server, f"a link to profiles/{right}")


def test_all_servers_with_the_profile_of_another_stripe(tree: Path, lab: Network) -> None:
    for name in ("gpu-s1-1", "gpu-s1-2"):
        (tree / "servers" / name).unlink()
        (tree / "servers" / name).symlink_to("../profiles/stripe2")
    found = judged(tree, lab)
    assert [(finding.check, finding.scope) for finding in found] == [("AILB606", "gpu-s1-1"), ("AILB606", "gpu-s1-2")]


def test_missing_and_unknown_servers(tree: Path, lab: Network) -> None:
    (tree / "servers/gpu-s1-1").rename(tree / "servers/gpu-s1-9")
    found = {(finding.check, finding.scope) for finding in judged(tree, lab)}
    assert ("AILB601", "gpu-s1-1") in found
    assert ("AILB601", "gpu-s1-9") in found


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_found_and_named_once(file: str, tree: Path, lab: Network) -> None:
    (tree / PROFILE / file).unlink()
    found = [finding for finding in judged(tree, lab) if finding.check == "AILB601"]
    assert [finding.message for finding in found] == [f"{file} is missing (2 servers)"]


def test_colors_of_a_leaf_in_another_order(lab: Network) -> None:
    leaf = lab.switches["stripe1-leaf2"]
    first, second = leaf.routes[:2]
    routes = (replace(first, color=second.color), replace(second, color=first.color), *leaf.routes[2:])
    network = replace(lab, switches={**lab.switches, "stripe1-leaf2": replace(leaf, routes=routes)})
    found = findings(run_family("AILB6", Context(LAB, network)))
    assert {finding.check for finding in found} == {"AILB606"}
    assert len(found) == 2


def test_a_port_without_native_vlan_has_no_gateway(lab: Network) -> None:
    leaf = lab.switches["stripe1-leaf2"]
    ports = {**leaf.ports, "et-0/0/16": replace(leaf.ports["et-0/0/16"], native_vlan=None)}
    network = replace(lab, switches={**lab.switches, "stripe1-leaf2": replace(leaf, ports=ports)})
    found = findings(run_family("AILB6", Context(LAB, network)))
    assert [(finding.check, finding.scope) for finding in found] == [("AILB606", "gpu-s1-1 gpu1_eth")]
    assert found[0].place is not None
    assert found[0].place.file == leaf.file


def test_an_mtu_that_does_not_fit_the_leaf(lab: Network) -> None:
    leaf = lab.switches["stripe1-leaf1"]
    irb = leaf.ports["irb"]
    ports = {
        **leaf.ports,
        "irb": replace(irb, units=(replace(irb.units[0], inet6_mtu=8999),)),
        "et-0/0/17": replace(leaf.ports["et-0/0/17"], mtu=9013),
    }
    network = replace(lab, switches={**lab.switches, "stripe1-leaf1": replace(leaf, ports=ports)})
    found = findings(run_family("AILB6", Context(LAB, network)))
    assert [(finding.check, finding.scope, finding.expected) for finding in found] == [
        ("AILB613", "gpu-s1-2 gpu0_eth", "at least 9014"),
        ("AILB613", "profiles/stripe1 gpu0_eth", "at most 8999"),
    ]


def test_macs_that_are_wrong_or_shared(brownfield: Network, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "brownfield/servers", tmp_path / "servers")
    change(tmp_path / "servers/a-gpu2" / NETPLAN, "a0:88:c2:01:02:00", "a0:88:c2:01:01:00")
    network = replace(brownfield, hosts=read_hosts(tmp_path)[0])
    found = findings(run_family("AILB6", Context(fabric_of("brownfield"), network)))
    assert {finding.check for finding in found} == {"AILB614"}
    assert {finding.scope for finding in found} == {"a-gpu2 eth0_gpu"}
    assert any("also that of a-gpu1 eth0_gpu" in finding.message for finding in found)


def test_nothing_to_look_at_is_no_finding_but_missing_servers() -> None:
    results = run_family("AILB6", Context(LAB, Network({}, {}, {}, (), {}, ())))
    assert {(finding.check, finding.scope) for finding in findings(results)} == {
        ("AILB601", name) for name in ("gpu-s1-1", "gpu-s1-2", "gpu-s2-1", "gpu-s2-2")
    }


def test_files_of_the_hosts_own_may_set_other_nics(tree: Path, lab: Network) -> None:
    own = "network: {version: 2, ethernets: {eno1: {dhcp4: true, routing-policy: [{from: 10.0.0.0/8, table: 77}]}}}\n"
    (tree / PROFILE / "etc/netplan/50-management.yaml").write_text(own)
    assert not judged(tree, lab)


@pytest.mark.long
@settings(max_examples=examples(100))
@given(file=st.sampled_from(FILES), line=st.integers(0, 110), text=st.text(max_size=40), words=st.booleans())
def test_a_random_line_never_raises(
    file: str, line: int, text: str, words: bool, lab: Network, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("hosts")
    for name in ("profiles", "servers"):
        shutil.copytree(GOLDEN / "lab" / name, root / name, symlinks=True)
    path = root / PROFILE / file
    lines = path.read_text().split("\n")
    line %= len(lines)
    lines[line] = f"{lines[line].partition(':')[0]}: {text}" if words else text
    path.write_bytes("\n".join(lines).encode(errors="surrogatepass"))
    assert all(finding.check.startswith("AILB") for finding in judged(root, lab))


def _damages(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Delete, repeat and swap every line, and add one to every number."""
    for number, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        yield "delete", [*lines[:number], *lines[number + 1 :]]
        yield "repeat", [*lines[: number + 1], *lines[number:]]
        if number + 1 < len(lines) and lines[number + 1].strip() and lines[number + 1] != line:
            yield "swap", [*lines[:number], lines[number + 1], line, *lines[number + 2 :]]
        for found in re.finditer(r"\d+", line):
            changed = f"{line[: found.start()]}{int(found[0]) + 1}{line[found.end() :]}"
            yield "count", [*lines[:number], changed, *lines[number + 1 :]]


def _meaning(root: Path) -> object:
    """What the files say, whatever its order: of unit files without the words for people."""
    profile = read_hosts(root)[0]["gpu-s1-1"].profile
    return (
        {name: replace(nic, file="") for name, nic in profile.nics.items()},
        set(profile.rules),
        {table: set(routes) for table, routes in profile.routes.items()},
        set(profile.network),
        set(profile.names),
        set(profile.sysctls),
        set(profile.environment),
        {nic: set(settings) for nic, settings in profile.drop_ins.items()},
        {
            unit: {s for s in settings if s.section and s.key not in ("Description", "Documentation")}
            for unit, settings in profile.units.items()
        },
        (set(profile.script.rows), profile.script.code) if profile.script is not None else None,
        profile.qos,
    )


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
def test_every_line_that_is_deleted_repeated_swapped_or_counted_up_is_found(
    file: str, tree: Path, lab: Network
) -> None:
    """What nothing finds must mean the same as before."""
    path = tree / PROFILE / file
    text = path.read_text()
    before = _meaning(tree)
    missed = []
    count = 0
    for kind, lines in _damages(text.split("\n")):
        path.write_text("\n".join(lines))
        count += 1
        if not judged(tree, lab) and _meaning(tree) != before:
            missed.append((kind, lines))
    assert count > 4
    assert not missed


OVERRIDING = [
    ("etc/sysctl.d/99-zzz.conf", "net.ipv6.conf.gpu0_eth.accept_ra = 0\n", "it is read later and wins"),
    ("etc/sysctl.d/10-early.conf", "net.ipv6.conf.gpu0_eth.accept_ra = 0\n", "it is read earlier"),
    ("etc/sysctl.conf", "net/ipv6/conf/gpu0_eth/accept_ra=0\n", "it is read later and wins"),
    ("etc/sysctl.d/10-all.conf", "net.ipv6.conf.all.disable_ipv6=1\n", "sets kernel parameters"),
    ("run/sysctl.d/99-accept-ra.conf", "net.ipv6.conf.*.accept_ra=0\n", "replaces etc/"),
    ("etc/sysctl.d/98-all.conf", "net.ipv6.conf.*.accept_ra=0\n", "sets kernel parameters"),
    ("usr/lib/sysctl.d/50-default.conf", "net.ipv6.conf.all.forwarding=1\n", "sets kernel parameters"),
    ("etc/systemd/network/05-mine.network", "[Match]\nName=gpu*\n[Network]\nDHCP=yes\n", "networkd or udev"),
    ("etc/systemd/network/05-mine.network", "[Match]\nDriver=mlx5_core\n", "networkd or udev"),
    ("etc/systemd/network/05-mine.network", "[Match]\nName=eno1 gpu1_eth\n", "networkd or udev"),
    ("run/systemd/network/10-x.link", "[Match]\nOriginalName=eth7\n[Link]\nName=gpu0_eth\n", "networkd or udev"),
    ("etc/systemd/network/05-br.netdev", "[NetDev]\nName=br0\nKind=bridge\n", "with the units that netplan generates"),
    ("etc/systemd/network/10-netplan-gpu0_eth.network.d/60-x.conf", "[Network]\nDHCP=yes\n", "with the units that"),
    (
        "etc/systemd/networkd.conf.d/x.conf",
        "[Network]\nManageForeignRoutingPolicyRules=yes\n",
        "foreign routes",
    ),
    ("etc/systemd/system/ailb-net.service.d/x.conf", "[Service]\nExecStart=\n", "overrides, masks or shadows"),
    ("etc/systemd/system/other.service", "[Service]\nExecStart=/bin/true\n", "systemd reads it"),
    ("etc/udev/rules.d/70-net.rules", 'SUBSYSTEM=="net", NAME="x"\n', "udev rules"),
    ("usr/lib/udev/rules.d/70-net.rules", "# nothing\n", "udev rules"),
    ("etc/modprobe.d/mlx.conf", "options mlx5_core prof_sel=3\n", "options of the drivers"),
    ("etc/modprobe.d/x.conf", "blacklist ib_uverbs\n", "options of the drivers"),
    ("etc/iproute2/rt_tables.d/z.conf", "10000 mine\n", "names routing tables"),
    ("etc/iproute2/rt_tables", "7 gpu0_subnet1\n", "names routing tables"),
    ("etc/nccl.conf", "NCCL_IB_QPS_PER_CONNECTION=1\n", "NCCL takes from it"),
    ("root/.nccl.conf", "NCCL_IB_HCA=mlx5_0\n", "NCCL takes from it"),
    ("etc/environment", "NCCL_IB_HCA=mlx5_0\n", "sets variables"),
    ("etc/profile.d/x.sh", "export NCCL_IB_TC=0\n", "sets variables"),
    ("etc/netplan/90-x.yaml", "network: {renderer: NetworkManager}\n", "netplan merges it"),
    (
        "etc/netplan/90-x.yaml",
        "network: {ethernets: {all: {match: {name: 'gpu*'}, dhcp4: true}}}\n",
        "netplan merges it",
    ),
    ("etc/netplan/90-x.yaml", "network: {bonds: {b: {interfaces: [gpu1_eth]}}}\n", "netplan merges it"),
    ("run/netplan/90-x.yaml", "network: {}\n", "netplan merges it"),
    ("etc/network/interfaces", "auto gpu0_eth\n", "another network manager"),
    ("etc/nftables.conf", "flush ruleset\n", "filters packets"),
    ("usr/local/sbin/ip", "#!/bin/sh\n", "instead of the system's"),
    ("etc/cron.d/x", "* * * * * root ip link\n", "on a schedule"),
    ("opt/thing", "ip link set eno1 up\n", "not one of the fabric's"),
]


@pytest.mark.parametrize(("path", "text", "why"), OVERRIDING)
def test_an_extra_file_that_overrides_a_checked_one_is_an_error(
    tree: Path, lab: Network, path: str, text: str, why: str
) -> None:
    target = tree / PROFILE / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    found = [finding for finding in judged(tree, lab) if finding.check == "AILB617"]
    assert len(found) == 1
    assert found[0].message.startswith(f"{path}: ") and why in found[0].message
    assert found[0].place is not None and found[0].place.file == f"{PROFILE}/{path}"


def test_a_link_is_not_followed_and_not_trusted(tree: Path, lab: Network) -> None:
    (tree / PROFILE / "etc/motd").symlink_to("/etc/motd")
    (tree / PROFILE / "etc/udev").symlink_to("/etc")
    (tree / PROFILE / "etc/sysctl.d/99-zzz.conf").symlink_to("/dev/null")
    found = [finding.message.split(":")[0] for finding in judged(tree, lab) if finding.check == "AILB617"]
    assert found == ["etc/motd", "etc/sysctl.d/99-zzz.conf", "etc/udev"]


@pytest.mark.parametrize("file", [SCRIPT, QOS])
@pytest.mark.parametrize(("mode", "why"), [(0o644, "is not executable"), (0o757, "is world-writable")])
def test_a_script_needs_its_mode(tree: Path, lab: Network, file: str, mode: int, why: str) -> None:
    (tree / PROFILE / file).chmod(mode)
    found = [finding for finding in judged(tree, lab) if finding.check == "AILB618"]
    assert [finding.message.split(" (")[0] for finding in found] == [f"{file} {why}"]
