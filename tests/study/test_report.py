"""The report of a study: claims first, numbers next to the published ones, figures, and charts of its simulations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ailb_gen.sim.profile import Profile
from ailb_gen.study.model import Case, CaseResults, Claim, ClaimVerdict, Published, Study, Summary
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.report import study_page
from ailb_gen.study.rows import quick_scope, study_table
from tests.report.html.simulations import simulation
from tests.study.made import RESULTS, STUDY

PARTS = re.compile(r'<section id="([a-z]+)"')


def page(
    study: Study = STUDY,
    results: CaseResults = RESULTS,
    profiles: Mapping[str, Sequence[Profile]] | None = None,
    interrupted: bool = False,
) -> str:
    return study_page(study, results, profiles or {}, "ailb-gen study made-up", interrupted)


def verdict(text: str) -> tuple[str, str]:
    """The class and the text of the verdict."""
    found = re.search(r'<p class="verdict (\w+)" id="verdict">([^<]*)</p>', text)
    assert found is not None
    return found[1], found[2]


def test_claims_are_counted_and_shown_first() -> None:
    text = page()
    assert verdict(text) == ("warn", "Of 2 claims 1 holds, 1 not simulated.")
    assert PARTS.findall(text) == ["claims", "numbers", "figures", "about"]
    assert '<li class="pass"><strong>holds</strong> Adaptive is faster than ECMP. ' in text
    assert "8.5 against 21 us" in text


def test_claims_that_do_not_hold_have_their_reason() -> None:
    wrong = Claim("It is free.", lambda results: ClaimVerdict("does not hold", "7 us", ["It costs <i>something</i>."]))
    text = page(replace(STUDY, claims=(*STUDY.claims[:1], wrong)))
    assert verdict(text) == ("warn", "Of 2 claims 1 holds, 1 does not hold.")
    assert "Reason: It costs &lt;i&gt;something&lt;/i&gt;." in text
    assert verdict(page(replace(STUDY, claims=STUDY.claims[:1]))) == ("pass", "All claims hold.")
    assert verdict(page(replace(STUDY, claims=()))) == ("info", "Published numbers next to ours.")


def test_published_numbers_are_next_to_ours_with_interval_and_range() -> None:
    text = page()
    assert "<td>20</td><td>21 ± 25 (n = 2)</td><td>+5.0 ± 127.1 %, undecided at 10 %</td><td>calibrated</td>" in text
    titles = re.findall(r"<figcaption>([^<]*)</figcaption>", text)
    assert titles == ["time, us", "packets", "Time by load", "Distribution of time"]
    assert "ours: 21 (19 to 23)" in text, "the bar has the range"
    assert "95 % confidence interval" in text and "Charts show the range (minimum to maximum)." in text


def test_several_published_numbers_of_a_case_are_a_range() -> None:
    more = (Published("ECMP", "time, us", 24.0), Published("ECMP", "time, us", 17.0))
    assert "published: 20 (17 to 24)" in page(replace(STUDY, published=(*STUDY.published, *more)))


def test_a_chart_without_anything_but_zeros_is_a_row() -> None:
    dropped = (Published("ECMP", "drops", 0.0), Published("adaptive", "drops", 0.0))
    study = replace(
        STUDY, published=dropped, quantities=(Quantity("drops", "drops"),), figures=lambda results: (), claims=()
    )
    results = CaseResults({case: [{"drops": 0.0}] for case in ("ECMP", "adaptive")})
    assert '<tr><th scope="row">drops</th><td>0</td><td>0</td></tr>' in page(study, results)


def test_a_quick_study_says_what_it_tests_and_leaves_out_and_shows_tested_claims_first() -> None:
    more = (Case("failed", STUDY.cases[0].scenario), *(Case(f"x{n}", {"seeds": [1, 2, 3]}) for n in range(4)))
    full = replace(STUDY, cases=(*STUDY.cases, *more))
    study = replace(STUDY, scope=quick_scope(STUDY, full), claims=STUDY.claims[::-1])
    assert study.scope == (
        "Quick run: 2 cases (ECMP; adaptive), up to 2 seeds per case. Full study: 7 cases, up to 3 seeds. "
        "Left out: failed; x0; x1; and 2 more."
    )
    text = page(study)
    assert verdict(text) == ("warn", "Quick run. Of 2 claims 1 holds, 1 not simulated.")
    assert f"<dt>Scope</dt><dd>{study.scope}</dd>" in text
    assert "<summary>1 claim not simulated</summary>" in text
    table = study_table(study, RESULTS)
    assert " ".join(study.scope.split()) in " ".join(table.split())
    assert table.index("\nholds: ") < table.index("\nnot simulated: ")


def test_an_interrupted_study_says_so() -> None:
    text = page(interrupted=True)
    assert verdict(text)[0] == "warn"
    assert "only finished cases are included" in text


def test_a_summary_comes_in_place_of_claims_and_published_numbers() -> None:
    summary = Summary([["balancer", "step s"], ["rlb", "0.23"]], ["rlb takes 0.23 s.", "dlb costs 9 % more.", "More."])
    text = page(replace(STUDY, summary=lambda results: summary, claims=(), published=()))
    assert verdict(text) == ("info", "rlb takes 0.23 s. dlb costs 9 % more.")
    assert "<li>More.</li>" in text
    assert '<th scope="row">rlb</th><td>0.23</td>' in text
    assert "Calibrated" not in text
    assert "with the range (minimum to maximum) where seeds differ" in text and "confidence" not in text


def test_cases_that_are_charted_have_charts_by_group() -> None:
    made = simulation({"rlb, none": ("none", "rlb"), "rlb, spine1": ("spine1", "rlb")})
    profiles = {case: [made.profiles[f"{case}-{seed}"] for seed in (1, 2)] for case in made.variants}
    cases = [*(Case(case, {}, chart=chart) for case, chart in made.variants.items()), Case("none, dlb", {})]
    study = replace(STUDY, cases=cases, chart_note="Times are scaled.")
    text = page(study, profiles=profiles)
    assert PARTS.findall(text) == ["claims", "numbers", "figures", "completion", "overtime", "links", "about"]
    assert text.count("Times are scaled.") == 3
    assert text.count('<details class="chart-group"') == 6
    grouped = replace(study, cases=[Case("rlb, none", {}, chart=("", "rlb")), *cases[1:]])
    assert "<summary>rlb</summary>" in page(grouped, profiles=profiles), "no group: the names of its cases"
    assert PARTS.findall(page(study)) == ["claims", "numbers", "figures", "about"], "without profiles there are none"
