"""The options of the exports that people print and buy from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import UsageError
from ailb_gen.wording import did_you_mean

# Single-mode and multimode fiber, copper and active optical cables; `auto` chooses by length (optics.py).
MEDIA = ("auto", "smf", "mmf", "dac", "aoc")
SHEETS = ("l4731", "5160", "5167", "flag")


@dataclass(frozen=True, slots=True)
class PrintRequest:
    """The tables of the data center, the labels' sheet, code and font, the cables' media, and spares in percent.

    Raises UsageError for a sheet or media that does not exist, and for spares outside 0 to 100.
    """

    racks: Path | None = None
    lengths: Path | None = None
    sheet: str = "l4731"
    qr: bool = False
    font: Path | None = None
    media: str = "auto"
    spares: int = 0

    def __post_init__(self) -> None:
        for option, value, known in (("--sheet", self.sheet, SHEETS), ("--media", self.media, MEDIA)):
            if value not in known:
                hint = did_you_mean(value, known) or f"there are {', '.join(known)}"
                raise UsageError(f"{option} {value[:40]!r} is unknown; {hint}")
        if not 0 <= self.spares <= 100:
            raise UsageError(f"--spares {self.spares}: write a percentage from 0 to 100")
        if self.lengths and not self.racks:
            raise UsageError("--lengths is between racks; add --racks with the rack of each device")
