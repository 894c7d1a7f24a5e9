"""Rates of ports as users write them: a collective on every link between switches, or one port."""

from __future__ import annotations

import re
from pathlib import Path

from ailb_gen.emulator.traffic import NO_LOSS, LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.link_loads import loads_of
from ailb_gen.forwarding.patterns import PATTERNS
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch, read_speed
from ailb_gen.network.routed import read_routed
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import did_you_mean

# `leaf1:et-0/0/0=100g`, `leaf1:et-0/0/0=100g/2.5` with a percentage that is dropped.
FORM = re.compile(r"([^:=]+):([^=]+)=(0|[0-9]+[gmGM])(?:/([0-9]{1,3}(?:\.[0-9]{1,6})?))?")


def parse_load(text: str) -> tuple[str, float]:
    """Read `PATTERN=PERCENT`: a collective, and how much of its speed the most loaded link has. Raises UsageError."""
    pattern, _, percent = text.partition("=")
    if pattern not in PATTERNS:
        hint = did_you_mean(pattern, PATTERNS) or f"there are {', '.join(PATTERNS)}"
        raise UsageError(f"--link-traffic {text!r}: there is no pattern {pattern!r}; {hint}")
    try:
        share = float(percent) / 100
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise UsageError(
            f"--link-traffic {text!r}: write PATTERN=PERCENT with more than 0 and at most 100 %, as ring=40"
        )
    return pattern, share


def parse_rate(text: str) -> tuple[End, LinkRate]:
    """Read `DEVICE:PORT=SPEED` or `DEVICE:PORT=SPEED/PERCENT`: what a port sends, and drops. Raises UsageError."""
    found = FORM.fullmatch(text)
    dropped = float(found[4] or 0) / 100 if found is not None else 0.0
    if found is None or dropped > 1:
        raise UsageError(
            f"--port-rate {text!r}: write DEVICE:PORT=SPEED with a speed as 0, 100g or 10m, and /PERCENT behind it if "
            "packets are dropped, as spine1:et-0/0/0=100g/2"
        )
    return End(found[1], found[2]), LinkRate(read_speed(found[3]) or 0, dropped)


def load_rates(root: Path, pattern: str, share: float) -> dict[End, LinkRate]:
    """Return what every port between switches sends, of an artifact directory.

    The most loaded link has `share` of the lowest speed of a cable. Raises UsageError where no cable has a speed.
    """
    routing = Routing(read_routed(root))
    cables = [session.cable for session in routing.graph.sessions.up]
    speed = min((cable.speed_bps for cable in cables if cable.speed_bps), default=0)
    loads = loads_of(routing, pattern)
    if not speed or not loads:
        raise UsageError(f"{root}: no link with a speed comes up there; without one there is no --link-traffic")
    queues = {name: _queue(switch) for name, switch in routing.graph.network.switches.items()}
    return {
        end: LinkRate(load * share * speed, queue=queues[end.device])
        for cable in cables
        for end, load in zip((cable.a, cable.b), loads[cable.name], strict=True)
    }


def _queue(switch: Switch) -> int:
    """Return the queue of RDMA: that of the first lossless class."""
    lossless = (one.queue for one in switch.cos.classes if one.no_loss and one.queue is not None)
    return next(lossless, NO_LOSS)
