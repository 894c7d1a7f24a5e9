"""What routes do while a growth is pushed: the fabric in every state between its waves, from files alone.

Every switch before has its new or its old file. Cables are those of the larger fabric: on a port that its switch does
not use yet there is no session. Nothing is lost as long as each session that was up stays up, and each next hop stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.planning import Paths, Position, Wave, waves
from ailb_gen.deploy.switch_state import FabricModel
from ailb_gen.network.fabric import Network
from ailb_gen.network.sessions import Sessions
from ailb_gen.progress import Progress
from ailb_gen.routing.rib import Routing


@dataclass(frozen=True, slots=True)
class GrowthState:
    """The fabric behind a wave of a push, which counts from 1: how many sessions are up, and what is lost, as text.

    `lost` are sessions that were up before all pushes, and next hops that switches had then.
    """

    push: int
    wave: Wave
    sessions: int
    lost: tuple[str, ...]


def growth_states(
    before: Network, after: Network, pushes: Sequence[Sequence[Position]], colors: Sequence[str], progress: Progress
) -> tuple[GrowthState, ...]:
    """Return all states of a growth in order: `pushes` are the switches of each push, which changes those that differ.

    `colors` are those of the fabric, in order.
    """
    planned = [
        (number, wave)
        for number, seats in enumerate(_changed(before, after, pushes), 1)
        for wave in waves(seats, colors, Paths({}), 0)
    ]
    model = FabricModel(before.switches, after.roles, after.links, after.attachments)
    old = Routing(before)
    found = []
    with progress("computing routes", len(planned)) as advance:
        for number, wave in planned:
            model = model.after({name: after.switches[name] for name in wave.devices})
            lost = (*_sessions(old.graph.sessions, model.sessions), *_next_hops(old, Routing(model.network)))
            found.append(GrowthState(number, wave, len(model.sessions.up), lost))
            advance(1)
    return tuple(found)


def _changed(before: Network, after: Network, pushes: Sequence[Sequence[Position]]) -> Iterator[list[Position]]:
    """Yield the switches that each push changes."""
    now = dict(before.switches)
    for seats in pushes:
        changed = [seat for seat in seats if now.get(seat.name) != after.switches[seat.name]]
        now |= {seat.name: after.switches[seat.name] for seat in changed}
        yield changed


def _sessions(old: Sessions, now: Sessions) -> Iterator[str]:
    """Yield the sessions that are no longer up."""
    left = {one.cable.name for one in now.up}
    yield from (f"session {one.cable.name}" for one in old.up if one.cable.name not in left)


def _next_hops(old: Routing, now: Routing) -> Iterator[str]:
    """Yield the next hops that switches no longer have, by prefix: of those that are alike in both states, one."""
    for prefix in _samples(old, now):
        for name, device in old.graph.index.items():
            left = set(now.next_hops(now.graph.index[name], prefix))
            for hop in old.next_hops(device, prefix):
                if hop not in left:
                    yield f"{prefix} of {name} by {hop.interface}"


def _samples(old: Routing, now: Routing) -> list[Prefix]:
    kinds = {prefix: number for number, kind in enumerate(now.kinds) for _, prefix in kind}
    found: dict[tuple[int, int], Prefix] = {}
    for number, kind in enumerate(old.kinds):
        for _, prefix in kind:
            found.setdefault((number, kinds.get(prefix, -1)), prefix)
    return [*found.values()]
