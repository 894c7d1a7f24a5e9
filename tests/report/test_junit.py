"""The report for test viewers."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.catalogue import CATALOGUE
from ailb_gen.checks.model import Finding, Result
from ailb_gen.errors import Place
from ailb_gen.report.junit import junit
from tests.report.samples import COLOR, LEAF, SESSION, SPINE, many, results, verdict_of, waiver


def cases(text: str) -> dict[str, ElementTree.Element]:
    return {case.get("name", "")[:7]: case for case in ElementTree.fromstring(text).iter("testcase")}


def test_a_case_for_every_check_with_what_became_of_it() -> None:
    root = ElementTree.fromstring(junit(verdict_of()))
    assert root.attrib == {
        "name": "ailb-gen validate",
        "tests": "7",
        "failures": "1",
        "errors": "0",
        "skipped": "4",
    }
    assert [suite.get("name") for suite in root] == [
        "AILB0 Files, topology and waivers",
        "AILB2 BGP sessions",
        "AILB3 Colors and BGP-DPF",
        "AILB4 Paths and balance",
        "AILB7 RoCE",
        "AILB9 Junos commit check",
    ]
    found = cases(junit(verdict_of()))
    kinds = {name: [child.tag for child in case] for name, case in found.items()}
    assert kinds == {
        "AILB090": ["skipped"],
        "AILB091": ["skipped"],
        "AILB203": ["failure"],
        "AILB301": ["system-out"],
        "AILB401": ["system-out"],
        "AILB701": ["skipped"],
        "AILB901": ["skipped"],
    }
    failure = found["AILB203"].find("failure")
    assert failure is not None and failure.text is not None
    assert failure.get("message") == "2 findings: an end names another AS"
    assert failure.text.splitlines()[0] == (
        "build/jvd/switches/stripe1-leaf1.conf:120: stripe1-leaf1 et-0/0/0: as-list names another AS "
        "(expected 65003, found 65002)"
    )
    assert found["AILB203"].get("file") == "build/jvd/switches/stripe1-leaf1.conf"


def test_waived_findings_are_skipped_with_the_reason() -> None:
    row = Result(SESSION, (LEAF, SPINE), 2)
    some = cases(junit(verdict_of(row, waivers=(waiver("AILB203", "spine*", reason="<ordered>"),))))["AILB203"]
    assert [child.tag for child in some] == ["failure", "system-out"]
    assert "waived: build/jvd/switches/spine1.conf:7: " in (some.findtext("system-out") or "")
    every = cases(junit(verdict_of(row, waivers=(waiver("AILB203", "*", reason="<ordered>"),))))["AILB203"]
    skipped = every.find("skipped")
    assert skipped is not None and skipped.get("message") == "waived: <ordered>"


def test_ids_are_unique_and_the_same_in_every_run() -> None:
    def ids(text: str) -> list[tuple[str | None, str | None]]:
        return [(case.get("classname"), case.get("name")) for case in ElementTree.fromstring(text).iter("testcase")]

    dirty = ids(junit(verdict_of()))
    clean = ids(junit(verdict_of(*(Result(row.check, (), 1) for row in results()))))
    assert dirty == clean
    assert len(set(dirty)) == len(dirty)
    assert len({check.meaning for check in CATALOGUE}) == len(CATALOGUE)


def test_many_findings_are_capped() -> None:
    text = cases(junit(verdict_of(many(700))))["AILB203"].findtext("failure") or ""
    assert "... and 200 more; --report json=FILE has all" in text


@given(st.text(), st.text(), st.text())
def test_any_text_gives_valid_xml(scope: str, message: str, file: str) -> None:
    row = Result(COLOR, (Finding(COLOR.id, scope, message, Place(file, 1), message, scope),), 1)
    for severity in ("error", "warning"):
        verdict = verdict_of(row, Result(SESSION, row.findings, 1, ((scope, message),)), fabric=message)
        assert "AILB301" in cases(junit(verdict)), severity
        ElementTree.fromstring(junit(verdict).encode("utf-8"))
