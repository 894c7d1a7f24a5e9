"""The CSV files that a fabric file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.intent.load import csv_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("servers: {csv: a.csv}\nmanagement: {csv: m.csv}\ncabling: {csv: ../c.csv}\n", ("a.csv", "m.csv", "../c.csv")),
        (
            "stripes:\n- servers: {csv: a.csv}\n- servers: {count: 2}\n- {}\n- x\nservers: {csv: b.csv}\n",
            ("b.csv", "a.csv"),
        ),
        ("servers: {csv: [a.csv]}\nmanagement: x\ncabling:\n", ()),
        ("stripes: 2\n", ()),
        ("- a\n", ()),
        ("name: [", ()),
    ],
)
def test_csv_names(text: str, names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(text)
    assert csv_names(tmp_path / "fabric.yaml") == names


def test_without_a_file(tmp_path: Path) -> None:
    assert csv_names(tmp_path / "fabric.yaml") == ()
