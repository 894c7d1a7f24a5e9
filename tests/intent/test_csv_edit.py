"""CSV files edited in place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.intent.csv_edit import add_row, has_column, set_cell
from ailb_gen.intent.csv_table import read_table
from ailb_gen.intent.servers_csv import COLUMNS

TABLE = "name, stripe ,mac0\na,1,\nb, 2 ,a0:88:c2:01:01:00 \n"
CELLS = st.text(alphabet="ab,;\"\t -.:'", max_size=8).map(str.strip)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("last", [True, False])
def test_a_row_is_added_in_the_form_of_the_table(end: str, separator: str, last: bool) -> None:
    text = TABLE.replace(",", separator).replace("\n", end)
    text = text if last else text.removesuffix(end)
    added = add_row(text, "t.csv", {"name": "c", "mac0": "x"})
    assert added == f"{text}{'' if last else end}c{separator}{separator}x{end}"


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5), st.sampled_from([",", ";", "\t"]), CELLS, CELLS)
def test_what_is_added_is_read_back_and_the_rest_stays(
    rows: list[tuple[str, str]], separator: str, name: str, stripe: str
) -> None:
    text = f"name{separator}stripe\n"
    for row in rows:
        text = add_row(text, "t.csv", dict(zip(("name", "stripe"), row, strict=True)))
    added = add_row(text, "t.csv", {"name": name, "stripe": stripe})
    assert added.startswith(text)
    cells = [list(row) for row in (*rows, (name, stripe)) if any(row)]
    assert [row for _, row in read_table(added, "t.csv", COLUMNS)[1]] == cells


@pytest.mark.parametrize(
    ("line", "column", "value", "row"),
    [
        (3, 2, "y", "b, 2 ,y "),
        (3, 1, "7", "b, 7 ,a0:88:c2:01:01:00 "),
        (2, 2, "y", "a,1,y"),
    ],
)
def test_one_cell_changes(line: int, column: int, value: str, row: str) -> None:
    lines = TABLE.splitlines()
    lines[line - 1] = row
    assert set_cell(TABLE, "t.csv", line, column, value).splitlines() == lines


def test_what_cannot_be_edited_is_told() -> None:
    with pytest.raises(
        UsageError, match=r"t\.csv: the table has no column kind; add it to the header and to every row"
    ):
        add_row(TABLE, "t.csv", {"name": "c", "kind": "k"})
    with pytest.raises(UsageError, match=r"t\.csv:3: cannot change the row in place: it has several lines"):
        set_cell('name,stripe\n"a\nb",1\n', "t.csv", 3, 1, "2")
    assert (has_column(TABLE, "stripe"), has_column(TABLE, "kind")) == (True, False)
