"""The report on a terminal."""

import re

from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding, Result
from ailb_gen.paint import painted
from ailb_gen.report.table import HIDDEN, table
from tests.report.samples import LEAF, SESSION, SPINE, many, verdict_of, waiver

SGR = re.compile(r"\x1b\[[0-9;]*m")


def test_the_whole_of_a_small_report() -> None:
    waivers = (waiver("AILB203", "spine1 *", reason="a cable is on order"),)
    text = table(verdict_of(Result(SESSION, (LEAF, SPINE), 64, (("sessions", "64"),)), waivers=waivers))
    assert (
        text
        == """\
Fabric jvd in build/jvd: 1 leaf, 1 server, 1 spine

FAMILY    CHECKS  PASS  FAIL  WARN  SKIP  N/A  FINDINGS  WAIVED
--------  ------  ----  ----  ----  ----  ---  --------  ------
files          2     2     0     0     0    0         0       0
sessions       1     0     1     0     0    0         1       1
total          3     2     1     0     0    0         1       1

AILB203 error: an end names another AS: 1 finding
  stripe1-leaf1 et-0/0/0  switches/stripe1-leaf1.conf:120
    as-list names another AS
    expected 65003, found 65002
  Repair: Correct it.

Waived
  AILB203 spine1 *: 1 finding until 2026-06-01: a cable is on order

Metrics
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


def test_what_is_alike_is_shown_once_and_counted() -> None:
    text = table(verdict_of(many(250)))
    assert "AILB203 error: an end names another AS: 250 findings" in text
    assert "    message 0\n    and 249 more like it: leaf1, leaf2, leaf3, ...\n" in text
    assert text.count("message ") == 1
    assert f"\n\n{HIDDEN}\n" in text
    assert text.count("message ") == 1
    whole = table(verdict_of(many(250)), everything=True)
    assert whole.count("message ") == 250
    assert "more like it" not in whole and HIDDEN not in whole


def test_findings_of_a_check_are_capped_and_the_report_says_so() -> None:
    words = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    rows = tuple(
        Finding(SESSION.id, "leaf", f"message {word}", subjects=(about.setting("leaf", word),)) for word in words
    )
    text = table(verdict_of(Result(SESSION, rows, 100)))
    assert "\n  ... and 80 more\n" in text
    assert text.count("message ") == 20
    assert HIDDEN in text


def test_two_of_a_kind_stay_apart() -> None:
    text = table(verdict_of(many(2)))
    assert "message 0" in text and "message 1" in text
    assert "more like it" not in text and HIDDEN not in text


def test_what_a_message_says_is_not_repeated() -> None:
    said = Finding(SESSION.id, "leaf1", "the MTU must be 9216, not 9000", None, "9216", "9000")
    assert "expected" not in table(verdict_of(Result(SESSION, (said,), 1)))


def test_colors_change_nothing_but_colors() -> None:
    for verdict in (verdict_of(), verdict_of(many(250)), verdict_of(Result(SESSION, (), 1))):
        shown = table(verdict, paint=painted)
        assert SGR.sub("", shown) == table(verdict)
        assert SGR.sub("", shown) != shown
    assert "\n\x1b[1;31mAILB203 error\x1b[0m: an end names another AS: 2 findings\n" in table(
        verdict_of(), paint=painted
    )
    assert "\x1b[33mAILB301 warning\x1b[0m" in table(verdict_of(), paint=painted)
    assert table(verdict_of(), paint=painted).splitlines()[-1].startswith("\x1b[1;31mFAIL\x1b[0m: ")
    assert table(verdict_of(Result(SESSION, (), 1)), paint=painted).splitlines()[-1].startswith("\x1b[32mPASS\x1b[0m: ")


def test_its_prose_is_as_wide_as_it_is_told() -> None:
    verdict = verdict_of(many(2), fabric=" ".join(["name"] * 60))
    for width in (60, 120):
        first = table(verdict, width=width).split("\n", 1)[0]
        assert width - len("name ") < len(first) <= width
