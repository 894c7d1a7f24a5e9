"""Fabrics that grow step by step: only new devices and the ends that face them change, and every state is valid."""

import csv
import io
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from ailb_gen.api import file_edits
from ailb_gen.api.generate import Generation, generate
from ailb_gen.api.grow import GrowthResult, grow
from ailb_gen.atomic import replace_file
from ailb_gen.checks.model import RunOptions
from ailb_gen.checks.run import run
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError, OutputError, UsageError
from ailb_gen.intent.growth import Unit
from ailb_gen.intent.load import load
from ailb_gen.layout import CABLING, SWITCHES, owner
from tests.checks.test_run import ALL
from tests.conftest import EXAMPLES

# Statements of existing switches that a new neighbor changes instead of adding to them.
CHANGED = re.compile(r"set (policy-options as-list \S+ members|chassis maximum-ecmp) ")


def copied(example: str, folder: Path) -> Path:
    """Return the fabric file of a copy of an example."""
    shutil.copytree(EXAMPLES / example, folder / example)
    return folder / example / "fabric.yaml"


def statements(made: Generation) -> dict[str, set[str]]:
    """Return the statements of every switch by path."""
    switches = {path: content for path, content in made.files.items() if owner(path)[0] == SWITCHES}
    return {path: set(content.decode().splitlines()) for path, content in switches.items()}


def check_step(fabric: Path, unit: Unit, count: int, out: Path) -> GrowthResult:
    """Grow a fabric; check that what existing devices lose and gain has to do with new cables."""
    old = generate(fabric, out, form="set")
    result = grow(fabric, unit, count)
    result.write()
    new = generate(fabric, out, form="set")
    # What is written is what was computed.
    assert build(load(fabric))[0].links == result.design.links
    assert not new.changes.deleted
    before, after = statements(old), statements(new)
    added = {switch.name for switch in result.addition.switches} | {one.name for one in result.addition.servers}
    ends = {cable.device for cable in result.addition.cables} | {cable.other for cable in result.addition.cables}
    for path in new.changes.changed:
        folder, name = owner(path)
        if folder == SWITCHES:
            assert name in ends - added, path
            assert {line for line in before[path] - after[path] if not CHANGED.match(line)} == set(), path
        elif folder:
            # A server gets a NIC on a new rail, and nothing else concerns those that run.
            assert unit == "rail", path
    assert {owner(path)[1] for path in new.changes.new if owner(path)[0] == SWITCHES} <= added
    if result.addition.keeps_all:
        assert {one.wave.name: one.lost for one in result.states() if one.lost} == {}
    told = list(csv.reader(io.StringIO(result.cabling())))
    earlier, rows = (made.files[CABLING].decode().splitlines() for made in (old, new))
    assert told[1:] == [row.split(",") for row in rows if row not in earlier]
    return result


def findings(fabric: Path, out: Path) -> list[str]:
    """Return what `validate` finds."""
    done = run(load(fabric), out, RunOptions(ALL, None, executor="serial"))
    return [
        f"{finding.check} {finding.scope}: {finding.message}"
        for result in done.results
        for finding in result.findings
        if str(result.check.severity) != "note"
    ]


# Example, unit, units per step, steps.
LAB = [("lab", "rail", 3, 2), ("lab", "spine", 4, 3), ("lab", "server", 3, 2), ("static", "rail", 1, 3)]
LARGER = [
    *(("lab", "stripe", 1, 6), ("lab", "rail", 1, 6), ("lab", "server", 1, 6), ("brownfield", "server", 3, 3)),
    *(("jvd", "stripe", 2, 3), ("jvd", "spine", 4, 3), ("jvd", "server", 3, 2), ("jvd-8-uplinks", "spine", 4, 3)),
]


def test_stripes_of_the_lab_to_four_times_its_size(tmp_path: Path) -> None:
    grows("lab", "stripe", 3, 2, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("example", "unit", "count", "steps"), LAB)
