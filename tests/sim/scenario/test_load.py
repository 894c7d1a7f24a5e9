"""Golden errors of scenario files: `tests/errors/scenario/*.yaml` and the exact messages beside them.

`make golden` renews the messages; read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.sim.scenario.load import parse
from tests.conftest import ROOT

ERRORS = ROOT / "tests" / "errors" / "scenario"
CASES = sorted(path.stem for path in ERRORS.glob("*.yaml"))


def messages(path: Path) -> str:
    try:
        parse(path.read_text(encoding="utf-8"), path.name)
    except IntentError as error:
        return f"{error}\n"
    return ""


@pytest.mark.parametrize("name", CASES)
def test_messages_are_exact(name: str) -> None:
    got = messages(ERRORS / f"{name}.yaml")
    expected = ERRORS / f"{name}.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got, "a bad input must be told"
    assert got == expected.read_text(encoding="utf-8")
