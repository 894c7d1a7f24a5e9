"""The page, the record and the figures of a study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.errors import OutputError
from ailb_gen.study.figures import drawn
from ailb_gen.study.model import CaseResults
from ailb_gen.study.page import page, write
from tests.study.made import RESULTS, STUDY, figures

PAGE = f"""\
# Made-up experiment

Source: Nobody, Nothing, 2026.

What is repeated.

Repeat it with `ailb-gen study made-up`.

## Claims

| claim | here | numbers |
|---|---|---|
| Adaptive is faster than ECMP. | holds | 8.5 against 21 us |
| A failure costs nothing \\| ever. | not simulated |  |

## Numbers

Ours is the mean over seeds with its 95 % confidence interval (Student's t) and the number n of seeds.

| case | quantity | published | ours | deviation | |
|---|---|---:|---:|---:|---|
| ECMP | time, us | 20 | 21 ± 25 (n = 2) | +5.0 ± 127.1 %, undecided at 10 % | calibrated |
| ECMP | packets | 12,345 | 12,345 | +0.0 %, within 10 % |  |
| adaptive | time, us | 8 | 8.5 | +6.2 %, within 10 % | predicted |
| adaptive | packets | - | 0.25 | - |  |

## Calibrated parameters

| parameter | value | set on |
|---|---|---|
| start of a flow | 1 us | the row of ECMP |

![Time by load](time.svg)

![Distribution of time](cdf.svg)

## Deviations

Nothing deviates.

Seeds: up to 2 per case. Digest of the scenarios: `{STUDY.digest()}`
"""


def test_the_page_of_a_study() -> None:
    assert page(STUDY, RESULTS, figures(RESULTS), "ailb-gen study made-up") == PAGE


def test_everything_is_written(tmp_path: Path) -> None:
    write(STUDY, RESULTS, tmp_path / "out", "ailb-gen study made-up", interrupted=False)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"study.md", "study.json", "time.svg", "time.png", "cdf.svg", "cdf.png"}
    record = json.loads((tmp_path / "out" / "study.json").read_text())
    assert record["digest"] == STUDY.digest()
    assert [row["deviation"] for row in record["rows"]] == [pytest.approx(0.05), 0.0, 0.0625, None]
    assert [row["outcome"] for row in record["rows"]] == ["undecided", "within", "within", None]
    assert [one["verdict"] and one["verdict"]["outcome"] for one in record["claims"]] == ["holds", None]


def test_a_partial_study_says_so(tmp_path: Path) -> None:
    write(STUDY, RESULTS, tmp_path, "ailb-gen study made-up", interrupted=True)
    assert "\nInterrupted: only finished cases are included.\n" in (tmp_path / "study.md").read_text()
    assert json.loads((tmp_path / "study.json").read_text())["interrupted"] is True


def test_matplotlib_is_silent_where_it_cannot_keep_its_fonts() -> None:
    """With a read-only home."""
    nowhere = {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "XDG_CONFIG_HOME": "/proc/none"}
    run = [sys.executable, "-c", "import ailb_gen.study.figures"]
    done = subprocess.run(run, env=os.environ | nowhere, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write(STUDY, RESULTS, tmp_path / "file", "ailb-gen study made-up", interrupted=False)


def test_the_same_figure_has_the_same_bytes_and_shows_names_and_values() -> None:
    bars, lines = figures(RESULTS)
    first = drawn(bars)
    assert first == drawn(bars)
    assert first["png"].startswith(b"\x89PNG")
    text = first["svg"].decode()
    assert all(word in text for word in (">ECMP<", ">adaptive<", ">x1<", ">Time by load<", ">time, us<"))
    shown = drawn(lines)["svg"].decode()
    # The axis is logarithmic, and 1 and 2 are powers of two.
    assert all(word in shown for word in (">Distribution of time<", ">1<", ">2<"))


def test_other_values_give_another_figure() -> None:
    other = CaseResults({"ECMP": [{"end_us": 30.0}], "adaptive": RESULTS.points["adaptive"]})
    assert drawn(figures(other)[0]) != drawn(figures(RESULTS)[0])