def test_small_fabrics_to_four_times_their_size(
    example: str, unit: Unit, count: int, steps: int, tmp_path: Path
) -> None:
    grows(example, unit, count, steps, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("example", "unit", "count", "steps"), LARGER)
def test_examples_to_four_times_their_size(example: str, unit: Unit, count: int, steps: int, tmp_path: Path) -> None:
    grows(example, unit, count, steps, tmp_path)


def grows(example: str, unit: Unit, count: int, steps: int, folder: Path) -> None:
    fabric, out = copied(example, folder), folder / "out"
    for _ in range(steps):
        result = check_step(fabric, unit, count, out)
        assert result.addition.keeps_all
        assert findings(fabric, out) == []


@pytest.mark.long
def test_all_units_one_after_the_other(tmp_path: Path) -> None:
    """What one growth pins does not keep the next one from growing."""
    fabric, out = copied("lab", tmp_path), tmp_path / "out"
    units: tuple[Unit, ...] = ("rail", "server", "stripe", "rail", "server", "stripe")
    for unit in units:
        assert check_step(fabric, unit, 1, out).addition.keeps_all
    assert check_step(fabric, "spine", 4, out).addition.keeps_all
    assert findings(fabric, out) == []


def test_spines_and_rails_of_a_small_fabric(tmp_path: Path) -> None:
    fabric, out = tmp_path / "f.yaml", tmp_path / "out"
    fabric.write_text("name: f\nplatform: generic\nstripes: 2  # two\nrails: 1\nspines: 2\nservers: 1\n")
    for unit, count in UNITS.items():
        assert check_step(fabric, unit, count, out).addition.keeps_all
        assert findings(fabric, out) == []
    # The names of counted servers go on where that of a listed one is.
    assert "stripes: [{}, {}, {servers: [{name: server-005}]}]  # two\n" in fabric.read_text()


UNITS: dict[Unit, int] = {"rail": 1, "spine": 2, "server": 1, "stripe": 1}


def test_overrides_have_a_line_for_every_device(tmp_path: Path) -> None:
    fabric = copied("lab", tmp_path)
    text = fabric.read_text()
    grow(fabric, "rail").write()
    added = fabric.read_text().removeprefix(text.replace("rails: 2", "rails: 3"))
    ports = ["stripe2-leaf1: [et-0/0/2]", "stripe2-leaf2: [et-0/0/3]", "stripe1-leaf3: [et-0/0/4]"]
    spines = [
        row for n in range(1, 5) for row in (f"    spine{n}:", "      downlinks:", *(f"        {p}" for p in ports))
    ]
    assert added.splitlines() == [
        "overrides:",
        "  leaves:",
        '    stripe2-leaf1: {asn: 65103, router_id: "10.255.16.3", vlan: 4}',
        '    stripe2-leaf2: {asn: 65104, router_id: "10.255.16.4", vlan: 5}',
        '    stripe1-leaf3: {asn: 65105, router_id: "10.255.16.5", vlan: 6}',
        "  spines:",
        *spines,
    ]


def test_links_keep_their_colors_with_two_links_to_a_spine(tmp_path: Path) -> None:
    fabric = copied("jvd-8-uplinks", tmp_path)
    result = grow(fabric, "spine", 4)
    assert result.addition.keeps_all
    assert "magenta], step: 4}" in result.diff()


def test_states_need_a_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = grow(EXAMPLES / "lab/fabric.yaml", "stripe")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    message = r"missing/.*: cannot be written: No such file or directory; name another directory by TMPDIR"
    with pytest.raises(OutputError, match=message):
        result.states()


def test_devices_are_named_for_new_rails_only(tmp_path: Path) -> None:
    fabric = copied("jvd", tmp_path)
    with pytest.raises(UsageError, match="RDMA devices are named for new rails, not for a new stripe"):
        grow(fabric, "stripe", rdma=["mlx5_12"])
    result = grow(fabric, "rail", rdma=["mlx5_12"])
    assert result.addition.keeps_all
    nics = {server.name: server.config.nics[-1].rdma for server in result.design.servers}
    assert set(nics.values()) == {"mlx5_12"}


