"""The rack-and-stack list: groups, order, ports."""

import csv
import io
from pathlib import Path

from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.rack_list import COLUMNS, table, work_groups
from tests.conftest import example
from tests.exports.printed import HOSTILE, lab, with_rack


def test_racks_are_filled_from_below() -> None:
    groups = {group.name: group for group in work_groups(lab())}
    assert list(groups) == ["rack A1", "rack A2", "rack B1"]
    assert [(one.order, one.device) for one in groups["rack A1"].devices] == [
        (1, "gpu-s1-1"),
        (2, "gpu-s1-2"),
        (3, "stripe1-leaf1"),
        (4, "stripe1-leaf2"),
    ]


def test_without_racks_a_group_is_a_stripe() -> None:
    groups = work_groups(ExportInput(example("jvd")))
    assert [(group.name, len(group.devices)) for group in groups] == [("stripe 1", 10), ("stripe 2", 10), ("spines", 4)]


def test_every_cable_is_there_from_both_ends() -> None:
    given = ExportInput(example("jvd"))
    ports = [port for group in work_groups(given) for device in group.devices for port in device.ports]
    ends = [(port.here.device, port.here.port) for port in ports]
    assert len(ends) == len(set(ends)) == 2 * 96
    assert {port.here for port in ports} == {port.there for port in ports}


def test_ports_are_in_the_order_of_the_panel() -> None:
    spine = next(
        one for group in work_groups(ExportInput(example("jvd"))) for one in group.devices if one.role == "spine"
    )
    assert [port.here.port for port in spine.ports] == [f"et-0/0/{n}:0" for n in range(16)]


def test_the_table_has_all_columns_filled_but_those_for_people() -> None:
    rows = list(csv.DictReader(io.StringIO(table(lab()))))
    assert len(rows) == 48
    assert {(row["serial"], row["done"]) for row in rows} == {("", "")}
    spine = [row for row in rows if row["device"] == "spine1"]
    assert [(row["peer_device"], row["length_m"], row["media"]) for row in spine] == [
        ("stripe1-leaf1", "15", "mmf"),
        ("stripe1-leaf2", "15", "mmf"),
        ("stripe2-leaf1", "60", "smf"),
        ("stripe2-leaf2", "60", "smf"),
    ]


def test_a_hostile_rack_stays_in_its_cell(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(table(lab(racks=with_rack(tmp_path, HOSTILE), lengths=None)))))
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert {row[COLUMNS.index("rack")] for row in rows[1:]} == {"", HOSTILE}
