"""Charts: what is drawn is where the values are, text stays text, and the table says the same."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from ailb_gen.report.html.charts import chart, charts_css, charts_of
from ailb_gen.report.html.drawing import heat, letter, plot_svg
from ailb_gen.report.html.plots import Bar, Bars, HeatMap, Lines, Plot, PlotLine, cdf
from ailb_gen.report.html.scales import Axis, scale_of, thinned

X, Y = Axis("time, us"), Axis("queue, packets")
RISING = Lines(
    "Queue", X, Y, (PlotLine("ecmp", [(0, 0), (10, 50), (20, 100)]), PlotLine("rlb", [(0, 100), (10, 0), (20, 100)]))
)
EVIL = "<script>alert(1)</script>"


def drawn(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(str(plot_svg(plot)))


def words(plot: Plot) -> list[str]:
    return ["".join(found.itertext()) for found in drawn(plot).iter("text")]


def places(plot: Plot, number: int = 0) -> list[tuple[float, float]]:
    line = list(drawn(plot).iter("polyline"))[number]
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.attrib["points"].split())]


def test_points_of_a_line_are_in_proportion() -> None:
    (ax, ay), (bx, by), (cx, cy) = places(RISING)
    assert bx - ax == pytest.approx(cx - bx)
    assert ay - by == pytest.approx(by - cy)
    assert ay > by > cy


def test_a_logarithmic_axis_has_equal_steps_per_decade_and_plain_ticks() -> None:
    plot = Lines("CDF", Axis("us", log=True), Y, (PlotLine("a", [(1, 1), (10, 1), (100, 1)]),))
    (ax, _), (bx, _), (cx, _) = places(plot)
    assert bx - ax == pytest.approx(cx - bx, abs=0.11)
    assert {"1", "10", "100"} <= set(words(plot))


def test_values_that_a_logarithmic_axis_has_not_are_at_its_start() -> None:
    scale = scale_of([0, 1, 1000], Axis("us", log=True), 0, 300, zero=False)
    assert [scale.place(value) for value in (0.5, 1, 10, 1000, 5000)] == [0, 0, pytest.approx(100), 300, 300]


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 7, [0, 2, 4, 6, 8]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 123_456, [0, 25_000, 50_000, 75_000, 100_000, 125_000]),
    ],
)
def test_ticks_are_round(least: float, most: float, expected: list[float]) -> None:
    assert scale_of([least, most], Axis("x"), 0, 100, zero=True).ticks() == expected


@pytest.mark.parametrize(("least", "most"), [(3, 4), (1, 10), (0.001, 900_000), (5, 5)])
def test_ticks_of_a_logarithmic_axis_are_few_and_on_it(least: float, most: float) -> None:
    scale = scale_of([least, most], Axis("x", log=True), 0, 100, zero=False)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 12
    assert all(scale.least * 0.999 <= tick <= scale.most * 1.001 for tick in ticks)


def test_no_values_at_all_have_an_axis() -> None:
    assert scale_of([], Axis("x"), 0, 100, zero=True).ticks() == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert scale_of([], Axis("x", log=True), 0, 100, zero=True).ticks()[0] == 1
    assert scale_of([3, 3], Axis("x"), 0, 100, zero=False).place(3) == 0
    assert scale_of([0.5], Axis("share", top=1.0), 0, 100, zero=True).place(1) == 100


def test_values_that_last_are_drawn_as_steps() -> None:
    plot = Lines("Load", X, Y, (PlotLine("a", [(0, 1), (1, 2)]),), steps=True)
    (ax, ay), (bx, by), (cx, cy) = places(plot)
    assert (ay, bx) == (by, cx)
    assert ax < bx
    assert cy < by


def test_every_line_has_a_letter_hue_and_dashes_of_its_own() -> None:
    text = str(chart(RISING))
    assert [letter(number) for number in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]
    assert {"A", "B"} <= set(words(RISING))
    assert 'class="hue-0 dash-0"' in text
    assert 'class="hue-1 dash-0"' in text
    assert re.findall(r"<b>(.)</b> (\w+)", text) == [("A", "ecmp"), ("B", "rlb")]


def test_the_range_around_a_line_is_drawn() -> None:
    plot = Lines("Load", X, Y, (PlotLine("a", [(0, 5), (1, 5)], [(0, 0, 10), (1, 5, 5)]),))
    polygon = next(drawn(plot).iter("polygon"))
    assert len(polygon.attrib["points"].split()) == 3, "both ends at x = 1 are one place"


def test_a_line_comes_back_to_where_it_was() -> None:
    flat = Lines("Flat", X, Y, (PlotLine("a", [(0, 0), (1, 1), (2, 0)], [(0, 0, 0), (1, 0, 1), (2, 0, 0)]),))
    polygon = next(drawn(flat).iter("polygon"))
    assert len(polygon.attrib["points"].split()) == 5, "up along the top, back along the bottom"


def test_bars_are_in_proportion_and_show_value_and_range() -> None:
    plot = Bars("Bus", Axis("GB/s"), {"": {"rlb": Bar(100, 90, 110), "ecmp": Bar(50, 50, 50), "none": None}})
    one, other = (float(bar.attrib["width"]) for bar in drawn(plot).iter("rect"))
    assert one == pytest.approx(2 * other, rel=0.01)
    assert {"100 (90 to 110)", "50", "-"} <= set(words(plot))
    assert len(list(drawn(plot).iter("path"))) == 1
    assert plot.table() == [["", "GB/s"], ["rlb", "100 (90 to 110)"], ["ecmp", "50"], ["none", "-"]]


def test_groups_of_bars_have_headings_and_the_same_hue_by_name() -> None:
    bars = {"2 ranks": {"rlb": Bar(1, 1, 1)}, "4 ranks": {"ecmp": Bar(2, 2, 2), "rlb": Bar(3, 3, 3)}}
    plot = Bars("Time", Axis("us"), bars)
    assert {"2 ranks", "4 ranks"} <= set(words(plot))
    assert [group.attrib["class"] for group in drawn(plot).iter("g")] == [
        "hue-0 dash-0",
        "hue-1 dash-0",
        "hue-0 dash-0",
    ]
    assert plot.table()[1:] == [["2 ranks", "rlb", "1"], ["4 ranks", "ecmp", "2"], ["4 ranks", "rlb", "3"]]


def test_heat_maps_show_values_where_there_is_room_and_always_on_hover() -> None:
    plot = HeatMap("Load", "share", ["leaf1", "leaf2"], ["spine1", "a spine with a long name"], [[0.5, None], [1, 0]])
    assert {"0.5", "1", "0", "leaf1", "spine1"} <= set(words(plot))
    titles = ["".join(found.itertext()) for found in drawn(plot).iter("title")]
    assert titles[:2] == ["leaf1, spine1: 0.5", "leaf1, a spine with a long name: -"]
    assert plot.table()[1:] == [["leaf1", "0.5", "-"], ["leaf2", "1", "0"]]
    assert [heat(value, 1) for value in (0, 0.05, 0.55, 0.99, 1, 7)] == [0, 0, 5, 9, 9, 9]
    wide = HeatMap("Load", "share", [f"leaf{n}" for n in range(70)], ["s"] * 70, [[0.1] * 70] * 70)
    assert len(words(wide)) == 7, "the unit and the scale alone"


def test_tables_of_lines_are_by_what_lines_share() -> None:
    assert RISING.table() == [["time, us", "ecmp", "rlb"], ["0", "0", "100"], ["10", "50", "0"], ["20", "100", "100"]]
    shares = Lines("CDF", X, Axis("share"), (PlotLine("a", [(1, 0), (2, 1)]), PlotLine("b", [(3, 0), (4, 1)])))
    assert shares.table() == [["share", "a", "b"], ["0", "1", "3"], ["1", "2", "4"]]
    apart = Lines("Any", X, Y, (PlotLine("a", [(1, 0)]), PlotLine("b", [(3, 1), (4, 1)])))
    assert apart.table() == [["line", "time, us", "queue, packets"], ["a", "1", "0"], ["b", "3", "1"], ["b", "4", "1"]]


def test_long_tables_are_thinned_and_keep_both_ends() -> None:
    assert thinned(range(101), 11) == list(range(0, 101, 10))
    plot = Lines(
        "Long", X, Y, (PlotLine("a", [(x, x) for x in range(1000)]), PlotLine("b", [(x, 1) for x in range(1000)]))
    )
    rows = plot.table()
    assert len(rows) == 27
    assert [rows[1][0], rows[-1][0]] == ["0", "999"]


def test_a_distribution_goes_from_the_least_to_the_most() -> None:
    found = cdf([3, 1, 2], points=5)
    assert [found[0], found[2], found[-1]] == [(1, 0), (2, 0.5), (3, 1)]
    assert cdf([7]) == [(7, 0), (7, 1)]
    assert cdf([]) == []


def test_text_stays_text() -> None:
    plots: list[Plot] = [
        Lines(EVIL, Axis(EVIL), Axis(EVIL), (PlotLine(EVIL, [(0, 0), (1, 1)]),), EVIL),
        Bars(EVIL, Axis(EVIL), {EVIL: {EVIL: Bar(1, 1, 2)}}, EVIL),
        HeatMap(EVIL, EVIL, [EVIL], [EVIL], [[1]], EVIL),
    ]
    for plot in plots:
        text = str(chart(plot))
        assert "<script" not in text
        assert "&lt;script&gt;" in text
        ElementTree.fromstring(re.sub(r"<input([^>]*)>", "", text).replace("checked", ""))


SINGLE = Bars("p99", Axis("us"), {"": {"ecmp": Bar(3, 3, 3)}})
SAME = HeatMap("up", "load", ("leaf1",), ("spine1", "spine2"), ((0.5, 0.5),))


def test_what_would_be_flat_is_a_row_of_one_table() -> None:
    at_once = Lines("FCT", X, Axis("cumulative share"), (PlotLine("ecmp", cdf([7, 7])), PlotLine("rlb", cdf([9]))))
    level = Lines("Load", X, Axis("%"), (PlotLine("ecmp", [(0, 2), (5, 2)]),))
    chart_of_rising, table = charts_of([at_once, RISING, level, SINGLE, SAME])
    assert str(chart_of_rising) == str(chart(RISING))
    assert [[cell.text for cell in row] for row in ElementTree.fromstring(str(table)).iter("tr")] == [
        ["metric", "ecmp", "rlb"], ["FCT (time, us)", "7", "9"], ["Load (%)", "2", None], ["p99 (us)", "3", None]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "plot",
    [
        RISING,
        Lines("Load", X, Y, (PlotLine("ecmp", [(0, 2), (5, 2)], [(0, 1, 3), (5, 2, 2)]),)),
        Bars("p99", Axis("us"), {"": {"ecmp": Bar(3, 3, 3), "rlb": Bar(3, 3, 3)}}),
        HeatMap("up", "load", ("leaf1",), ("spine1", "spine2"), ((0.5, None),)),
    ],
)
def test_what_differs_over_x_seeds_variants_or_cells_is_a_chart(plot: Plot) -> None:
    assert charts_of([plot]) == [chart(plot)]


def test_a_wide_drawing_scrolls_before_its_text_gets_too_small() -> None:
    wide = HeatMap("up", "load", ("leaf1",), tuple(f"spine{n}" for n in range(300)), (tuple(range(300)),))
    width = float(drawn(wide).attrib["width"])
    (least,) = re.findall(r"least-(\d+)", drawn(wide).attrib["class"])
    assert 0.75 * width <= 50 * int(least) < 0.75 * width + 50
    assert f".least-{least} {{ min-width: {50 * int(least)}px; }}" in charts_css()


def test_a_chart_of_nothing_says_so() -> None:
    for plot in (
        Lines("A", X, Y, ()),
        Lines("A", X, Y, (PlotLine("a", []),)),
        Bars("A", X, {}),
        HeatMap("A", "x", [], [], []),
    ):
        assert "No values." in chart(plot)
