"""The report for merge requests."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.model import Result
from ailb_gen.report.markdown import MARKER, MAX_CHARACTERS, code, markdown
from tests.report.samples import LEAF, NASTY, SESSION, many, verdict_of


def test_the_whole_of_a_small_report() -> None:
    assert (
        markdown(verdict_of(Result(SESSION, (LEAF,), 64)))
        == """\
<!-- ailb-gen validate -->
### \u274c FAIL: `jvd`

1 error; 0 checks passed; 2 not applicable.

| family | checks | pass | fail | warn | skip | n/a | findings | waived |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
| files | 2 |  |  |  |  | 2 |  |  |
| sessions | 1 |  | 1 |  |  |  | 1 |  |
| total | 3 |  | 1 |  |  | 2 | 1 |  |

<details><summary><b>AILB203</b> an end names another AS: 1 error</summary>

- `stripe1-leaf1 et-0/0/0`, `as-list names another AS`, `expected 65003, found 65002`, \
`build/jvd/switches/stripe1-leaf1.conf:120`

The session stays down. *Repair:* Correct it.

</details>
"""
    )


def test_a_clean_run_is_short_and_green() -> None:
    text = markdown(verdict_of(Result(SESSION, (), 64)))
    assert text.startswith(f"{MARKER}\n### \u2705 PASS: `jvd`\n")
    assert "<details>" not in text


def outside_code(text: str) -> str:
    """Return a line without its code spans, as CommonMark finds them."""
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_nothing_from_a_file_is_markup() -> None:
    text = markdown(verdict_of(fabric=NASTY))
    rest = "\n".join(map(outside_code, text.splitlines()))
    for word in ("<b>&", "@admin", "**x**", "|]]", "\x1b", "\u202e", "```"):
        assert word not in rest, word
    assert text.count("<details>") == text.count("</details>") - text.count("``` </details>")
    assert "&lt;nothing&gt; &amp; more" in text


@given(st.text())
def test_any_text_becomes_one_code_span(text: str) -> None:
    span = code(text)
    assert "\n" not in span
    assert outside_code(span) == ""
    assert span or not text.strip()


@pytest.mark.parametrize("limit", [3_000, 10_000, MAX_CHARACTERS])
def test_it_is_never_too_long_and_counts_what_is_left_out(limit: int) -> None:
    rows = [many(50, check) for check in (replace(SESSION, id=f"AILB2{n:02}") for n in range(80))]
    text = markdown(verdict_of(*rows), limit)
    assert limit // 2 < len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    shown = len(re.findall("^- `leaf", text, re.M))
    more = sum(int(count) for count in re.findall(r"^- \.\.\. and (\d+) more$", text, re.M))
    left = re.search(r"^No room for ([\d,]+) findings of ([\d,]+) checks", text, re.M)
    assert shown + more + (int(left[1].replace(",", "")) if left else 0) == 80 * 50
