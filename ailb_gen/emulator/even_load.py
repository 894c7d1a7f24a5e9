"""Rates of an even load: what a collective puts on every link between switches, as the files forward it."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.forwarding.link_loads import loads_of
from ailb_gen.forwarding.patterns import PATTERNS
from ailb_gen.network.fabric import End
from ailb_gen.network.routed import read_routed
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import did_you_mean


def parse_load(text: str) -> tuple[str, float]:
    """Read `PATTERN=PERCENT`: a collective, and how much of its speed the most loaded link has. Raises UsageError."""
    pattern, _, percent = text.partition("=")
    if pattern not in PATTERNS:
        hint = did_you_mean(pattern, PATTERNS) or f"there are {', '.join(PATTERNS)}"
        raise UsageError(f"--traffic {text!r}: there is no pattern {pattern!r}; {hint}")
    try:
        share = float(percent) / 100
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise UsageError(f"--traffic {text!r}: write PATTERN=PERCENT with more than 0 and at most 100 %, as ring=40")
    return pattern, share


def load_rates(root: Path, pattern: str, share: float) -> dict[End, LinkRate]:
    """Return what every port between switches sends, of an artifact directory.

    The most loaded link has `share` of the lowest speed of a cable. Raises UsageError for files that cannot be read, or
    where no cable has a speed.
    """
    routing = Routing(read_routed(root))
    cables = [session.cable for session in routing.graph.sessions.up]
    speed = min((cable.speed_bps for cable in cables if cable.speed_bps), default=0)
    loads = loads_of(routing, pattern)
    if not speed or not loads:
        raise UsageError(f"{root}: no link with a speed comes up there; without one there is no --traffic")
    rates = {}
    for cable in cables:
        for end, load in zip((cable.a, cable.b), loads[cable.name], strict=True):
            rates[end] = LinkRate(load * share * speed)
    return rates
