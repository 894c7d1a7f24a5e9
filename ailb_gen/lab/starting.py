"""The start of a lab: addresses of links, daemons, routers that are heard, sessions and routes, the kernels last.

A daemon that brings every route into the kernel when it comes, and changes it with every further path, takes five
times as long with a hundred switches.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ailb_gen.lab.convergence import wait
from ailb_gen.lab.state import LabFabric

PAUSE_S = 0.02
# What has not come so long after the last may never come. The kernel gives links carrier once a second. BIRD advertises
# at once, which is lost at a link without an address, and then 3 s later (RFC 4861, 10, MIN_DELAY_BETWEEN_RAS).
SILENCE_S = 4.0


def start(fabric: LabFabric, timeout_s: float) -> tuple[str, ...]:
    """Start the daemons of all switches that are configured, and wait until nothing happens any more.

    Returns what is missing then, as text; at the latest after `timeout_s`, which may be exceeded by what is begun.
    Raises LabError.
    """
    latest = time.monotonic() + timeout_s
    _until_settled(fabric.unaddressed, latest)
    fabric.start()
    _until_settled(fabric.unheard, latest)
    fabric.connect()
    wait(fabric.plan, latest - time.monotonic(), kernels=False)
    fabric.forward()
    # What is down by now has been waited for.
    return (*fabric.unheard(), *wait(fabric.plan, latest - time.monotonic(), quiet_s=0.0))


def _until_settled(missing: Callable[[], tuple[str, ...]], latest: float) -> None:
    """Wait until nothing is missing any more, or until nothing has come for a while."""
    before, since = missing(), time.monotonic()
    while before and time.monotonic() < min(latest, since + SILENCE_S):
        time.sleep(PAUSE_S)
        now = missing()
        if now != before:
            before, since = now, time.monotonic()
