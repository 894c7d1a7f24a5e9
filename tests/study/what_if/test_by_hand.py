"""Jobs on 1,024 GPUs: the step that the page shows, within 10 % of a calculation by hand from the same file.

tests/docs/test_walkthroughs.py runs the commands of the page.
"""

from __future__ import annotations

import re

import pytest

from ailb_gen.study.what_if.job import alone_ps, amounts
from ailb_gen.study.what_if.load import load
from ailb_gen.study.what_if.models import LanguageModel, TrainingJob
from tests.conftest import EXAMPLES, ROOT

PS_PER_S = 10**12
# Bytes per second.
NIC, NVLINK = 400e9 / 8, 3600e9 / 8
SERVER = 8


def dense(job: TrainingJob, model: LanguageModel) -> float:
    """Seconds of communication of a job whose tensor-parallel groups are servers."""
    vector = model.sequence * model.hidden * 2
    layers = model.layers / job.pipeline
    # Two all-reduces per layer, forward and backward.
    passes = 4 * layers * 2 * (SERVER - 1) / SERVER * vector / NVLINK
    gradients = 2 * (job.data - 1) / job.data * model.parameters * 2 / (job.tensor * job.pipeline) / NIC
    return (job.microbatches + job.pipeline - 1) * passes + gradients + stages(job, vector / SERVER)


def experts(job: TrainingJob, model: LanguageModel) -> float:
    """Seconds of communication of a job without tensor parallelism, with experts spread over servers."""
    assert model.expert_parameters is not None
    vector = model.sequence * model.hidden * 2
    layers = model.layers / job.pipeline
    # To the experts and back, forward and backward, all but what stays in the server.
    passes = 4 * layers * model.top_k * vector * (job.expert - SERVER) / job.expert / NIC
    shared = (model.parameters - model.expert_parameters) * 2 / job.pipeline
    copies = job.data // job.expert
    own = model.expert_parameters * 2 / (job.expert * job.pipeline)
    gradients = 2 * (job.data - 1) / job.data * shared / SERVER / NIC + 2 * (copies - 1) / copies * own / NIC
    return (job.microbatches + job.pipeline - 1) * passes + gradients + stages(job, vector)


def stages(job: TrainingJob, size: float) -> float:
    """Seconds of activations and their gradients while the pipeline fills and drains."""
    return 2 * (job.pipeline - 1) * size / NIC


@pytest.mark.parametrize(("name", "communication"), [("dense", dense), ("experts", experts)])
def test_the_step_on_the_page_is_that_by_hand(name: str, communication: object) -> None:
    what_if = load(EXAMPLES / "study" / f"{name}.yaml").what_if
    model = what_if.job.model
    assert model is not None
    assert callable(communication)
    waiting = communication(what_if.job, model)
    step = alone_ps(what_if.job, amounts(what_if.job)) / PS_PER_S + waiting
    page = (ROOT / "docs/what-if.md").read_text(encoding="utf-8")
    shown = re.search(rf"study/{name}\.yaml -o.*?a step takes ([0-9.]+) s under rlb\. ([0-9.]+) %", page, re.DOTALL)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(step, rel=0.1)
    # The part that the fabric and NVLink have in it, too.
    assert float(shown[1]) * float(shown[2]) / 100 == pytest.approx(waiting, rel=0.1)
    assert f"**{step:.3f} s**" in page
