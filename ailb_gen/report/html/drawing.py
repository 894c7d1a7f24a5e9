"""Charts as SVG, in pixels of their own; hues, dashes and colors of text are classes of `charts.css`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from string import ascii_uppercase

from markupsafe import Markup

from ailb_gen.report.html.markup import tag, together
from ailb_gen.report.html.plots import Bar, Bars, HeatMap, Lines, Plot, PlotLine, Point
from ailb_gen.report.html.scales import Scale, scale_of, tick_texts
from ailb_gen.wording import shown

WIDTH, HEIGHT = 600.0, 300.0
TOP, RIGHT, BOTTOM = 28.0, 20.0, 44.0
# About how wide a character is, and a line of text high.
CHARACTER, TEXT = 7.0, 12.0
# Of the names beside bars and rows, in characters.
LONGEST_NAME = 44
BAR, GAP = 16.0, 6.0
# What bars have at least.
LEAST_PLOT = 240.0
CELL, LEAST_CELL = 34.0, 4.0
# Cells that are at least so wide and high show their value.
READABLE = (30.0, 15.0)
# The smallest share of its size at which the text of a drawing is readable; the steps, in pixels, and the widest of
# the classes of `charts_css`.
SMALLEST, STEP, WIDEST = 0.75, 50, 80
# Steps of the scale of a heat map, as in `charts.css`.
HEATS = 10
# Hues of the palette for series, those that are told apart best first.
SERIES = ("blue", "orange", "green", "purple", "red", "cyan", "brown", "magenta", "yellow", "gray")


def letter(number: int) -> str:
    """Return the letter of a series: A to Z, then AA, AB."""
    more, last = divmod(number, len(ascii_uppercase))
    return (letter(more - 1) if more else "") + ascii_uppercase[last]


def hue(number: int) -> str:
    """Return the class with the hue and the dashes of a series."""
    return f"hue-{number % len(SERIES)} dash-{number // len(SERIES) % 4}"


def plot_svg(plot: Plot) -> Markup:
    """Return a plot as SVG."""
    match plot:
        case Lines():
            return _lines(plot)
        case Bars():
            return _bars(plot)
        case HeatMap():
            return _heat_map(plot)


def _svg(plot: Plot, width: float, height: float, *inside: str, **attributes: object) -> Markup:
    label = f"{plot.title}. {plot.text}".strip()
    box = f"0 0 {width:.0f} {height:.0f}"
    return tag(
        "svg",
        *inside,
        viewBox=box,
        width=width,
        height=height,
        role="img",
        aria_label=label,
        class_=f"plot least-{min(math.ceil(SMALLEST * width / STEP), WIDEST)}",
        **attributes,
    )


def _words(x: float, y: float, text: str, class_: str = "", anchor: str = "start") -> Markup:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=class_ or None)


# Lines


def _lines(plot: Lines) -> Markup:
    points = [point for line in plot.lines for point in line.points]
    ranges = [place for line in plot.lines for place in line.band]
    ys = [y for _, y in points] + [edge for _, least, most in ranges for edge in (least, most)]
    y = scale_of(ys, plot.y, HEIGHT - BOTTOM, TOP, zero=True)
    left = CHARACTER * max(map(len, tick_texts(y.ticks()))) + 14
    x = scale_of([x for x, _ in points], plot.x, left, WIDTH - RIGHT, zero=False)
    marked = (_line(number, line, x, y, plot) for number, line in enumerate(plot.lines))
    ends = [x.start, x.end, x.least, x.most, int(x.log), y.start, y.end, y.least, y.most, int(y.log)]
    return _svg(plot, WIDTH, HEIGHT, *_frame(plot, x, y), *marked, data_axes=" ".join(f"{value:g}" for value in ends))


def _ticks(scale: Scale) -> Iterator[tuple[float, str]]:
    ticks = scale.ticks()
    return zip(ticks, tick_texts(ticks), strict=True)


def _frame(plot: Lines, x: Scale, y: Scale) -> Iterator[Markup]:
    for tick, words in _ticks(y):
        place = y.place(tick)
        yield tag("line", x1=x.start, x2=x.end, y1=place, y2=place, class_="grid")
        yield _words(x.start - 6, place + 4, words, anchor="end")
    for tick, words in _ticks(x):
        place = x.place(tick)
        yield tag("line", x1=place, x2=place, y1=y.start, y2=y.start + 5, class_="axis")
        yield _words(place, y.start + 18, words, anchor="middle")
    yield tag("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, class_="axis")
    yield _words(4, TEXT + 2, plot.y.title, "name")
    yield _words((x.start + x.end) / 2, HEIGHT - 8, plot.x.title, "name", "middle")


def _line(number: int, line: PlotLine, x: Scale, y: Scale, plot: Lines) -> Markup:
    """Return a line with its range, and its letter somewhere on it, for every line elsewhere."""

    def placed(points: Iterable[Point]) -> list[tuple[float, float]]:
        places = [(x.place(a), y.place(b)) for a, b in points]
        return _stepped(places) if plot.steps else places

    places, parts = placed(line.points), []
    if line.band:
        edge = placed((a, most) for a, _, most in line.band)
        edge += reversed(placed((a, least) for a, least, _ in line.band))
        parts.append(tag("polygon", points=_points(edge), class_="range"))
    parts.append(tag("polyline", points=_points(places), class_="line"))
    if places:
        a, b = _along(places, (number + 0.5) / len(plot.lines))
        parts.append(tag("circle", cx=a, cy=b, r=7.5, class_="spot"))
        parts.append(_words(a, b + 4, letter(number), "letter", "middle"))
    return tag("g", *parts, class_=hue(number), data_series=number)


def _stepped(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return places with a corner before every one but the first: values last until the next one."""
    corners = [((x, y), (after, y)) for (x, y), (after, _) in pairwise(places)]
    return [place for pair in corners for place in pair] + list(places[-1:])


