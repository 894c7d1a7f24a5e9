"""Reading the folders of servers: what is in them, and every way in which they can be unusable."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix, prefix_value
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.hosts.read import read_hosts, read_profile
from ailb_gen.layout import (
    ENVIRONMENT,
    HOST_FILE,
    HOST_PROGRAM,
    NETPLAN,
    QOS,
    QOS_UNIT,
    SCRIPT,
    SCRIPT_UNIT,
    SYSCTL,
    TABLE_NAMES,
)
from tests.conftest import ROOT, examples

GOLDEN = ROOT / "tests" / "golden"
FILES = (ENVIRONMENT, HOST_FILE, NETPLAN, QOS, QOS_UNIT, SCRIPT, SCRIPT_UNIT, SYSCTL, TABLE_NAMES)


def prefix(text: str) -> Prefix:
    found = prefix_value(text)
    assert found is not None
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the lab's servers."""
    for name in ("profiles", "servers"):
        shutil.copytree(GOLDEN / "lab" / name, tmp_path / name, symlinks=True)
    return tmp_path


@pytest.fixture(scope="module")
def lab() -> ServerProfile:
    return read_hosts(GOLDEN / "lab")[0]["gpu-s1-1"].profile


@pytest.mark.parametrize(("name", "servers", "profiles"), [("lab", 4, 2), ("jvd", 4, 2), ("brownfield", 6, 6)])
def test_the_shipped_trees_have_no_faults_and_profiles_are_shared(name: str, servers: int, profiles: int) -> None:
    hosts, defects = read_hosts(GOLDEN / name)
    assert not defects
    assert len(hosts) == servers
    assert len({id(host.profile) for host in hosts.values()}) == profiles
    assert not [defect for host in hosts.values() for defect in host.profile.defects]


def test_every_file_is_read(lab: ServerProfile) -> None:
    drop_ins = {f"etc/systemd/network/10-netplan-gpu{i}_eth.network.d/50-ailb.conf" for i in (0, 1)}
    assert lab.folder == "profiles/stripe1"
    assert lab.files == {*FILES, HOST_PROGRAM, *drop_ins}


def test_netplan_with_its_lines(lab: ServerProfile) -> None:
    text = (GOLDEN / "lab" / lab.folder / NETPLAN).read_text().split("\n")
    nic = lab.nics["gpu1_eth"]
    assert nic.value("dhcp4") is False
    assert nic.value("link-local") == ("ipv6",)
    assert text[nic.line_of("mtu") - 1].split() == ["mtu:", "9000"]
    route = lab.routes[10005][1]
    assert (route.to, route.nic, route.on_link) == (Prefix(0, 0), "gpu1_eth", True)
    assert "via" in text[route.via_line - 1]
    assert "10005" in text[route.table_line - 1]
    rule = lab.rules[5]
    assert (rule.source, rule.table, rule.priority) == (prefix("fc00:1:2:2::/64"), 10005, 10005)
    assert "priority: 10005" in text[rule.priority_line - 1]


def test_scripts_names_and_settings(lab: ServerProfile) -> None:
    assert lab.script is not None
    assert lab.qos is not None
    row = lab.script.rows[4]
    assert (row.nic, row.table, row.name, row.priority) == ("gpu1_eth", 10004, "gpu1_subnet1", 10004)
    assert [(name.table, name.name) for name in lab.names][:2] == [(10000, "gpu0_subnet1"), (10001, "gpu0_subnet2")]
    values = {setting.key: setting.value for setting in lab.qos.settings}
    assert values == {
        "dscp": 26,
        "priority": 3,
        "pfc": "0,0,0,1,0,0,0,0",
        "traffic_class": 106,
        "cnp_dscp": 48,
        "cnp_priority": 6,
    }
    assert [(nic.nic, nic.rdma) for nic in lab.qos.nics] == [("gpu0_eth", "mlx5_0"), ("gpu1_eth", "mlx5_1")]
    environment = {variable.key: variable.value for variable in lab.environment}
    assert environment["LD_LIBRARY_PATH"] == "${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/lib"
    assert {(s.section, s.key, s.value) for s in lab.drop_ins["gpu0_eth"]} == {
        ("IPv6AcceptRA", "UseGateway", "no"),
        ("IPv6AcceptRA", "UseDNS", "no"),
    }


