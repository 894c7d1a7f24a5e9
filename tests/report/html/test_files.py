"""The files inside a report: what is not shown says so."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.report.html.files import LARGEST, MOST, shown_texts


def test_a_file_that_is_not_shown_says_so(tmp_path: Path) -> None:
    names = [f"{number:03}.conf" for number in range(MOST + 1)]
    for name in names:
        (tmp_path / name).write_text("mtu 9216;\n")
    (tmp_path / names[1]).write_text("#" * (LARGEST + 1))
    shown = dict(shown_texts(tmp_path, names))
    assert list(shown) == names
    assert shown[names[0]] == "mtu 9216;\n"
    for name, size in ((names[1], "2,000,001"), (names[-1], "10")):
        assert shown[name].startswith(f"This file, of {size} bytes, is not shown: the page shows 64 files of a folder")
