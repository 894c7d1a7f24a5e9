"""Golden errors: bad input in `tests/errors/*.yaml`, and the exact messages it gives beside it.

`NAME.before` is the fabric that stood there before `NAME.yaml`. `make golden` renews the messages; read the diff.
"""

import os
from pathlib import Path

import pytest

from ailb_gen.design.build import build
from ailb_gen.design.problems import collapsed
from ailb_gen.design.recolored import OldColors, recolored
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import parse
from ailb_gen.network.extra_config import warnings as not_modeled
from tests.conftest import ROOT

ERRORS = ROOT / "tests" / "errors"
CASES = sorted(path.stem for path in ERRORS.glob("*.yaml"))


def colors_of(path: Path) -> OldColors:
    """Return the colors of a fabric as it was before."""
    design = build(parse(path.read_text(encoding="utf-8"), path.name, ERRORS))[0]
    links = {(row.leaf, row.leaf_interface, row.spine, row.spine_interface): row.color.name for row in design.links}
    return OldColors(tuple(color.name for color in design.colors), links)


def messages(path: Path) -> str:
    """Return what the user reads: all errors, or the warnings of a usable file, which may replace another."""
    text = path.read_bytes().decode("utf-8")
    try:
        intent = parse(text, path.name, ERRORS)
        design, warnings = build(intent)
        warnings += tuple(collapsed(not_modeled(intent)))
        if path.with_suffix(".before").exists():
            warnings += tuple(recolored(intent, design, colors_of(path.with_suffix(".before")), "build"))
    except IntentError as error:
        return f"{error}\n"
    return "".join(f"{warning}\n" for warning in warnings)


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_messages_are_exact(name: str) -> None:
    got = messages(ERRORS / f"{name}.yaml")
    expected = ERRORS / f"{name}.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got, "a bad input must be told"
    assert got == expected.read_text(encoding="utf-8")