def test_a_mac_is_read_where_netplan_has_one() -> None:
    nic = read_profile(GOLDEN / "brownfield", "servers/a-gpu1").nics["eth0_gpu"]
    assert nic.mac == "a0:88:c2:01:01:00"
    assert nic.value("set-name") == "eth0_gpu"


def test_a_missing_file_is_no_fault_but_not_among_the_files(tree: Path) -> None:
    (tree / "profiles/stripe1" / SCRIPT).unlink()
    profile = read_profile(tree, "profiles/stripe1")
    assert not profile.defects
    assert profile.script is None
    assert SCRIPT not in profile.files


def damaged(tree: Path, file: str, data: bytes) -> list[str]:
    (tree / "profiles/stripe1" / file).write_bytes(data)
    defects = read_profile(tree, "profiles/stripe1").defects
    return [f"{defect.place}: {defect.reason}" for defect in defects]


BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 9)) for letter in range(98, 106)
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe\x00\x01", "not UTF-8"),
        (b"x" * 3_000_000, "larger than 2 MiB"),
        (b"network: [1, 2\n", "not valid YAML"),
        (BOMB, "expands to more than"),
        (b"[" * 100_000, "nested deeper"),
        (b"network:\n  ethernets: [a]\n", "network.ethernets must be a mapping"),
        (b"network:\n  ethernets:\n    a: {routes: 1}\n", "network.ethernets.a.routes must be a list"),
        (b"network:\n  ethernets:\n    a: {routes: [1]}\n", "routes.0 must be a mapping"),
        (b"- 1\n", "the file must be a mapping"),
        (b"a: 1\na: 2\n", "written twice"),
        (b"a: \x07\n", "U+0007 CONTROL CHARACTER"),
        (b"a: &a [*a]\n", "nested deeper"),
    ],
)
def test_an_unusable_netplan_file_is_a_fault_with_its_place(tree: Path, data: bytes, reason: str) -> None:
    defects = damaged(tree, NETPLAN, data)
    assert len(defects) == 1
    assert defects[0].startswith(f"profiles/stripe1/{NETPLAN}:")
    assert reason in defects[0]


# Python takes all but the last four for blanks, or for ends of lines.
ODD = ("\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\f", "\v", "\x1c", "\u200b", "\u2060", "\u00ad", "\u2800")


@pytest.mark.sampled(6, 6)
@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize("file", FILES)
def test_what_looks_like_a_blank_is_none(tree: Path, file: str, odd: str) -> None:
    lines = (tree / "profiles/stripe1" / file).read_text().split("\n")
    number = next(n for n, line in enumerate(lines) if line and line[0] not in "#[")
    word = len(lines[number]) - len(lines[number].lstrip())
    before = list(lines)
    for column in (0, word, len(lines[number])):
        lines = list(before)
        lines[number] = f"{lines[number][:column]}{odd}{lines[number][column:]}"
        [defect] = damaged(tree, file, "\n".join(lines).encode())
        assert defect.startswith(f"profiles/stripe1/{file}:{number + 1}:{column + 1}: U+{ord(odd):04X} ")
        assert "is part of a word here" in defect


