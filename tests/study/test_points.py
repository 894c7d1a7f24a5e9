"""The points of a study: names, seeds, extras, generated fabrics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.study.extras import CompletionCdf
from ailb_gen.study.model import Case
from ailb_gen.study.points import folder_of, study_points
from tests.conftest import ROOT
from tests.study.made import SCENARIO, STUDY


def test_a_point_per_case_and_seed() -> None:
    extra = {"cdf": CompletionCdf("all-reduce")}
    study = replace(STUDY, cases=(Case("one", SCENARIO, extra), Case("two", {**SCENARIO, "seeds": [7]})))
    with folder_of(study) as folder:
        points, warnings = study_points(study, folder)
    assert [(point.variant, point.seed, point.extras) for point in points] == [
        ("one", 1, extra),
        ("one", 2, extra),
        ("two", 7, {}),
    ]
    assert warnings == []


def test_fabrics_are_generated_and_read_as_files() -> None:
    text = (ROOT / "examples" / "lab" / "fabric.yaml").read_text(encoding="utf-8")
    scenario = {**SCENARIO, "fabric": {"files": {"fabric": "lab/fabric.yaml", "artifacts": "lab/files"}}}
    study = replace(STUDY, intents={"lab": text}, cases=(Case("from files", scenario),))
    with folder_of(study) as folder:
        points, _ = study_points(study, folder)
        assert (folder / "lab" / "files").is_dir()
    assert not folder.exists()
    assert any(name.endswith("leaf1") for name in points[0].fabric.names)


def test_a_case_is_one_scenario() -> None:
    study = replace(STUDY, cases=(Case("swept", {**SCENARIO, "sweep": {"seeds": [1, 2]}}),))
    with pytest.raises(UsageError, match="made-up: swept: a case is one scenario"):
        study_points(study, study.folder)


def test_a_wrong_scenario_is_named_by_its_case() -> None:
    study = replace(STUDY, cases=(Case("wrong", {**SCENARIO, "balancer": "ecmb"}),))
    with pytest.raises(IntentError, match=r"study made-up: wrong: .*did you mean 'ecmp'"):
        study_points(study, study.folder)
