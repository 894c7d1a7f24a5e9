"""The pages in `docs/studies` are those of the studies as they are now."""

from __future__ import annotations

import re

import pytest

from ailb_gen.study.catalog.table import STUDIES
from ailb_gen.study.model import Options
from tests.conftest import ROOT

PUBLISHED = [name for name, entry in STUDIES.items() if not entry.needs_file]
PAGES = ROOT / "docs" / "studies"


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_page_is_of_these_scenarios(name: str) -> None:
    text = (PAGES / name / "study.md").read_text(encoding="utf-8")
    found = re.search(r"Digest of the scenarios: `(\w+)`", text)
    assert found is not None
    assert found[1] == STUDIES[name].make(Options()).digest(), "run `make studies`"


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
