"""Golden errors of scenario files: `tests/errors/scenario/*.yaml` and the exact messages beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.sim.scenario.load import parse
from tests.sim.scenario.golden import check_messages, wrong_files


@pytest.mark.parametrize("path", wrong_files("scenario"), ids=lambda path: path.stem)
def test_messages_are_exact(path: Path) -> None:
    check_messages(path, lambda text, name, folder: parse(text, name))