def _along(places: Sequence[tuple[float, float]], share: float) -> tuple[float, float]:
    """Return the place on a line after some share of its points."""
    first, part = divmod(share * (len(places) - 1), 1)
    (a, b), (c, d) = places[int(first)], places[min(int(first) + 1, len(places) - 1)]
    return a + part * (c - a), b + part * (d - b)


def _points(places: Sequence[tuple[float, float]]) -> str:
    """Return places as SVG has them; those in a row that are the same pixel once."""
    return " ".join(place for place, _ in groupby(f"{x:.1f},{y:.1f}" for x, y in places))


# Bars


def _bars(plot: Bars) -> Markup:
    bars = [bar for group in plot.bars.values() for bar in group.values() if bar is not None]
    names = plot.names
    left = CHARACTER * (max(map(len, map(_short, names)), default=0) + 3) + 16
    edges = [edge for bar in bars for edge in (bar.least, bar.value, bar.most)]
    right = CHARACTER * max((len(bar.text()) for bar in bars), default=0) + 14
    scale = scale_of(edges, plot.axis, left, max(WIDTH - right, left + LEAST_PLOT), zero=True)
    parts: list[Markup] = []
    top = TOP
    for group, inside in plot.bars.items():
        if group:
            parts.append(_words(4, top + TEXT, group, "group"))
            top += TEXT + GAP
        for name, bar in inside.items():
            parts.append(_bar(names.index(name), name, bar, scale, top))
            top += BAR + GAP
        top += GAP
    return _svg(plot, scale.end + right, top + 30, *_bar_axis(plot, scale, top), *parts)


def _bar_axis(plot: Bars, scale: Scale, bottom: float) -> Iterator[Markup]:
    yield _words(4, TEXT + 2, plot.axis.title, "name")
    for tick, words in _ticks(scale):
        place = scale.place(tick)
        yield tag("line", x1=place, x2=place, y1=TOP - 4, y2=bottom, class_="grid")
        yield _words(place, bottom + 16, words, anchor="middle")


