"""Figures as SVG and PNG with matplotlib; without it, importing this module raises MissingExtraError."""

from __future__ import annotations

import io
import logging
from collections.abc import Mapping
from math import frexp
from typing import Any

from ailb_gen.optional import without_extra
from ailb_gen.study.model import BarFigure, Figure, LineFigure, SeedSpread

# It says much about its caches, and nothing about figures.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
try:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas
except ImportError as missing:
    raise without_extra("study", "matplotlib is not installed", "study") from missing

INCHES = (8.0, 4.5)
# The same figure has the same bytes: no date, no random ids; text stays text.
STYLE: Any = {"svg.hashsalt": "ailb-gen", "svg.fonttype": "none", "font.size": 9.0}
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "png": {"dpi": 110, "metadata": {"Software": None}},
}
# A legend of more lines hides more than it explains.
LEGEND = 16


def drawn(figure: Figure) -> dict[str, bytes]:
    """Return a figure as files by format."""
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=INCHES, layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        axes.set_title(figure.title)
        axes.set_ylabel(figure.y)
        axes.grid(visible=True, alpha=0.3)
        entries = _lines(axes, figure) if isinstance(figure, LineFigure) else _bars(axes, figure)
        if 1 < entries <= LEGEND:
            axes.legend(fontsize="small")
        found = {}
        for form, options in FORMATS.items():
            stream = io.BytesIO()
            canvas.savefig(stream, format=form, **options)
            found[form] = stream.getvalue()
    return found


def _lines(axes: Any, figure: LineFigure) -> int:  # noqa: ANN401 - matplotlib's axes
    axes.set_xlabel(figure.x)
    if figure.log_x:
        places = sorted({x for points in figure.lines.values() for x, _ in points})
        # Powers of two, such as numbers of queue pairs, are written as they are.
        doubled = all(x > 0 and frexp(x)[0] == 0.5 for x in places)
        axes.set_xscale("log", base=2 if doubled else 10)
        if doubled:
            axes.set_xticks(places, [f"{x:g}" for x in places])
    for name, points in figure.lines.items():
        axes.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.2)
    axes.set_ylim(bottom=0)
    return len(figure.lines)


def _bars(axes: Any, figure: BarFigure) -> int:  # noqa: ANN401 - matplotlib's axes
    names = list(dict.fromkeys(name for group in figure.bars.values() for name in group))
    width = 0.8 / max(len(names), 1)
    for place, name in enumerate(names):
        found: list[tuple[float, SeedSpread]] = [
            (number + (place - (len(names) - 1) / 2) * width, group[name])
            for number, group in enumerate(figure.bars.values())
            if name in group
        ]
        errors = [
            [spread.mean - spread.least for _, spread in found],
            [spread.most - spread.mean for _, spread in found],
        ]
        heights = [spread.mean for _, spread in found]
        axes.bar([x for x, _ in found], heights, width, yerr=errors, capsize=2, label=name)
    axes.set_xticks(range(len(figure.bars)), list(figure.bars))
    if figure.log_y:
        axes.set_yscale("log")
    return len(names)
