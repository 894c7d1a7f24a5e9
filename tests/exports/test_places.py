"""Tables of racks and lengths: what is taken, and what is refused with its place."""

from decimal import Decimal
from pathlib import Path

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.exports.places import NOWHERE, RackPosition, read_places
from tests.conftest import example
from tests.exports.printed import LENGTHS, RACKS

DEVICES = {"leaf1": "leaf", "spine1": "spine"}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_positions_and_lengths_in_both_directions() -> None:
    places = read_places(RACKS, LENGTHS, example("lab").roles)
    assert places.position("stripe1-leaf1") == RackPosition("A1", 40)
    assert str(places.position("stripe1-leaf1")) == "A1 U40"
    assert places.length_m("stripe1-leaf1", "spine1") == places.length_m("spine1", "stripe1-leaf1") == Decimal(15)
    assert places.length_m("spine1", "spine2") is None


def test_without_tables_nothing_is_known() -> None:
    places = read_places(None, None, DEVICES)
    assert places.position("leaf1") is NOWHERE
    assert str(NOWHERE) == ""
    assert places.length_m("leaf1", "spine1") is None


def test_other_columns_semicolons_and_a_missing_unit_are_taken(tmp_path: Path) -> None:
    racks = written(tmp_path, "racks.csv", "\ufeffsite;Rack;device\nz;Zürich 1;leaf1\n\n")
    assert read_places(racks, None, DEVICES).position("leaf1") == RackPosition("Zürich 1", None)


@pytest.mark.parametrize(
    ("row", "line", "code", "reason"),
    [
        ("leaf2,A1,1", 2, "unknown-device", "the fabric has no device 'leaf2'"),
        ("leaf1,A1,1\nleaf1,A2,1", 3, "duplicate-name", "leaf1 has two rows"),
        ("leaf1,A1,0", 2, "wrong-value", "'0' is not a rack unit"),
        ("leaf1,,1", 2, "missing-key", "this cell is required and empty"),
        ('leaf1,"A\n1",1', 3, "wrong-value", "'A\\n1' is not the name of a rack"),
        ("leaf1," + "A" * 300 + ",1", 2, "wrong-value", "is not the name of a rack"),
        ("leaf1,=cmd|'/C calc'!A0,1", 2, "wrong-value", "which spreadsheets take for a formula"),
        ("leaf1,A1", 2, "csv-row", "the row has 2 cells, the header 3"),
        ('leaf1,"A1,1', 2, "csv-row", "not valid CSV"),
    ],
)
def test_a_wrong_row_of_racks_is_named_with_its_line(
    row: str, line: int, code: str, reason: str, tmp_path: Path
) -> None:
    racks = written(tmp_path, "racks.csv", f"device,rack,unit\n{row}\n")
    with pytest.raises(IntentError) as caught:
        read_places(racks, None, DEVICES)
    problem = caught.value.problems[0]
    assert problem.code == code
    assert reason in problem.reason
    assert problem.place.line == line


@pytest.mark.parametrize(
    ("row", "code", "reason"),
    [
        ("A1,B1,-3", "wrong-value", "'-3' is not a length in meters"),
        ("A1,B1,0", "wrong-value", "'0' is not a length in meters"),
        ("A1,B1,1e3", "wrong-value", "'1e3' is not a length in meters"),
        ("A1,C9,3", "wrong-value", "no device stands in rack 'C9'"),
        ("A1,B1,3\nB1,A1,4", "duplicate-key", "B1 to A1 has two lengths"),
    ],
)
def test_a_wrong_row_of_lengths_is_named(row: str, code: str, reason: str, tmp_path: Path) -> None:
    racks = written(tmp_path, "racks.csv", "device,rack\nleaf1,A1\nspine1,B1\n")
    lengths = written(tmp_path, "lengths.csv", f"a_rack,b_rack,length_m\n{row}\n")
    with pytest.raises(IntentError) as caught:
        read_places(racks, lengths, DEVICES)
    assert caught.value.problems[0].code == code
    assert reason in caught.value.problems[0].reason


def test_a_missing_column_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match="rack: this column is required and missing"):
        read_places(written(tmp_path, "racks.csv", "device,unit\nleaf1,3\n"), None, DEVICES)
    with pytest.raises(IntentError, match="No such file"):
        read_places(tmp_path / "none.csv", None, DEVICES)
