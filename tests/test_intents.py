"""Random fabric files: whatever `generate` takes without an error, `validate` finds nothing wrong with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.checks.model import RunOptions
from ailb_gen.checks.run import run
from ailb_gen.design.build import build
from ailb_gen.errors import IntentError
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.checks.test_run import ALL
from tests.conftest import SHARED, examples, intent_of
from tests.intents import random_intent, random_mixed

# `AILB_EXAMPLES=20` draws several hundred. A few numbers fix what was found once.
COUNT = examples(24)
MODELS = SHARED / "yang" / "24.4R1-EVO"
# What a release without these statements says; `generate` has warned.
BUFFERS = ("shared-buffer", "dedicated-buffer")


@pytest.mark.parametrize("make", [random_intent, random_mixed])
@pytest.mark.parametrize("seed", range(COUNT))
def test_what_generate_takes_validate_does_not_reject(make: Callable[[int], str], seed: int, tmp_path: Path) -> None:
    try:
        intent = intent_of(make(seed))
        design, warnings = build(intent)
    except IntentError as error:
        assert all(problem.reason for problem in error.problems)
        return
    write_rendering(rendering(design, tmp_path / "out", RenderOptions()))
    models = MODELS if MODELS.is_dir() else None
    done = run(intent, tmp_path / "out", RunOptions(ALL, models, executor="serial"))
    warned = any(warning.code == "release-dependent" for warning in warnings)
    told = [
        f"{finding.check} {finding.scope}: {finding.message}"
        for result in done.results
        for finding in result.findings
        if str(result.check.severity) != "note" and not (warned and any(word in finding.message for word in BUFFERS))
    ]
    assert told == []


@pytest.mark.parametrize("make", [random_intent, random_mixed])
def test_most_random_intents_are_usable(make: Callable[[int], str]) -> None:
    taken = 0
    for seed in range(60):
        try:
            build(intent_of(make(seed)))
        except IntentError:
            continue
        taken += 1
    assert 24 <= taken < 60
