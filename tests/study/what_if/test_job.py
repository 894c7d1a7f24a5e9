"""What a job computes and sends: against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ailb_gen.study.what_if.job import Amounts, alone_ps, amounts, memory_bytes
from ailb_gen.study.what_if.models import TrainingJob

MODEL = {"parameters": "8B", "layers": 32, "hidden": 4096, "sequence": 2048}
GPU = {"flops": "1P", "utilization": "50%"}
MS = 10**9


def job(**values: Any) -> TrainingJob:
    return TrainingJob.model_validate({"model": MODEL, "gpu": GPU, **values})


def test_times_are_six_flop_per_parameter_and_token() -> None:
    """8B * 2048 tokens * 6 FLOP on 2 * 2 GPUs of 0.5 PFLOP/s: 16.384 ms forward, twice that back."""
    found = amounts(job(tensor=2, pipeline=2))
    assert (found.forward, found.backward) == (round(16.384 * MS), round(32.768 * MS))


def test_sizes_are_those_of_megatron() -> None:
    found = amounts(job(data=2, tensor=4, pipeline=2))
    assert found.tensor_bytes == 2048 * 4096 * 2
    assert found.tensor_collectives == 2 * 16
    assert found.activation_bytes == 2048 * 4096 * 2 // 4
    assert found.gradient_bytes == 2 * 10**9


def test_what_a_job_lacks_is_not_sent() -> None:
    found = amounts(job(tensor=4))
    assert (found.activation_bytes, found.gradient_bytes) == (0, 0)
    assert amounts(job(data=4)).tensor_bytes == 0


def test_what_is_given_counts() -> None:
    found = amounts(job(data=2, gradient_bytes="1kB", forward="3ms", tensor_bytes=0, optimizer="1ms"))
    assert (found.gradient_bytes, found.forward, found.tensor_bytes, found.optimizer) == (1000, 3 * MS, 0, MS)
    assert found.backward == round(2 * 2 * 32.768 * MS)


@pytest.mark.parametrize(
    ("values", "bytes_per_parameter"),
    [({"data": 4}, 2 + 2 + 12), ({"data": 4, "gradients": "sharded"}, 2 + 2 + 3), ({"data": 1}, 16)],
)
def test_memory_is_that_of_mixed_precision_and_adam(values: dict[str, Any], bytes_per_parameter: int) -> None:
    """Rajbhandari et al. 2020, section 3.1: 16 bytes per parameter; stage 1 spreads the 12 of Adam."""
    one = job(tensor=8, **values)
    assert one.model is not None
    assert memory_bytes(one, one.model) == bytes_per_parameter * 10**9


def test_a_step_alone_has_the_bubble() -> None:
    """(p - 1) passes more than microbatches (Narayanan et al. 2021)."""
    one = job(data=2, pipeline=4, microbatches=8, forward="1ms", backward="2ms", optimizer="5ms")
    assert alone_ps(one, amounts(one)) == (8 + 3) * 3 * MS + 5 * MS


def test_scaling_divides_what_takes_time() -> None:
    whole = Amounts(1000, 2000, 3, 400, 7, gradient_bytes=5000)
    assert whole.scaled(1) == whole
    assert whole.scaled(100) == Amounts(10, 20, 1, 4, 7, gradient_bytes=50)
