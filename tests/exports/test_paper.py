"""Text that fits, fonts that have its characters, and the same bytes every time."""

from itertools import pairwise
from pathlib import Path

import pytest

from ailb_gen.errors import MissingExtraError, UsageError
from ailb_gen.exports.paper import A4, LEADING, SMALLEST, Paper
from tests.conftest import missing

DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


@pytest.fixture
def paper() -> Paper:
    return Paper("export", None, A4, "test")


class Drawn:
    """Records what a paper draws."""

    def __init__(self, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paper = paper
        self.rows: list[tuple[float, float, str, float, bool]] = []
        monkeypatch.setattr(Paper, "text", self.text)

    def text(self, x: float, y: float, text: str, size: float, *, bold: bool = False) -> None:
        self.rows.append((x, y, text, size, bold))


NAMES = ["h1", "stripe1-leaf1 et-0/0/0:0", "a" * 63 + " et-0/0/63:7", "> " + "W" * 30 + " nic"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(66.0, 23.0), (184.0, 67.0), (65.0, 37.0)])
def test_no_text_runs_over_its_box(
    name: str, size: tuple[float, float], paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Drawn(paper, monkeypatch)
    width, height = size
    lines = ("ABCDE-FGHIJ green", name, f"> {name}", "400g smf")
    paper.block((10, 20, width, height), lines, 6)
    for x, y, text, points, bold in drawn.rows:
        assert x == 10
        assert paper.width(text, bold=bold) * points <= width + 0.01
        # Descenders and ascenders of the font.
        assert y - 0.24 * points >= 20 - 0.01
        assert y + 0.76 * points <= 20 + height + 0.01
        assert points >= SMALLEST
    assert "".join(row[2] for row in drawn.rows).replace(" ", "") == "".join(lines).replace(" ", "")
    ys = [row[1] for row in drawn.rows]
    assert all(a - b >= drawn.rows[0][3] * LEADING - 0.01 for a, b in pairwise(ys))


def test_text_that_nobody_could_read_is_refused(paper: Paper) -> None:
    with pytest.raises(UsageError, match="too small for its text; choose larger ones by --sheet"):
        paper.block((0, 0, 20, 10), ("ABCDE-FGHIJ", "x" * 63, "y" * 63), 6)


def test_a_cell_shrinks_to_its_width(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(paper, monkeypatch)
    paper.fitted(0, 0, "x" * 63, 8, 50)
    paper.fitted(0, 0, "", 8, 50)
    ((_, _, text, size, _),) = drawn.rows
    assert paper.width(text) * size == pytest.approx(50)


def test_a_character_that_the_font_lacks_is_named(paper: Paper) -> None:
    paper.check(["Zürich Łódź ß"[:6], "Ł"])
    with pytest.raises(UsageError, match=r"the font has no 'Я' \(U\+042F\).*--font"):
        paper.check(["Зал Я"[-1]])


def test_a_font_of_the_user_has_other_scripts() -> None:
    if not DEJAVU.is_file():
        missing("the fonts of DejaVu are not installed")
    Paper("export", DEJAVU, A4, "test").check(["Зал Я, Αθήνα"])


def test_a_file_that_is_no_font_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.ttf").write_text("no font")
    for path in (tmp_path / "x.ttf", tmp_path / "none.ttf"):
        with pytest.raises(UsageError, match=r"--font .*name a TrueType file"):
            Paper("export", path, A4, "test")


def test_without_reportlab_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "reportlab.pdfgen.canvas", None)
    with pytest.raises(MissingExtraError, match=r"export racks-pdf: reportlab is not installed; .*print"):
        Paper("export racks-pdf", None, A4, "test")


def test_the_bytes_are_the_same_every_time() -> None:
    def made() -> bytes:
        paper = Paper("export", None, A4, "title")
        paper.block((10, 10, 100, 50), ("a", "b"), 8)
        return paper.finish()

    assert made() == made()
    assert b"(title)" in made()
