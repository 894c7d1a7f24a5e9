"""The order in which a pipeline stage does its forward and backward passes."""

from typing import Literal

Schedule = Literal["1f1b", "gpipe"]
Direction = Literal["forward", "backward"]
# Direction, microbatch and virtual stage.
Operation = tuple[Direction, int, int]


def operations(stage: int, stages: int, microbatches: int, schedule: Schedule, virtual: int = 1) -> list[Operation]:
    """Return the operations of a stage in order.

    "gpipe": all forward passes, then all backward passes (Huang et al. 2019). "1f1b": as many forward passes as
    stages follow, then one forward and one backward in turn (PipeDream-Flush; Narayanan et al. 2021). With `virtual`
    parts of the model per stage, `stages` microbatches pass one part before the next one begins (the interleaved
    schedule of Narayanan et al. 2021), and `microbatches` must be a multiple of `stages`.
    """
    total = microbatches * virtual
    following = stages - 1 - stage
    ahead = following if virtual == 1 else 2 * following + (virtual - 1) * stages
    ahead = total if schedule == "gpipe" else min(ahead, total)
    result = [_operation("forward", number, stages, virtual) for number in range(ahead)]
    for number in range(total):
        if ahead + number < total:
            result.append(_operation("forward", ahead + number, stages, virtual))
        result.append(_operation("backward", number, stages, virtual))
    return result


def _operation(direction: Direction, number: int, stages: int, virtual: int) -> Operation:
    """Return the operation at a place among those of one direction."""
    part = number // stages % virtual
    microbatch = number // (stages * virtual) * stages + number % stages
    return direction, microbatch, part if direction == "forward" else virtual - 1 - part
