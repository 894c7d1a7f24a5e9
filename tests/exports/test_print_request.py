"""Options of the printed exports that are refused."""

from pathlib import Path
from typing import Any

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.exports.label_pages import LABEL_SHEETS
from ailb_gen.exports.print_request import SHEETS, PrintRequest


def test_every_sheet_has_its_sizes() -> None:
    assert tuple(LABEL_SHEETS) == SHEETS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sheet": "l4371"}, "--sheet 'l4371' is unknown; did you mean 'l4731'?"),
        ({"media": "wifi"}, "--media 'wifi' is unknown; there are auto, smf, mmf, dac, aoc"),
        ({"spares": 101}, "--spares 101: write a percentage from 0 to 100"),
        ({"lengths": Path("x.csv")}, "--lengths is between racks; add --racks with the rack of each device"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        PrintRequest(**options)
    assert str(caught.value) == message