@pytest.mark.parametrize("file", FILES)
def test_ends_of_lines_and_byte_order_marks_as_the_reader_of_the_file_takes_them(tree: Path, file: str) -> None:
    text = (tree / "profiles/stripe1" / file).read_text()
    windows = damaged(tree, file, text.replace("\n", "\r\n").encode())
    assert bool(windows) is (file in (ENVIRONMENT, QOS, SCRIPT))
    marked = damaged(tree, file, b"\xef\xbb\xbf" + text.encode())
    assert bool(marked) is (file in (ENVIRONMENT, HOST_FILE, QOS, SCRIPT, SYSCTL, TABLE_NAMES))
    for defect in windows + marked:
        assert "1: U+FEFF ZERO WIDTH NO-BREAK SPACE" in defect or "U+000D CARRIAGE RETURN" in defect
    assert damaged(tree, file, text.replace("\n", "\r", 3).encode())


@pytest.mark.parametrize("file", [file for file in FILES if file != HOST_FILE])
def test_remarks_may_hold_any_letter(tree: Path, file: str) -> None:
    lines = (tree / "profiles/stripe1" / file).read_text().split("\n")
    assert damaged(tree, file, "\n".join([lines[0], "# Größe:\u00a09000\u200b", *lines[1:]]).encode()) == []


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("mtu", "9000", 9000),
        ("mtu", '"9000"', 9000),
        ("mtu", "+9000", 9000),
        ("mtu", "09000", 9000),
        ("mtu", '!!int "9000"', 9000),
        ("mtu", "9000.0", "9000.0"),
        ("mtu", "9e3", "9e3"),
        ("mtu", "9_000", "9_000"),
        ("mtu", "0x2328", "0x2328"),
        ("mtu", "-9000", "-9000"),
        ("mtu", "4294967296", "4294967296"),
        ("mtu", "true", "true"),
        ("mtu", "٩٠٠٠", "٩٠٠٠"),
        ("optional", "yes", True),
        ("optional", "Y", True),
        ("optional", "'tRue'", True),
        ("optional", "off", False),
        ("optional", "1", "1"),
        ("optional", "~", "~"),
        ("optional", "", ""),
        ("optional", "[true]", ("true",)),
        ("set-name", "yes", "yes"),
    ],
)
def test_values_are_what_netplan_makes_of_them(tree: Path, key: str, written: str, value: object) -> None:
    text = f"network:\n  ethernets:\n    gpu0_eth:\n      {key}: {written}\n"
    defects = damaged(tree, NETPLAN, text.encode())
    assert read_profile(tree, "profiles/stripe1").nics["gpu0_eth"].value(key) == value
    refused = isinstance(value, str | tuple) and key != "set-name"
    assert [defect.partition(": ")[2].partition(" must be ")[0] for defect in defects] == (
        [f"network.ethernets.gpu0_eth.{key}"] if refused else []
    )


@pytest.mark.parametrize("key", ["table", "priority"])
def test_numbers_of_rules_and_routes_are_whole(tree: Path, key: str) -> None:
    text = (tree / "profiles/stripe1" / NETPLAN).read_text().replace(f"{key}: 10000", f"{key}: 10000.0")
    defects = damaged(tree, NETPLAN, text.encode())
    assert defects
    assert all(f"{key} must be a whole number up to 4294967295" in defect for defect in defects)


@pytest.mark.parametrize("file", FILES)
def test_every_text_may_be_binary(tree: Path, file: str) -> None:
    assert "not UTF-8" in damaged(tree, file, b"\xff" * 10)[0]
    assert "U+0000 NULL" in damaged(tree, file, b"# a\n\0")[0]


