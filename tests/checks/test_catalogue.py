"""The catalogue is complete, in order, and documented."""

import re

from ailb_gen.checks.catalogue import BY_ID, CATALOGUE, EVERYTHING, WITH_BATFISH, checks_of, markdown
from ailb_gen.checks.layers import FAMILIES
from tests.conftest import ROOT


def test_ids_are_unique_sorted_and_in_a_family() -> None:
    ids = [check.id for check in CATALOGUE]
    assert ids == sorted(BY_ID)
    assert all(re.fullmatch(r"AILB[0-9]{3}", name) for name in ids)
    assert {check.family for check in EVERYTHING} <= set(FAMILIES)
    # What devices, a lab or several fabrics are looked at for is not what `validate` runs for a fabric.
    assert {check.family for check in set(EVERYTHING) - set(CATALOGUE)} == {"AILBA", "AILBD", "AILBL", "AILBS", "AILBX"}


def test_every_check_of_validate_has_a_function_but_those_of_others() -> None:
    without = {check.id for check in CATALOGUE if check.run is None}
    assert without == {"AILB090", "AILB091", *(check.id for check in checks_of(WITH_BATFISH))}


def test_texts_are_sentences_that_fit() -> None:
    for check in EVERYTHING:
        assert check.meaning == check.meaning.strip() and not check.meaning.endswith("."), check.id
        assert len(check.meaning) <= 120, check.id
        for text in (check.why, check.repair):
            assert text.endswith("."), check.id
        texts = (check.meaning, check.violation, check.why, check.repair)
        assert all(text.isprintable() for text in texts), check.id


def test_headlines_say_what_is_wrong_not_what_should_hold() -> None:
    for check in EVERYTHING:
        assert check.violation == check.violation.strip() and not check.violation.endswith("."), check.id
        assert 10 <= len(check.violation) <= 120, check.id
        assert check.violation != check.meaning, check.id
    assert len({check.violation for check in EVERYTHING}) == len(EVERYTHING)


def test_the_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "checks.md"
    assert page.read_text(encoding="utf-8") == markdown(), "run make checks-doc"


def test_the_page_links_to_every_check() -> None:
    targets = re.findall(r"\]\(#([a-z0-9]+)\)", markdown())
    assert [target.upper() for target in targets] == [check.id for check in EVERYTHING]
    assert re.findall(r"^### (.+)$", markdown(), re.M) == [check.id for check in EVERYTHING]
