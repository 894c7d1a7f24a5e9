"""Pages of PDF with reportlab (the extra `print`): fonts, text that fits its box, the same bytes for the same input."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError
from ailb_gen.optional import without_extra

if TYPE_CHECKING:
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

MM = 72 / 25.4
A4 = (210 * MM, 297 * MM)
LETTER = (612.0, 792.0)
# Smaller than this nobody reads; text that does not fit at this size is an error.
SMALLEST = 2.5
LEADING = 1.15
# In reportlab's distribution, with its own license: the same bytes on every machine. Western European letters only.
_REGULAR, _BOLD = "Vera", "VeraBd"


class Paper:
    """A PDF that is being written: a canvas with a regular and a bold font.

    Raises MissingExtraError without reportlab, UsageError for a font file that cannot be embedded.
    """

    def __init__(self, verb: str, font: Path | None, size: tuple[float, float], title: str) -> None:
        try:
            from reportlab.pdfgen.canvas import Canvas
        except ImportError as missing:
            raise without_extra(verb, "reportlab is not installed", "print") from missing
        self.buffer = io.BytesIO()
        self.regular, self.bold = _fonts(font)
        self.widths = _Advances(self.regular), _Advances(self.bold)
        self.canvas: Canvas = Canvas(self.buffer, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(title)
        self.canvas.setCreator("ailb-gen")

    def check(self, texts: Iterable[str]) -> None:
        """Check that the font has every character. Raises UsageError with the first that it lacks."""
        for char in sorted({char for text in texts for char in text}):
            if ord(char) not in self.regular.face.charToGlyph:
                raise UsageError(
                    f"the font has no {char!r} (U+{ord(char):04X}), which is in the name of a rack; "
                    "name a TrueType font that has it by --font, such as NotoSans-Regular.ttf"
                )

    def width(self, text: str, *, bold: bool = False) -> float:
        """Return the width of a text at size 1, in points."""
        widths = self.widths[bold]
        return sum(widths[char] for char in text)

    def text(self, x: float, y: float, text: str, size: float, *, bold: bool = False) -> None:
        """Draw a text from its base line."""
        self.canvas.setFont((self.bold if bold else self.regular).fontName, size)
        self.canvas.drawString(x, y, text)

    def fitted(self, x: float, y: float, text: str, size: float, width: float, *, bold: bool = False) -> None:
        """Draw a text that shrinks to a width."""
        if text:
            self.text(x, y, text, min(size, width / self.width(text, bold=bold)), bold=bold)

    def block(self, box: tuple[float, float, float, float], lines: Sequence[str], largest: float) -> None:
        """Draw lines in a box (left, bottom, width, height), the first bold, in the largest size that fits.

        Lines wrap where they would be smaller than two thirds of `largest`. Raises UsageError for text that does not
        fit at all.
        """
        left, bottom, width, height = box
        size = min(largest, height / (len(lines) * LEADING))
        size = min(size, *(width / self.width(line, bold=not n) for n, line in enumerate(lines)))
        rows = [(line, not n) for n, line in enumerate(lines)]
        if size < largest * 2 / 3:
            size, rows = self._wrapped(lines, width, height, size, largest)
        y = bottom + (height + len(rows) * size * LEADING) / 2 - size * 0.835
        for row, bold in rows:
            self.text(left, y, row, size, bold=bold)
            y -= size * LEADING

    def _wrapped(
        self, lines: Sequence[str], width: float, height: float, plain: float, largest: float
    ) -> tuple[float, list[tuple[str, bool]]]:
        """Return the larger of the size without wrapping and the largest with it, and the rows."""
        size = largest * 2 / 3
        while size > plain and size >= SMALLEST:
            rows = [(row, not n) for n, line in enumerate(lines) for row in self._rows(line, width / size, bold=not n)]
            if len(rows) * size * LEADING <= height:
                return size, rows
            size -= 0.25
        if plain < SMALLEST:
            raise UsageError(f"the label of {lines[0][:40]!r} is too small for its text; choose larger ones by --sheet")
        return plain, [(line, not n) for n, line in enumerate(lines)]

    def _rows(self, line: str, width: float, *, bold: bool) -> list[str]:
        """Break a line at blanks, and within words that are longer than a row."""
        rows = [""]
        for word in line.split(" "):
            longer = f"{rows[-1]} {word}" if rows[-1] else word
            if self.width(longer, bold=bold) <= width:
                rows[-1] = longer
            elif self.width(word, bold=bold) <= width:
                rows.append(word)
            else:
                for char in longer[len(rows[-1]) :]:
                    rows += [""] * (self.width(rows[-1] + char, bold=bold) > width)
                    rows[-1] += char
        return rows

    def finish(self) -> bytes:
        """Return the bytes of the PDF."""
        self.canvas.save()
        return self.buffer.getvalue()


class _Advances(dict[str, float]):
    """Widths of characters at size 1, looked up once."""

    def __init__(self, font: TTFont) -> None:
        super().__init__()
        self.font = font

    def __missing__(self, char: str) -> float:
        self[char] = width = self.font.stringWidth(char, 1)
        return width


def _fonts(path: Path | None) -> tuple[TTFont, TTFont]:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    if path is None:
        fonts = TTFont(_REGULAR, f"{_REGULAR}.ttf"), TTFont(_BOLD, f"{_BOLD}.ttf")
    else:
        try:
            font = TTFont("Given", str(path))
        except (TTFError, OSError) as error:
            raise UsageError(f"--font {path}: {error}; name a TrueType file (.ttf)") from error
        fonts = font, font
    for font in fonts:
        pdfmetrics.registerFont(font)
    return fonts