def test_management_addresses_of_servers_stay(tmp_path: Path) -> None:
    fabric = copied("lab", tmp_path)
    fabric.write_text(fabric.read_text() + "management: {servers: 192.0.2.101/24}\n")
    result = grow(fabric, "server")
    old = {server.name: server.management for server in result.before.servers}
    assert {server.name: server.management for server in result.design.servers} == old | {
        "gpu-s1-3": "192.0.2.105/24",
        "gpu-s2-3": "192.0.2.106/24",
    }
    fabric.write_text(fabric.read_text().replace("101/24", "251/24"))
    with pytest.raises(IntentError, match=r"6 management addresses are needed, 4 are there from 192\.0\.2\.251"):
        grow(fabric, "server")


def test_what_would_change_existing_devices_is_refused(tmp_path: Path) -> None:
    fabric = tmp_path / "f.yaml"
    fabric.write_text(text := "name: f\nplatform: generic\nstripes: 2\nrails: 1\nspines: 2\nservers: 1\n")
    with pytest.raises(UsageError, match=r"1 spine more would change existing devices \(.*nothing was written"):
        grow(fabric, "spine")
    result = grow(fabric, "spine", allow_changes=True)
    assert not result.addition.keeps_all
    assert fabric.read_text() == text
    result.write()
    assert fabric.read_text() == text.replace("spines: 2", "spines: 3")


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    fabric = copied("brownfield", tmp_path)
    result = grow(fabric, "server")
    other = fabric.parent / "pod-b.csv"
    other.write_text(changed := other.read_text().replace("b-gpu3", "b-gpu9"))
    before = (fabric.parent / "pod-a.csv").read_text()
    with pytest.raises(UsageError, match=r"pod-b\.csv: the file was changed by another program meanwhile"):
        result.write()
    assert ((fabric.parent / "pod-a.csv").read_text(), other.read_text()) == (before, changed)


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two files cannot be written: the first one is put back."""
    fabric = copied("brownfield", tmp_path)
    other = tmp_path / "elsewhere"
    other.mkdir()
    shutil.move(fabric.parent / "pod-b.csv", other / "pod-b.csv")
    (fabric.parent / "pod-b.csv").symlink_to(other / "pod-b.csv")
    before = {name: (fabric.parent / name).read_text() for name in ("fabric.yaml", "pod-a.csv", "pod-b.csv")}
    result = grow(fabric, "server")
    real = replace_file

    def refuse(target: Path, data: bytes) -> None:
        if target.parent == other:
            raise PermissionError(13, "Permission denied")
        real(target, data)

    monkeypatch.setattr(file_edits, "replace_file", refuse)
    with pytest.raises(OutputError, match=r"pod-b\.csv: cannot write the file: Permission denied"):
        result.write()
    assert {name: (fabric.parent / name).read_text() for name in before} == before


def test_form_of_the_files_stays(tmp_path: Path) -> None:
    """Byte order marks, line ends of Windows, semicolons, and a last line without its end."""
    fabric = copied("brownfield", tmp_path)
    csv_file = fabric.parent / "pod-a.csv"
    odd = csv_file.read_bytes().replace(b",", b";").replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    csv_file.write_bytes(b"\xef\xbb\xbf" + odd)
    grow(fabric, "server").write()
    assert csv_file.read_bytes() == b"\xef\xbb\xbf" + odd + b"\r\na-gpu4;1" + b";" * 9 + b"\r\n"
    assert len(load(fabric).fabric.stripes[0].servers.list) == 4  # type: ignore[union-attr]


def test_what_cannot_be_edited_is_told(tmp_path: Path) -> None:
    fabric = tmp_path / "f.yaml"
    fabric.write_text("name: f\nplatform: generic\nrails: &n 2\nstripes: *n\nspines: 2\nservers: 1\n")
    with pytest.raises(UsageError, match=r"f\.yaml: cannot change stripes: .*edit it by hand"):
        grow(fabric, "stripe")
