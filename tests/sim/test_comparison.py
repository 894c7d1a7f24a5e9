"""The table of variants: no wider than a terminal, whatever the names and figures are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ailb_gen.paint import painted
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.comparison import FIGURES, WIDTH, comparison_table

# As wide as figures get: a mean and a range of six characters each.
WIDE = {"seeds": 9, "mean": 123_456.7, "least": 99_999.0, "most": 999_900.0}
LONG = "conweave reply_us=8 resume_us=216, traffic[0].collective.bytes=256MiB, switches.shared_buffer=9MiB"


def record(variant: str, figure: dict[str, float] | None, seeds: int = 1, complete: bool = True) -> dict[str, Any]:
    return {"variant": variant, "seeds": seeds, "complete": complete, **dict.fromkeys(FIGURES, figure)}


def same(value: float) -> dict[str, float]:
    return {"seeds": 1, "mean": value, "least": value, "most": value}


def test_a_usual_comparison_is_one_block() -> None:
    found = [record(name, same(value)) for name, value in (("rlb", 48.123), ("dlb", 1234.5), ("ecmp", 2_345.0))]
    assert comparison_table(found, "balancer").splitlines() == [
        "balancer    bus    job     FCT  slowdown   peak  marks  pauses  drops  out of",
        "           GB/s     us  p99 us       p99  queue                         order",
        "--------  -----  -----  ------  --------  -----  -----  ------  -----  ------",
        "rlb       48.12  48.12   48.12     48.12  48.12  48.12   48.12  48.12   48.12",
        "dlb       1,234  1,234   1,234     1,234  1,234  1,234   1,234  1,234   1,234",
        "ecmp      2,345  2,345   2,345     2,345  2,345  2,345   2,345  2,345   2,345",
    ]


@pytest.mark.parametrize("names", [list(BALANCERS), [LONG, "ecmp"]])
@pytest.mark.parametrize("figure", [WIDE, same(0.123456), same(99_999), same(10**15), None])
def test_no_line_is_longer_than_a_terminal(names: list[str], figure: dict[str, float] | None) -> None:
    found = [record(name, figure, 10_000, complete=False) for name in names]
    lines = comparison_table(found, "balancer").splitlines()
    assert max(map(len, lines)) <= WIDTH == 80
    text = re.sub(r"\s+", " ", " ".join(lines))
    assert all(f"{name} (partial)" in text for name in names)


def test_columns_that_do_not_fit_follow_below() -> None:
    lines = comparison_table([record("ecmp", WIDE, 9), record("rlb", same(7), 1)], "balancer").splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("balancer")]
    assert len(heads) == 3
    titles = [word for number in heads for word in re.split(r"\s{2,}", lines[number])[1:]]
    assert titles == ["seeds", "bus", "job", "FCT", "slowdown", "peak", "marks", "pauses", "drops", "out of"]
    for number in heads:
        assert lines[number + 3].startswith("ecmp") and "123.5k" in lines[number + 3]
        assert "99,999-999.9k" in lines[number + 4]
        assert lines[number + 5].startswith("rlb")


def test_partial_variants_and_drops_have_colors() -> None:
    found = [record("rlb", same(0)), record("dlb", same(7)), record("ecmp", same(0), complete=False)]
    lines = comparison_table(found, "balancer", painted).splitlines()
    assert [line.count("\x1b[33m") for line in lines] == [0, 0, 0, 0, 1, 0]
    assert lines[4].endswith("\x1b[33m    7\x1b[0m       7")
    assert lines[5].startswith("\x1b[1;31mecmp (partial)\x1b[0m")
    assert re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)).split() == comparison_table(found, "balancer").split()


def test_a_name_cannot_set_a_style() -> None:
    assert "\x1b" not in comparison_table([record("a\x1b[32mb", same(0))], "variant")
