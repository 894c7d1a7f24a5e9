"""The page of `simulate`: what follows from the points, charts of what was recorded, and what is left out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ailb_gen.report.html.charts_over_seeds import INTERVALS, distributions, heat_maps, over_time, steps
from ailb_gen.report.html.simulated import GROUPS, INCOMPARABLE, simulated
from ailb_gen.sim.profile import Profile
from tests.report.html.simulations import EVIL, loaded, simulation, without

PLAIN = {"rlb": ("", "rlb"), "ecmp": ("", "ecmp")}


def shown(text: str) -> list[str]:
    """The titles of all charts."""
    return re.findall(r"<figcaption>([^<]*)</figcaption>", text)


def test_the_page_says_what_is_fastest_and_shows_what_was_recorded() -> None:
    text = simulated(loaded(simulation(PLAIN, slower={"ecmp": 10})))
    assert re.search(
        r'id="verdict">rlb is fastest: a flow takes, on average, [\d.]+ us\. ecmp takes [\d.]+ % more', text
    )
    titles = shown(text)
    assert "Flow completion time, p99" in titles
    assert "Mean load, leaf to spine" in titles
    assert "Peak queue depth, host to leaf" in titles
    assert "rlb: leaf to spine" in titles
    assert not [title for title in titles if title.startswith(("Dropped", "ECN", "PFC"))], "nothing was counted"
    assert EVIL not in text
    assert "&lt;script&gt;" in text, "the scenario is text"


def test_swept_values_have_charts_of_their_own_and_the_page_says_what_is_left_out() -> None:
    variants = {f"{name}, x={n}": (f"x={n}", name) for n in range(GROUPS + 2) for name in ("rlb", "ecmp")}
    text = simulated(simulation(variants, seeds=(1,)))
    assert f"Charts of the first {GROUPS} of {GROUPS + 2} combinations" in text
    assert text.count('<details class="chart-group"') == 3 * GROUPS
    assert f"{GROUPS + 2} combinations are compared below" in text
    assert f"<h3>x={GROUPS + 1}</h3>" in text, "the tables have all"


def test_points_that_are_missing_are_said_and_the_rest_is_shown() -> None:
    made = without(loaded(simulation(PLAIN)), "ecmp")
    text = simulated(replace(made, warnings=["traffic could not end"]))
    assert 'class="verdict warn"' in text
    assert text.count("not simulated") == 2
    assert "Partial, 2 of 4 points: " in text
    assert "Warning: traffic could not end" in text
    assert "Mean load, leaf to spine" in shown(text)
    nothing = without(without(simulation(PLAIN), "ecmp"), "rlb")
    assert INCOMPARABLE in simulated(nothing)


def test_charts_that_would_be_flat_are_rows_of_a_table() -> None:
    text = simulated(simulation({"ecmp": ("", "ecmp")}, seeds=(1,)))
    titles = shown(text)
    assert titles == ["Flow completion time: flows"], "one variant, idle links, and no flow waits"
    assert '<th scope="row">Slowdown: flows (ratio to idle fabric)</th><td>1</td>' in text
    assert '<th scope="row">Mean load, leaf to spine (% of line rate)</th><td>0</td>' in text
    assert '<th scope="row">Peak queue depth, leaf to spine (packets)</th><td>1</td>' in text


def test_only_seeds_that_all_variants_have_are_compared() -> None:
    made = simulation(PLAIN, slower={"ecmp": 10})
    whole = [line for line in simulated(made).splitlines() if "ecmp takes" in line]
    cut = [replace(row, statistics=None) if (row.variant, row.seed) == ("rlb", 1) else row for row in made.rows]
    only = [row for row in made.rows if row.seed == 2]
    text, expected = (simulated(replace(made, rows=rows)) for rows in (cut, only))
    assert [line for line in text.splitlines() if line.startswith("<li>ecmp takes")] == [
        line for line in expected.splitlines() if line.startswith("<li>ecmp takes")
    ]
    assert "seed by seed" in whole[0]
    assert "seed by seed" not in text


def test_seeds_are_one_line_with_their_range_on_common_intervals() -> None:
    made = simulation(PLAIN, seeds=(1, 30))
    profiles = {name: [made.profiles[f"{name}-{seed}"] for seed in (1, 30)] for name in PLAIN}
    found = {plot.title: plot for plot in over_time(profiles)}
    line = found["Peak queue depth, leaf to spine"].lines[0]
    assert len(line.points) == INTERVALS + 1
    # The shorter run is over in the end: its queue is empty.
    assert line.points[0][1] == 1
    assert line.band[-1][1:] == (0, 1)
    assert list(line.points[-1]) == pytest.approx([profiles["rlb"][1]["end_us"], 0.5])


def test_the_mean_load_over_time_adds_up_to_what_was_sent() -> None:
    profile = {
        "end_us": 100.0,
        "series": {
            "edges_us": [0.0, 30.0, 100.0],
            "tiers": {
                "leaf to spine": {name: [0.5, 0.1] for name in ("mean_load", "max_load")}
                | {name: [4, 2] for name in ("peak_packets", "marks", "pauses", "drops")}
            },
        },
    }
    found = {plot.title: [y for _, y in plot.lines[0].points][:-1] for plot in over_time({"a": [profile]})}
    assert sum(found["Mean load, leaf to spine"]) / INTERVALS == pytest.approx(0.5 * 30 + 0.1 * 70)
    assert found["Peak queue depth, leaf to spine"][29:31] == [4, 2]
    assert found["ECN marks"][-1] == pytest.approx(6)
    assert found["ECN marks"] == sorted(found["ECN marks"])


def test_distributions_of_seeds_are_together_and_shaded_between_them() -> None:
    seeds: list[Profile] = [
        {"fct_us": {"ring": [1.0, 2.0, 3.0]}},
        {"fct_us": {"ring": [2.0, 3.0, 90.0]}},
        {"fct_us": {}},
    ]
    (plot,) = distributions({"rlb": seeds}, "fct_us", "Flow completion time", "us", "The share")
    assert plot.title == "Flow completion time: ring"
    assert plot.x.log, "from 1 to 90"
    band = {x: (least, most) for x, least, most in plot.lines[0].band}
    assert list(band[2.0]) == pytest.approx([1 / 3, 2 / 3])
    assert plot.text.endswith("shaded: range over seeds.")


def test_steps_of_a_job_are_a_line_where_there_are_several() -> None:
    few, many = {"steps_us": {"job": [[1, 5], [2, 4]]}}, {"steps_us": {"job": [[1, 5], [2, 4], [9, 6], [17, 1]]}}
    assert list(steps({"a": [few]})) == []
    (plot,) = steps({"a": [many, {"steps_us": {"job": [[1, 7], [2, 2], [9, 6]]}}], "b": []})
    (line,) = plot.lines
    assert line.points == [(1, 6), (2, 3), (9, 6)]
    assert line.band[0] == (1, 5, 7)


def test_heat_maps_have_one_scale_and_the_mean_over_seeds() -> None:
    pairs = {"leaves": ["l1"], "spines": ["s1", "s2"], "down": [[0.1, None]]}
    seeds: list[Profile] = [
        {"pairs": {**pairs, "up": [[0.2, 0.4]]}},
        {"pairs": {**pairs, "up": [[0.4, 0.4]]}},
        {"pairs": None},
    ]
    up, down = heat_maps({"rlb": seeds})
    assert up.values == [[30, 40]]
    assert down.values == [[10, None]]
    assert up.top == down.top == 40
