"""Speeds as numbers: read from files, written into messages."""

import pytest

from ailb_gen.network.model import read_speed, speed_text


@pytest.mark.parametrize(
    ("text", "bps", "written"),
    [
        ("400g", 400_000_000_000, "400g"),
        ("100M", 100_000_000, "100m"),
        ("2500m", 2_500_000_000, "2500m"),
        ("1000m", 1_000_000_000, "1g"),
        ("auto", 0, "unknown"),
        ("400", 0, "unknown"),
        ("", None, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_speeds(text: str | None, bps: int | None, written: str) -> None:
    assert read_speed(text) == bps
    assert speed_text(bps) == written