def _bar(number: int, name: str, bar: Bar | None, scale: Scale, top: float) -> Markup:
    middle = top + BAR / 2
    parts = [
        _words(4, middle + 4, letter(number), "letter"),
        tag("text", _short(name), tag("title", name), x=4 + 3 * CHARACTER, y=middle + 4),
    ]
    if bar is None:
        parts.append(_words(scale.start + 6, middle + 4, "-"))
        return tag("g", *parts, class_=hue(number), data_series=number)
    end = scale.place(bar.value)
    title = tag("title", f"{name}: {bar.text()}")
    parts.append(tag("rect", title, x=scale.start, y=top, width=end - scale.start, height=BAR, class_="bar"))
    last = end
    if bar.least != bar.most:
        least, most = scale.place(bar.least), scale.place(bar.most)
        ends = "".join(f"M{place:.1f} {top + 3:.1f}v{BAR - 6:.0f}" for place in (least, most))
        path = f"M{least:.1f} {middle:.1f}H{most:.1f}{ends}"
        parts.append(tag("path", d=path, class_="whisker"))
        last = max(end, most)
    parts.append(_words(last + 6, middle + 4, bar.text()))
    return tag("g", *parts, class_=hue(number), data_series=number)


def _short(name: str) -> str:
    """Return a name with its middle left out where it is too long; the whole one is in the table."""
    half = LONGEST_NAME // 2 - 1
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


# Heat maps


def _heat_map(plot: HeatMap) -> Markup:
    found = [value for row in plot.values for value in row if value is not None]
    top_value = plot.top if plot.top is not None else max(found, default=1.0)
    left = CHARACTER * max((len(_short(name)) for name in plot.rows), default=0) + 10
    wide = min(max((WIDTH - left - RIGHT) / max(len(plot.columns), 1), LEAST_CELL), 2 * CELL)
    high = min(max(HEIGHT * 2 / max(len(plot.rows), 1), LEAST_CELL), 20.0)
    head = CHARACTER * max((len(_short(name)) for name in plot.columns), default=0) + 10
    slanted = any(len(name) * CHARACTER > wide for name in plot.columns)
    top = TOP + (head if slanted else TEXT)
    parts = [_words(4, TEXT + 2, plot.unit, "name")]
    if wide >= TEXT:
        parts += (
            _column(name, left + (place + 0.5) * wide, top - 5, slanted) for place, name in enumerate(plot.columns)
        )
    for number, (name, values) in enumerate(zip(plot.rows, plot.values, strict=True)):
        y = top + number * high
        if high >= TEXT:
            parts.append(_words(left - 5, y + high / 2 + 4, _short(name), anchor="end"))
        for place, value in enumerate(values):
            title = f"{name}, {plot.columns[place]}: {'-' if value is None else shown(value)}"
            parts.append(_cell(value, top_value, (left + place * wide, y, wide, high), title))
    bottom = top + high * len(plot.rows)
    parts += _heat_scale(top_value, left, bottom + 14)
    width = max(left + wide * len(plot.columns) + RIGHT, left + HEATS * CELL + RIGHT)
    return _svg(plot, width, bottom + 52, *parts)


def _column(name: str, x: float, y: float, slanted: bool) -> Markup:
    if not slanted:
        return _words(x, y, name, anchor="middle")
    return tag("text", _short(name), transform=f"translate({x + 4:.1f} {y:.1f}) rotate(-90)")


def heat(value: float, top: float) -> int:
    """Return the step of the scale of a value; `top` and more are the last."""
    return min(int(value / top * HEATS), HEATS - 1) if top > 0 and value > 0 else 0


def _cell(value: float | None, top: float, box: tuple[float, float, float, float], title: str) -> Markup:
    x, y, wide, high = box
    if value is None:
        return tag("rect", tag("title", title), x=x, y=y, width=wide, height=high, class_="none")
    step = heat(value, top)
    gap = "gap " if min(wide, high) >= TEXT else ""
    cell = tag("rect", tag("title", title), x=x, y=y, width=wide, height=high, class_=f"{gap}heat-{step}")
    if (wide, high) < READABLE or high < READABLE[1]:
        return cell
    return together(cell, _words(x + wide / 2, y + high / 2 + 4, shown(value), f"on-{step}", "middle"))


def _heat_scale(top: float, left: float, y: float) -> Iterator[Markup]:
    """Give the scale: what each step begins with."""
    for step in range(HEATS):
        x = left + step * CELL
        yield tag("rect", x=x, y=y, width=CELL, height=10.0, class_=f"heat-{step}")
        if step % 2 == 0:
            yield _words(x, y + 24, shown(float(f"{top * step / HEATS:.2g}")), anchor="middle")
    yield _words(left + HEATS * CELL, y + 24, shown(float(f"{top:.2g}")), anchor="middle")
