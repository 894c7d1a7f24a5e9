"""The start of a lab, and whether its daemons have nothing left to tell each other, nor the kernels.

Addresses of links come first, then daemons, routers that are heard, sessions and routes, the kernels last: a daemon
that brings every route into the kernel when it comes, and changes it with every further path, takes five times as long
with a hundred switches.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass

from ailb_gen.lab.bird import parse
from ailb_gen.lab.bird.control import NoDaemonError
from ailb_gen.lab.bird.model import SessionState
from ailb_gen.lab.kernel import Kernels
from ailb_gen.lab.links import LOSING
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.polling import settled
from ailb_gen.lab.routers import bird_of
from ailb_gen.lab.state import LabFabric

# The least pause between two readings of all switches. Seconds.
PAUSE_S = 0.05
# The time since the last change after which sessions that are down are no longer waited for. Seconds.
QUIET_S = 3.0
# The time without progress after which the rest may never come. The kernel gives links carrier once a second. BIRD
# advertises at once, which is lost at a link without an address, and then 3 s later (RFC 4861, 10,
# MIN_DELAY_BETWEEN_RAS).
SILENCE_S, START_PAUSE_S = 4.0, 0.02

# The sessions of all switches by name and link.
States = Mapping[str, Mapping[str, SessionState]]


@dataclass(frozen=True, slots=True)
class LabStatus:
    """The state of all switches: pending updates, sessions that are down and might come up, and all counters."""

    busy: tuple[str, ...]
    down: tuple[str, ...]
    numbers: tuple[object, ...]


def start(fabric: LabFabric, timeout_s: float) -> tuple[str, ...]:
    """Start the daemons of all switches that are configured, and wait until nothing happens any more.

    Returns what is missing then, as text; at the latest after `timeout_s`, which may be exceeded by what is begun.
    Raises LabError.
    """
    latest = time.monotonic() + timeout_s

    def all_come(missing: Callable[[], tuple[str, ...]]) -> None:
        settled(missing, operator.not_, latest - time.monotonic(), SILENCE_S, START_PAUSE_S)

    all_come(fabric.unaddressed)
    fabric.start()
    all_come(fabric.unheard)
    fabric.connect()
    wait(fabric.plan, latest - time.monotonic(), kernels=False)
    fabric.forward()
    # What is down by now has been waited for.
    return (*fabric.unheard(), *wait(fabric.plan, latest - time.monotonic(), quiet_s=0.0))


def wait(plan: LabPlan, timeout_s: float, kernels: bool = True, quiet_s: float = QUIET_S) -> tuple[str, ...]:
    """Wait until every daemon has what its neighbors send, and every kernel what its daemon has.

    Returns the rest that is missing, as text: sessions that are down although both ends have one and a link, and
    after `timeout_s` pending updates. For sessions that are down it waits until nothing has changed for
    `quiet_s`. Without `kernels` only the daemons count. Raises LabError.
    """
    latest = time.monotonic() + timeout_s
    with closing(Kernels()) as watched:
        before, since = status(plan, watched, kernels), time.monotonic()
        while True:
            time.sleep(PAUSE_S)
            now = status(plan, watched, kernels)
            if now.numbers != before.numbers:
                since = time.monotonic()
            quiet = time.monotonic() - since
            if not now.busy and quiet > 0 and now.numbers == before.numbers and (not now.down or quiet > quiet_s):
                return now.down
            if time.monotonic() > latest:
                return (*now.busy, *now.down)
            before = now


def status(plan: LabPlan, watched: Kernels, kernels: bool = True) -> LabStatus:
    """Return the state of all switches whose daemon runs. Raises LabError."""
    states = {}
    for name in plan.switches:
        with suppress(NoDaemonError):
            states[name] = {one.link: one for one in parse.sessions(bird_of(name)).values()}
    carriers = _carriers(plan, watched, states)
    busy, down = list(_unequal(plan, states, carriers)), list(_down(plan, states, carriers))
    if kernels and not busy:
        busy += _kernels(watched, states)
    numbers = tuple(
        (name, link, one.established, one.imported, one.hidden, one.exported, one.updates_received, one.updates_sent)
        for name, rows in states.items()
        for link, one in rows.items()
    )
    return LabStatus(tuple(busy), tuple(down), numbers)


def _carriers(plan: LabPlan, watched: Kernels, states: States) -> dict[str, set[str]]:
    """Return the links with carrier of every switch, but for those that were made to lose all packets."""
    known = {name: watched.links(name) for name in states}
    found = {name: {link.name for link in rows.values() if link.carrier} for name, rows in known.items()}
    for name, rows in known.items():
        for port in plan.switches[name].ports.values():
            if rows[port.link].group & LOSING:
                found[name].discard(port.link)
                if port.far.device in found:
                    found[port.far.device].discard(plan.link(port.far))
    return found


def _pairs(plan: LabPlan, states: States) -> Iterator[tuple[str, str, SessionState, SessionState]]:
    """Yield name, link and both ends of every session that two daemons are configured for, from each end."""
    for name, rows in states.items():
        for port in plan.switches[name].ports.values():
            far = states.get(port.far.device, {})
            there = plan.link(port.far) if far else ""
            if port.link in rows and there in far:
                yield name, port.link, rows[port.link], far[there]


def _unequal(plan: LabPlan, states: States, carriers: Mapping[str, set[str]]) -> Iterator[str]:
    for name, link, here, there in _pairs(plan, states):
        if here.established and link not in carriers[name]:
            yield f"{name}: the session on {link} is still up, over a link that has failed"
        elif here.established and there.established and here.exported != there.imported + there.hidden:
            received = there.imported + there.hidden
            yield f"{name}: {here.exported} routes are sent on {link}, {received} have arrived"


def _down(plan: LabPlan, states: States, carriers: Mapping[str, set[str]]) -> Iterator[str]:
    for name, link, here, _ in _pairs(plan, states):
        if not here.established and link in carriers[name]:
            yield f"{name}: the session on {link} is {here.trouble}"


def _kernels(watched: Kernels, states: States) -> Iterable[str]:
    for name, rows in states.items():
        # One route of every prefix is active.
        expected, found = sum(one.active for one in rows.values()), len(watched.routes(name))
        if found != expected:
            yield f"{name}: {expected} prefixes are learned, {found} are in the kernel"
