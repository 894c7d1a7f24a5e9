"""The pages in `docs/studies` are those of the studies as they are now, but for the numbers that simulations gave."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ailb_gen.study.catalog import STUDIES
from ailb_gen.study.model import CaseResults, ClaimVerdict, NotSimulatedError, StudyOptions
from ailb_gen.study.page import page
from tests.conftest import ROOT

PUBLISHED = [name for name, entry in STUDIES.items() if not entry.needs_file]
OUTSIDE = "## Rows outside their tolerance"
TABLES = ("## Claims", "## Numbers", OUTSIDE)
PAGES = ROOT / "docs" / "studies"


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_page_is_of_these_scenarios(name: str) -> None:
    text = (PAGES / name / "study.md").read_text(encoding="utf-8")
    found = re.search(r"Digest of the scenarios: `(\w+)`", text)
    assert found is not None
    assert found[1] == STUDIES[name].make(StudyOptions()).digest(), "run `make studies`"


def not_simulated(results: CaseResults) -> ClaimVerdict:
    raise NotSimulatedError


def parts(text: str) -> tuple[list[str], list[list[str]]]:
    """The prose of a page, and the cells of its tables of claims and numbers that no simulation changes."""
    prose, cells = [], []
    table = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            table = line if line in TABLES else ""
        if table == OUTSIDE:
            continue
        if line.startswith("| ") and table:
            row = re.split(r"(?<!\\\\) \| ", line.strip("| "))
            cells.append(row[:1] if table == "## Claims" else [*row[:3], row[5] if len(row) > 5 else ""])
        elif not line.startswith(("![", "Seeds: ")):
            prose.append(line)
    return [line for line in prose if line], cells


@pytest.mark.parametrize("name", PUBLISHED)
def test_prose_claims_rows_and_published_numbers_are_those_of_the_study(name: str) -> None:
    study = STUDIES[name].make(StudyOptions())
    # Points without numbers: every row is shown.
    open_results = CaseResults({case.name: [{}] for case in study.cases})
    no_verdicts = replace(study, claims=[replace(claim, check=not_simulated) for claim in study.claims])
    rendered = page(no_verdicts, open_results, (), f"ailb-gen study {name}")
    committed = (PAGES / name / "study.md").read_text(encoding="utf-8")
    assert parts(committed) == parts(rendered)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_figure_of_the_page_is_there_and_no_other(name: str) -> None:
    text = (PAGES / name / "study.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\((.+?\.svg)\)", text))
    assert named
    assert named == {path.name for path in (PAGES / name).glob("*.svg")}


def test_make_studies_makes_all_of_them() -> None:
    found = re.search(r"^STUDIES := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert found is not None
    assert found[1].split() == PUBLISHED
