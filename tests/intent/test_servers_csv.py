"""Servers from CSV files as editors and spreadsheets write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import IntentError
from ailb_gen.intent.servers_csv import read_servers
from ailb_gen.yamlio import Source
from tests.conftest import ROOT

BROWNFIELD = ROOT / "examples" / "brownfield" / "pod-a.csv"


def rows(text: str) -> list[dict[str, object]]:
    return read_servers(text, "s.csv", ("servers",), Source("fabric.yaml", None))


@given(
    separator=st.sampled_from([",", ";", "\t"]),
    quoted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    surplus=st.integers(0, 2),
)
def test_what_a_spreadsheet_makes_of_a_file_says_the_same(separator: str, quoted: bool, end: str, surplus: int) -> None:
    """Separators by country, quotes, ends of lines, and empty rows at the end."""
    plain = BROWNFIELD.read_text(encoding="utf-8")
    quote = '"' if quoted else ""
    cells = [[f"{quote}{cell}{quote}" for cell in line.split(",")] for line in plain.splitlines()]
    cells += [[""] * len(cells[0])] * surplus
    assert rows(end.join(map(separator.join, cells)) + end) == rows(plain)


def test_a_file_holds_one_separator() -> None:
    with pytest.raises(IntentError, match=r"s\.csv:1:2: error\[unknown-key\]: stripe;kind: unknown column"):
        rows("name,stripe;kind\na,1;b\n")


def test_columns_without_a_name_are_said_once_each() -> None:
    """A spreadsheet writes them for cells that once held something."""
    with pytest.raises(IntentError) as error:
        rows("name,stripe,,\na,1,,\n")
    assert [str(problem) for problem in error.value.problems] == [
        f"s.csv:1:{column}: error[unknown-key]: a column without a name; delete it, or name it" for column in (3, 4)
    ]
