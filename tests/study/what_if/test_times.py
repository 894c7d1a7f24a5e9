"""Tables of measured times: their sums, what a job takes from them, and cells that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.study.what_if.job import amounts
from ailb_gen.study.what_if.load import parse
from ailb_gen.study.what_if.times import read_times
from tests.conftest import EXAMPLES

TABLE = """\
operation,count,forward_us,backward_us
embedding,,10,20
attention,80,752.5,1505
mlp,80,750,1500
"""
PS_PER_US = 10**6


def test_the_sum_is_spread_over_the_stages() -> None:
    found = read_times(TABLE, "t.csv")
    assert found.of_stage(1) == ((10 + 80 * 1502.5) * PS_PER_US, (20 + 80 * 3005) * PS_PER_US)
    assert found.of_stage(4) == ((10 + 80 * 1502.5) / 4 * PS_PER_US, (20 + 80 * 3005) / 4 * PS_PER_US)


def test_a_job_takes_what_it_does_not_give_itself(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    text = f"""\
fabric: {EXAMPLES / "lab/fabric.yaml"}
job: {{data: 4, pipeline: 2, times: t.csv, backward: 1ms, gradient_bytes: 1MB, activation_bytes: 1kB}}
balancers: ecmp
"""
    found = amounts(parse(text, "f.yaml", tmp_path).what_if.job)
    assert (found.forward, found.backward) == ((10 + 80 * 1502.5) / 2 * PS_PER_US, 10**9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operation,forward_us,backward_us\n", "t.csv:1:1: error[missing-key]: the table has no operation"),
        (TABLE.replace("752.5", "fast"), "t.csv:3:3: error[wrong-type]: forward_us: 'fast' is not a time in us"),
        (TABLE.replace("mlp,80", "mlp,0"), "t.csv:4:2: error[wrong-type]: count: '0' is not a whole number"),
        (TABLE.replace("count", "number"), "unknown column"),
        (TABLE.replace(",1500", ""), "error[csv-row]: the row has 3 cells, the header 4"),
    ],
)
def test_errors_are_said_by_cell(text: str, message: str) -> None:
    with pytest.raises(IntentError) as caught:
        read_times(text, "t.csv")
    assert message in str(caught.value)
