"""The table of labels, and the lines on a label."""

import csv
import io
from pathlib import Path

from ailb_gen.exports.cable_labels import COLUMNS, label_lines, labeled, table
from tests.exports.printed import HOSTILE, lab, with_rack


def test_both_ends_have_their_place_and_the_cable_its_length() -> None:
    rows = list(csv.DictReader(io.StringIO(table(lab()))))
    assert len(rows) == 24
    first = rows[0]
    assert (first["a_device"], first["a_rack"], first["a_unit"]) == ("stripe1-leaf1", "A1", "40")
    assert (first["b_device"], first["b_rack"], first["b_unit"]) == ("spine1", "B1", "30")
    assert (first["length_m"], first["media"], first["color"]) == ("15", "mmf", "green")


def test_the_lines_of_both_ends_mirror_each_other() -> None:
    one = next(labeled(lab()))
    a, b = label_lines(one, 0), label_lines(one, 1)
    assert a[1:] == ("stripe1-leaf1 et-0/0/0", "> spine1 et-0/0/0", "400g mmf 15m A1 U40 > B1 U30")
    assert b[1:] == ("spine1 et-0/0/0", "> stripe1-leaf1 et-0/0/0", "400g mmf 15m B1 U30 > A1 U40")
    assert a[0] == b[0] == f"{one.cable.id} green"


def test_a_place_that_is_unknown_is_a_question_mark(tmp_path: Path) -> None:
    one = next(labeled(lab(racks=with_rack(tmp_path, "B1"), lengths=None)))
    assert label_lines(one, 0)[3] == "400g smf ? > B1 U7"


def test_a_hostile_rack_stays_in_its_cell(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(table(lab(racks=with_rack(tmp_path, HOSTILE), lengths=None)))))
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert rows[1][COLUMNS.index("b_rack")] == HOSTILE