@pytest.mark.parametrize("file", [*FILES, HOST_PROGRAM])
def test_every_file_may_be_huge_a_directory_or_a_loop(tree: Path, file: str) -> None:
    path = tree / "profiles/stripe1" / file
    os.truncate(path, 100_000_000)
    assert "larger than" in read_profile(tree, "profiles/stripe1").defects[0].reason
    path.unlink()
    path.mkdir()
    assert "a directory" in read_profile(tree, "profiles/stripe1").defects[0].reason
    path.rmdir()
    path.symlink_to(path.name)
    assert "symbolic links" in read_profile(tree, "profiles/stripe1").defects[0].reason
    path.unlink()
    os.mkfifo(path)
    assert "not a regular file" in read_profile(tree, "profiles/stripe1").defects[0].reason


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        (TABLE_NAMES, b"10000", "number and the name"),
        (TABLE_NAMES, b"x gpu0_subnet1", "number and the name"),
        (SYSCTL, b"net.ipv6.conf.gpu0_eth.accept_ra", "is not a setting"),
        (ENVIRONMENT, b"NCCL IB=1", "is not a setting"),
        (ENVIRONMENT, b"NCCL_IB='1", "is not a setting"),
        (QOS_UNIT, b"Wants", "is not a setting"),
    ],
)
def test_a_line_that_is_nothing_is_a_fault(tree: Path, file: str, line: bytes, reason: str) -> None:
    defects = damaged(tree, file, b"# first\n" + line + b"\n")
    assert len(defects) == 1
    assert reason in defects[0]
    assert f"{file}:2:" in defects[0]


@pytest.mark.parametrize(("file", "row"), [(SCRIPT, b"gpu0_eth 10000"), (QOS, b"gpu0_eth")])
def test_a_short_row_of_a_script_is_a_fault(tree: Path, file: str, row: bytes) -> None:
    defects = damaged(tree, file, b"#!/bin/sh\ncat <<'T'\n" + row + b"\nT\n")
    assert len(defects) == 1
    assert f"{file}:3:" in defects[0]


def test_a_nic_in_two_netplan_files_is_a_fault(tree: Path) -> None:
    other = tree / "profiles/stripe1/etc/netplan/90-mine.yaml"
    other.write_text("network: {ethernets: {gpu0_eth: {dhcp4: yes}}}\n")
    profile = read_profile(tree, "profiles/stripe1")
    assert ["merges" in defect.reason for defect in profile.defects] == [True]
    assert profile.nics["gpu0_eth"].value("dhcp4") is True


def test_links_of_servers_that_lead_nowhere_or_out_of_the_tree(tree: Path) -> None:
    servers = tree / "servers"
    (servers / "dangles").symlink_to("../profiles/none")
    (servers / "escapes").symlink_to("/etc")
    (servers / "file").write_text("")
    (servers / "loop").symlink_to("loop")
    (servers / "to-file").symlink_to("file")
    hosts, defects = read_hosts(tree)
    assert set(hosts) == {"gpu-s1-1", "gpu-s1-2", "gpu-s2-1", "gpu-s2-2"}
    reasons = {defect.folder.removeprefix("servers/"): defect.reason for defect in defects}
    assert "is broken" in reasons["dangles"]
    assert "points outside the artifact directory" in reasons["escapes"]
    assert "must be a directory" in reasons["file"]
    assert "is broken" in reasons["loop"]
    assert "not point to a directory" in reasons["to-file"]


def test_a_tree_without_servers_has_none_and_a_file_in_their_place_is_a_fault(tmp_path: Path) -> None:
    assert read_hosts(tmp_path) == ({}, ())
    assert read_hosts(tmp_path / "none") == ({}, ())
    (tmp_path / "servers").write_text("")
    hosts, defects = read_hosts(tmp_path)
    assert not hosts
    assert "cannot list" in defects[0].reason


@settings(max_examples=examples(60))
@given(data=st.binary(max_size=300), file=st.sampled_from(FILES))
def test_random_bytes_never_raise(data: bytes, file: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("host")
    path = root / "servers" / "a" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    hosts, defects = read_hosts(root)
    assert not defects
    assert hosts["a"].profile.folder == "servers/a"


@settings(max_examples=examples(150))
@given(
    file=st.sampled_from(FILES),
    line=st.integers(0, 60),
    text=st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40),
)
def test_a_random_line_never_raises(file: str, line: int, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("host")
    lines = (GOLDEN / "lab/profiles/stripe1" / file).read_text().split("\n")
    lines[line % len(lines)] = text
    path = root / "p" / file
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines), newline="")
    assert read_profile(root, "p").folder == "p"
