"""Golden errors of what-if files: `tests/errors/what_if/*.yaml` and the exact messages beside them.

`make golden` renews the messages; read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ailb_gen.errors import IntentError
from ailb_gen.study.what_if.load import parse
from tests.conftest import ROOT

ERRORS = ROOT / "tests" / "errors" / "what_if"
CASES = sorted(path.stem for path in ERRORS.glob("*.yaml"))


def messages(path: Path) -> str:
    try:
        parse(path.read_text(encoding="utf-8"), path.name, ERRORS)
    except IntentError as error:
        return f"{error}\n".replace(f"{ROOT}/", "")
    return ""


@pytest.mark.parametrize("name", CASES)
def test_messages_are_exact(name: str) -> None:
    got = messages(ERRORS / f"{name}.yaml")
    expected = ERRORS / f"{name}.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got, "a bad input must be told"
    assert got == expected.read_text(encoding="utf-8")
