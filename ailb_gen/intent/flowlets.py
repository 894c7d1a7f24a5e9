"""How long DLB waits for the end of a flowlet: longer than paths differ in delay, shorter than a job pauses."""

import math
from typing import Literal

JobName = Literal["all-reduce", "all-to-all", "dlrm"]
# Pauses between the bursts of a job in microseconds, none in nccl-tests (docs/studies/balancers: 0.5 ms in DLRM).
PAUSES_US: dict[JobName, int] = {"all-reduce": 0, "all-to-all": 0, "dlrm": 500}
# Round trip of an empty fabric: eight links of 1 µs, as `simulate` has them.
RTT_US = 8
# A queue in which marking begins (docs/studies/balancers); ECN keeps queues near it.
MARKED_BYTES = 709_000
LONGEST_US = 32_000


def interval_range(job: JobName, speed_gbps: int) -> tuple[int, int]:
    """Return the shortest and the longest inactivity interval for a job, in microseconds.

    A flowlet on another path must not overtake the last one: that one waits in the queues of an uplink and of a
    spine's port, all of `speed_gbps`, and the other in none. A job without pauses has no longest one.
    """
    shortest = RTT_US + math.ceil(2 * MARKED_BYTES * 8 / (speed_gbps * 1000))
    return shortest, max(PAUSES_US[job] or LONGEST_US, shortest)
