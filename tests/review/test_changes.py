"""What changes on devices, and which of them change alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.deploy.device_diff import ADD, REMOVE, REPLACE, Edit
from ailb_gen.errors import UsageError
from ailb_gen.network.read import network_of
from ailb_gen.review.changes import DeviceChange, changed_cables, changed_servers, changed_switches, groups_of
from tests.review.fabric import CHANGED, FABRIC, write

LEAF = "switches/stripe1-leaf1.conf"


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """A fabric twice."""
    return write(tmp_path / "a", FABRIC)[1], write(tmp_path / "b", FABRIC)[1]


def replace(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))


def test_the_same_files_change_nothing(roots: tuple[Path, Path]) -> None:
    found, same = changed_switches(roots, {}, None)
    assert found == [] and len(same) == 7
    first, second = map(network_of, roots)
    assert changed_servers((roots[0], first), (roots[1], second)) == []
    assert changed_cables(first, second) == ((), ())


def test_statements_of_a_switch(roots: tuple[Path, Path]) -> None:
    replace(roots[1], LEAF, "mtu 9216;", "mtu 9000;")
    replace(roots[1], LEAF, "host-name stripe1-leaf1;", "host-name stripe1-leaf1;\n    authentication-order radius;")
    ((row,), same) = changed_switches(roots, {"stripe1-leaf1": "leaf"}, None)
    assert len(same) == 6 and LEAF not in same.values()
    change = row.change
    assert (change.name, change.role, change.kind) == ("stripe1-leaf1", "leaf", "changed")
    assert "+ system authentication-order radius" in change.lines
    added, removed = change.counts
    assert added == removed + 1 > 2
    assert row.before is not None and row.after is not None and row.before != row.after


def test_secrets_are_replaced(roots: tuple[Path, Path]) -> None:
    secret = '"$9$abcdefghijk"'
    replace(roots[1], LEAF, "system {", f"system {{ radius-server 192.0.2.1 secret {secret};")
    ((row,), _) = changed_switches(roots, {}, None)
    assert "radius-server" in "".join(row.change.lines)
    assert "abcdefghijk" not in "".join(row.change.lines)


def test_new_deleted_and_unreadable_switches(roots: tuple[Path, Path]) -> None:
    (roots[0] / LEAF).unlink()
    (roots[1] / "switches/spine1.conf").unlink()
    (roots[1] / "switches/spine2.conf").write_text("interfaces {")
    (roots[1] / "switches/spine3.conf").unlink()
    (roots[1] / "switches/spine3.conf").symlink_to("nothing")
    found, _ = changed_switches(roots, {"spine1": "spine"}, None)
    assert [(row.change.name, row.change.role, row.change.kind) for row in found] == [
        ("spine1", "spine", "deleted"),
        ("spine2", "", "unreadable"),
        ("spine3", "", "unreadable"),
        ("stripe1-leaf1", "", "new"),
    ]


def test_files_of_servers(roots: tuple[Path, Path]) -> None:
    hosts = network_of(roots[1]).hosts
    name = sorted(hosts)[0]
    folder = hosts[name].profile.folder
    replace(roots[1], f"{folder}/etc/sysctl.d/99-accept-ra.conf", "\n", "\n# more\n")
    first, second = map(network_of, roots)
    found = changed_servers((roots[0], first), (roots[1], second))
    assert [row.name for row in found] == sorted(one for one in hosts if hosts[one].profile.folder == folder)
    ((path, added, removed),) = found[0].files
    assert path == "etc/sysctl.d/99-accept-ra.conf" and added > 0 and removed == 0


@pytest.mark.parametrize("side", [0, 1])
def test_a_link_out_of_the_directory_is_refused(side: int, roots: tuple[Path, Path], tmp_path: Path) -> None:
    """A comment would show the file that it leads to."""
    (tmp_path / "secret").write_text("system { host-name secret; }")
    (roots[side] / LEAF).unlink()
    (roots[side] / LEAF).symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="a link out of the directory"):
        changed_switches(roots, {}, None)


def test_a_link_out_of_the_folder_of_a_server_is_refused(roots: tuple[Path, Path], tmp_path: Path) -> None:
    hosts = network_of(roots[1]).hosts
    folder = next(iter(hosts.values())).profile.folder
    (tmp_path / "secret").write_text("x")
    (roots[1] / folder / "etc/extra").symlink_to(tmp_path / "secret")
    first, second = map(network_of, roots)
    with pytest.raises(UsageError, match="a link out of the directory"):
        changed_servers((roots[0], first), (roots[1], second))


def test_cables(roots: tuple[Path, Path], tmp_path: Path) -> None:
    _, grown = write(tmp_path / "c", FABRIC.replace("servers: 2", "servers: 3"))
    added, removed = changed_cables(network_of(roots[0]), network_of(grown))
    # The servers of the second stripe have other names, too.
    assert (len(added), len(removed)) == (8, 4)
    assert changed_cables(network_of(grown), network_of(roots[0])) == (removed, added)


def edits(mtu: str, address: str, port: str = "et-0/0/0") -> tuple[Edit, ...]:
    return (
        Edit(REPLACE, f"interfaces {port} mtu", "9216", mtu),
        Edit(ADD, f"interfaces irb unit 2 family inet6 address {address}"),
        Edit(REMOVE, "protocols lldp", held=(f"protocols lldp interface {port}",), block=True),
    )


def test_names_and_numbers_of_devices_do_not_count_and_values_do() -> None:
    """An MTU that is not that of the others is seen, among 512 leaves."""
    rows = [DeviceChange(f"leaf{n:03}", "leaf", "changed", edits("9000", f"fc00:{n}::1/64")) for n in range(511)]
    odd = DeviceChange("leaf511", "leaf", "changed", edits("9100", "fc00:511::1/64"))
    many, one = groups_of([*rows, odd])
    assert len(many.changes) == 511 and not many.same and many.example.name == "leaf000"
    assert one.changes == (odd,)
    others = [DeviceChange(f"leaf{n}", "leaf", "changed", edits("9000", "fc00::1/64")) for n in range(3)]
    (same,) = groups_of(others)
    assert same.same and len(same.changes) == 3


def test_other_ports_are_alike_and_other_statements_are_not() -> None:
    first = DeviceChange("a", "leaf", "changed", edits("9000", "fc00::1/64", "et-0/0/0"))
    second = DeviceChange("b", "leaf", "changed", edits("9000", "fc00::1/64", "et-0/0/9:1"))
    third = DeviceChange("c", "leaf", "changed", edits("9000", "fc00::1/64")[1:])
    server = DeviceChange("d", "server", "changed", files=(("etc/x", 1, 0),))
    assert [[row.name for row in group.changes] for group in groups_of([server, first, third, second])] == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]


def test_the_change_of_a_fabric(tmp_path: Path) -> None:
    roots = write(tmp_path / "a", FABRIC)[1], write(tmp_path / "b", CHANGED)[1]
    found, same = changed_switches(roots, dict.fromkeys(("spine1", "spine2", "spine3"), "spine"), None)
    assert len(found) == 7 and same == {}
    counts = {row.change.name: row.change.counts for row in found}
    assert counts["spine2"][0] > counts["spine1"][0]
