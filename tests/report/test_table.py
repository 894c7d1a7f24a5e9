"""The report on a terminal."""

from ailb_gen.checks.model import Result
from ailb_gen.report.table import table
from tests.report.samples import LEAF, SESSION, SPINE, many, verdict_of, waiver


def test_the_whole_of_a_small_report() -> None:
    waivers = (waiver("AILB203", "spine1 *", reason="a cable is on order"),)
    text = table(verdict_of(Result(SESSION, (LEAF, SPINE), 64, (("sessions", "64"),)), waivers=waivers))
    assert (
        text
        == """\
Fabric jvd in build/jvd: 1 leaf, 1 server, 1 spine

FAMILY    CHECKS  PASS  FAIL  WARN  SKIP  EMPTY  FINDINGS  WAIVED
--------  ------  ----  ----  ----  ----  -----  --------  ------
files          2     2     0     0     0      0         0       0
sessions       1     0     1     0     0      0         1       1
total          3     2     1     0     0      0         1       1

AILB203 error: an end names another AS: 1 finding
  stripe1-leaf1 et-0/0/0  switches/stripe1-leaf1.conf:120
    as-list names another AS
    expected 65003, found 65002
  Repair: Correct it.

Waived
  AILB203 spine1 *: 1 finding until 2026-06-01: a cable is on order

Figures
  AILB203 sessions: 64

FAIL: 1 error; 1 waived; 2 checks passed
"""
    )


def test_it_fits_80_columns_and_holds_nothing_that_drives_a_terminal() -> None:
    text = table(verdict_of(fabric="f\x1b[2J", artifacts="a" * 300))
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
    assert r"\x1b[31m<b>" in text
    assert "AILB901 no YANG models" in text


def test_a_family_of_findings_is_capped_and_says_so() -> None:
    text = table(verdict_of(many(1025)))
    assert "AILB203 error: an end names another AS: 1,025 findings" in text
    assert "  ... and 1,005 more; --all shows them, --report json=FILE has all\n" in text
    assert text.count("message ") == 20
