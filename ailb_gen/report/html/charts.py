"""Charts of HTML reports: a figure with its legend, drawn as SVG here, and the same values as a table.

They are complete without a script; `charts.js` adds values where the pointer is, and hides series. A
section whose template has charts says `uses=(CHARTS,)` and `css=charts_css()`.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from ailb_gen.picture.palette import HUES
from ailb_gen.report.html.drawing import SERIES, STEP, WIDEST, hue, letter, plot_svg
from ailb_gen.report.html.markup import tag
from ailb_gen.report.html.plots import Lines, Plot, Table

# Name of the script and the styles, for `Section.uses`.
CHARTS = "charts"
# Lines whose legend is not folded.
LEGEND = 16


def charts_css() -> str:
    """Return the hues and dashes of series, those of the palette."""
    chosen = [next(hue for hue in HUES if hue.name == name) for name in SERIES]
    light, dark = (
        "".join(f".hue-{number} {{ --hue: {getattr(hue, mode)}; }}\n" for number, hue in enumerate(chosen))
        for mode in ("light", "dark")
    )
    dashes = "".join(
        f".hue-{number} .line {{ stroke-dasharray: {hue.dash.replace(' ', ', ') or 'none'}; }}\n"
        for number, hue in enumerate(chosen)
    )
    # Wide drawings scroll before their text gets too small.
    widths = "".join(f".least-{number} {{ min-width: {STEP * number}px; }}\n" for number in range(WIDEST + 1))
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{dashes}{widths}"


def chart(plot: Plot) -> Markup:
    """Return a plot as a figure: title, description, legend, drawing and table."""
    if _is_empty(plot):
        return tag("figure", tag("figcaption", plot.title), tag("p", "No values."), class_="chart")
    parts = [tag("figcaption", plot.title)]
    parts += [tag("p", plot.text, class_="chart-text")] if plot.text else []
    parts += [_legend([line.name for line in plot.lines])] if isinstance(plot, Lines) else []
    # Wide drawings scroll inside; whoever has no pointer needs the focus for that.
    parts.append(tag("div", plot_svg(plot), class_="chart-plot", tabindex=0, role="group", aria_label=plot.title))
    parts.append(tag("details", tag("summary", "Values"), _table(plot.title, plot.table()), class_="chart-values"))
    return tag("figure", *parts, class_="chart")


def charts_of(plots: Iterable[Plot]) -> list[Markup]:
    """Return plots as figures; those that compare nothing, such as a flat line, are rows of one table below them."""
    figures: list[Markup] = []
    constants: dict[str, dict[str, str]] = {}
    for plot in plots:
        found = plot.constants()
        if found is None:
            figures.append(chart(plot))
        elif found[1]:
            unit, values = found
            constants[f"{plot.title} ({unit})" if unit else plot.title] = values
    if constants:
        names = list(dict.fromkeys(name for values in constants.values() for name in values))
        rows = [[title, *(values.get(name, "") for name in names)] for title, values in constants.items()]
        figures.append(tag("figure", _table("Constant values", [["metric", *names], *rows]), class_="chart constants"))
    return figures


def _is_empty(plot: Plot) -> bool:
    return not any(line.points for line in plot.lines) if isinstance(plot, Lines) else len(plot.table()) < 2


def _legend(names: list[str]) -> Markup:
    """Return the style of every series; a single line needs its name only."""
    rows = (
        tag(
            "li",
            tag(
                "label",
                Markup('<input type="checkbox" checked value="{}">').format(number),
                tag(
                    "svg",
                    tag("path", d="M1 8h30", class_="line"),
                    viewBox="0 0 32 16",
                    width=32,
                    height=16,
                    aria_hidden="true",
                    class_=hue(number),
                ),
                tag("b", letter(number)),
                " ",
                name,
            ),
        )
        for number, name in enumerate(names)
    )
    found = tag("ul", *rows, class_="chart-legend")
    return found if len(names) <= LEGEND else tag("details", tag("summary", f"{len(names)} lines"), found)


def _table(title: str, rows: Table) -> Markup:
    head, *body = rows
    lines = (tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in body)
    return tag(
        "table",
        tag("caption", title),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
        tag("tbody", *lines),
    )
