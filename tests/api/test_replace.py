"""New hardware: its numbers are written where the old ones were, and nothing else changes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.replace import Replacement, replace_nic, replace_server, replace_switch
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES

MAC = "a0:88:c2:09:09:09"
LISTED = """\
name: f
platform: generic
stripes: 1
rails: 2
spines: 2
servers:
  - {count: 1}
  - name: gpu1  # in row 3
    nics:
      - {mac: "a0:88:c2:00:00:01"}
      - {mac: "a0:88:c2:00:00:02"}  # new in 2025
  - {name: gpu2, nics: {1: {mac: "a0:88:c2:00:00:03"}}}
"""


@pytest.fixture
def brownfield(tmp_path: Path) -> Path:
    """Return the fabric file of a copy of the example."""
    shutil.copytree(EXAMPLES / "brownfield", tmp_path / "pod")
    return tmp_path / "pod" / "fabric.yaml"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Return a fabric file with servers by count and by name."""
    (tmp_path / "f.yaml").write_text(LISTED)
    return tmp_path / "f.yaml"


def written(fabric: Path, change: Replacement) -> None:
    """Write a change; what is read then must be what was computed."""
    change.write()
    assert build(load(fabric))[0].servers == change.design.servers
    assert build(load(fabric))[0].switches == change.design.switches


def test_a_nic_of_a_csv_file(brownfield: Path, tmp_path: Path) -> None:
    """Files of one server change, and no switch; its addresses follow from the new MAC address."""
    out = tmp_path / "out"
    generate(brownfield, out)
    before = (brownfield.parent / "pod-a.csv").read_text()
    change = replace_nic(brownfield, "a-gpu2", "eth1_gpu", MAC)
    assert {nic for nic, _, _ in change.addresses()} == {"eth1_gpu"}
    assert [new.rpartition(":")[2] for _, _, new in change.addresses()] == ["909", "909"]
    written(brownfield, change)
    assert (brownfield.parent / "pod-a.csv").read_text() == before.replace("a0:88:c2:01:02:01", MAC)
    changed = [path for path in generate(brownfield, out).changes.changed if "/" in path]
    assert changed
    assert {path.split("/")[1] for path in changed} == {"a-gpu2"}


@pytest.mark.parametrize(
    ("server", "nic", "old"),
    [("gpu1", "1", '{mac: "a0:88:c2:00:00:02"}'), ("gpu2", "gpu1_eth", '{mac: "a0:88:c2:00:00:03"}')],
)
def test_a_nic_of_the_fabric_file(listed: Path, server: str, nic: str, old: str) -> None:
    written(listed, replace_nic(listed, server, nic, MAC))
    assert listed.read_text() == LISTED.replace(old, f'{{mac: "{MAC}"}}')


def test_a_server_with_all_its_nics(listed: Path) -> None:
    macs = ["a0:88:c2:00:01:01", "a0:88:c2:00:01:02"]
    change = replace_server(listed, "gpu2", macs, "a0:88:c2:00:01:03")
    written(listed, change)
    (server,) = (one for one in change.design.servers if one.name == "gpu2")
    assert [nic.mac for nic in server.config.nics] == macs
    assert server.management_mac == "a0:88:c2:00:01:03"
    # NIC 0 had no address in the files.
    assert ("gpu0_eth", "", change.addresses()[0][2]) in change.addresses()


def test_the_server_that_is_counted_gets_an_override(listed: Path) -> None:
    written(listed, replace_server(listed, "server-001", (), MAC))
    assert listed.read_text().startswith(LISTED)
    assert f'server-001: {{management_mac: "{MAC}"}}' in listed.read_text()


@pytest.mark.parametrize("switch", ["core-a", "core-b", "r1l1", "r1l2"])
def test_a_switch_gets_mac_address_and_serial_number(brownfield: Path, switch: str) -> None:
    change = replace_switch(brownfield, switch, MAC, "AB12")
    (found,) = (one for one in change.design.switches if one.name == switch)
    assert found.management is not None
    assert (found.management.mac, found.management.serial) == (MAC, "AB12")
    written(brownfield, change)
    again = replace_switch(brownfield, switch, MAC, "AB12")
    assert again.edits == ()


def test_a_switch_of_a_csv_file(listed: Path) -> None:
    listed.write_text(LISTED + "management: {csv: switches.csv, spines: 192.0.2.1/24}\n")
    table = listed.parent / "switches.csv"
    table.write_text("name;role;management;mac;serial\nspine1;spine;;02:00:00:00:00:11;OLD\nspine2;spine;;;\n")
    written(listed, replace_switch(listed, "spine1", MAC, "NEW"))
    assert table.read_text().splitlines()[1] == f"spine1;spine;;{MAC};NEW"
    # What its row does not say is written into the fabric file.
    written(listed, replace_switch(listed, "spine2", None, "NEW2"))
    assert "spine2: {serial: NEW2}" in listed.read_text()


def test_what_is_refused(brownfield: Path, listed: Path) -> None:
    calls: dict[str, Callable[[], object]] = {
        "there is no NIC 'eth9_gpu'; did you mean": lambda: replace_nic(brownfield, "a-gpu2", "eth9_gpu", MAC),
        "there is no NIC '4'; it has": lambda: replace_nic(brownfield, "a-gpu2", "4", MAC),
        "the fabric has no such server; did you mean 'a-gpu2'": lambda: replace_nic(brownfield, "agpu2", "1", MAC),
        "the fabric has no such switch": lambda: replace_switch(brownfield, "a-gpu2", MAC),
        "say what is new": lambda: replace_switch(brownfield, "core-a"),
        "a-gpu2 has 4 NICs; give all of them": lambda: replace_server(brownfield, "a-gpu2", [MAC]),
        "no file has a MAC address of gpu0_eth of server-001": lambda: replace_nic(listed, "server-001", "0", MAC),
    }
    for message, call in calls.items():
        with pytest.raises(UsageError, match=message):
            call()
    with pytest.raises(IntentError, match=r"pod-a\.csv:3:6: error\[duplicate-mac\].*already used by NIC 1 of a-gpu2"):
        replace_nic(brownfield, "a-gpu2", "1", "a0:88:c2:01:02:02")
    with pytest.raises(IntentError, match=r"pod-a\.csv:3:6: error\[bad-mac\]: .*'x' is not a MAC address"):
        replace_nic(brownfield, "a-gpu2", "2", "x")
