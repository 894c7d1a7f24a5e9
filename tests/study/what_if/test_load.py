"""Golden errors of what-if files: `tests/errors/what_if/*.yaml` and the exact messages beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.study.what_if.load import parse
from tests.sim.scenario.golden import check_messages, wrong_files


@pytest.mark.parametrize("path", wrong_files("what_if"), ids=lambda path: path.stem)
def test_messages_are_exact(path: Path) -> None:
    check_messages(path, parse)
