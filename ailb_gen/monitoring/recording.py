"""Recording rules: counters with color, rail, stripe and peer, loads against the expected ones, and what is located.

Names are those of Prometheus's practice, level:metric:operation. Rules of a group are evaluated in their order: each
one reads what those before it recorded at the same time. Rates are those between the last two samples (`irate`). The
first one after a change mixes the time before and after it, so thresholds hold for MIXED of it as well, and what is
compared with each other is mixed alike. Samples have the time of the switch: without it, the loads of two links that
are sampled at different moments would differ. Such series end without a mark, so states count for as long as they may
be renewed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ailb_gen.design.colors import ALL_COLORS
from ailb_gen.design.model import Color, Design
from ailb_gen.monitoring.collector import COUNTERS, Collector
from ailb_gen.monitoring.timing import Timing

# A leaf that sends or receives less than this per uplink has no load to compare: sessions and probes alone.
IDLE_BPS = 1_000_000
# Loads as multiples of the expected one: nothing to speak of; nothing, with MIXED of the time before (0.33 where the
# leaf has half of its traffic now); too much for a link or a spine.
SILENT, SHORT, HIGH = 0.05, 0.36, 1.25
# Of the load of its color everywhere, below which a link, or a leaf, has less than the color.
LESS = 0.5
# Of what one color lacks, how much one other has more when prefixes have that. ECMP spreads what is on its backup: of
# four queue pairs over three colors it may put three on one.
WHOLE = 0.8
UP, ESTABLISHED = 1, 6
# Counters that loads follow from; the others stand still where all is right.
_OF_LOADS = ("tx_octets", "rx_octets")
_PORT = "fabric, device, interface"
_LABELS = "color, peer, role, stripe, rail"


class Recording(NamedTuple):
    """A recording rule."""

    record: str
    expr: str


def recording_rules(design: Design, collector: Collector, timing: Timing) -> list[Recording]:
    """Return the recording rules of a fabric that alerts at once read, in the order in which they are evaluated."""
    one = f'fabric="{design.name}"'
    rates = (_rate(one, collector, timing, key) for key in _OF_LOADS)
    return [*rates, *_states(one, collector, timing), *_loads(one), *_located(one, design), *_uneven(one)]


def lasting_rules(design: Design, collector: Collector, timing: Timing) -> list[Recording]:
    """Return those that only alerts read which wait."""
    one = f'fabric="{design.name}"'
    return [_rate(one, collector, timing, key) for key in COUNTERS if key not in _OF_LOADS]


def _labeled(one: str, collector: Collector, series: str) -> str:
    """Return series of ports with the labels of the link."""
    port = f'label_replace({series}, "interface", "$1", "{collector.port_label}", "(.+)")'
    info = f"max by ({_PORT}, {_LABELS}) (ailb_uplink_info{{{one}}})"
    return f"max by ({_PORT}) ({port}) * on ({_PORT}) group_left ({_LABELS}) {info}"


def _rate(one: str, collector: Collector, timing: Timing, key: str) -> Recording:
    """Return the rate of a counter of uplinks."""
    rate = _labeled(one, collector, f"irate({collector.metrics[key]}{{{one}}}[{timing.window_s}s])")
    unit, factor = (key.replace("octets", "bits"), "8 * ") if key.endswith("octets") else (key, "")
    return Recording(f"ailb_uplink:{unit}:rate", factor + rate)


def _states(one: str, collector: Collector, timing: Timing) -> Iterator[Recording]:
    """Yield the states of uplinks, and the sessions by switch."""
    link_state = f"last_over_time({collector.metrics['link_state']}{{{one}}}[{timing.window_s}s])"
    yield Recording("ailb_uplink:up:bool", _labeled(one, collector, f"({link_state} == bool {UP})"))
    session_state = f"{collector.metrics['session_state']}{{{one}}}[{timing.sessions_window_s}s]"
    up = f"sum by (fabric, device) (last_over_time({session_state}) == bool {ESTABLISHED})"
    # A neighbor that was discovered vanishes with its session: a switch with counters and no neighbor has none.
    none = f"0 * max by (fabric, device) (ailb_uplink:up:bool{{{one}}})"
    yield Recording("ailb_switch:sessions:established", f"{up} or {none}")
    missing = f"max by (fabric, device) (ailb_switch_expected_sessions{{{one}}}) - on (fabric, device) "
    yield Recording("ailb_switch:sessions:missing", f"{missing}ailb_switch:sessions:established{{{one}}}")
    # What a link that is down explains; a switch without such a link has none.
    down = f"count by (fabric, device) (ailb_uplink:up:bool{{{one}}} == 0) or 0 * ailb_switch:sessions:missing{{{one}}}"
    yield Recording(
        "ailb_switch:sessions:unexplained", f"ailb_switch:sessions:missing{{{one}}} - on (fabric, device) ({down}) > 0"
    )
    # What rates may still hold the effects of.
    recent = f"[{timing.recent_s}s]"
    yield Recording("ailb_uplink:down:recent", f"min_over_time(ailb_uplink:up:bool{{{one}}}{recent}) == 0")
    yield Recording("ailb_switch:sessions:recent", f"last_over_time(ailb_switch:sessions:unexplained{{{one}}}{recent})")


def _loads(one: str) -> Iterator[Recording]:
    """Yield loads as multiples of the expected ones: of uplinks, of colors at a leaf and everywhere, of spines."""
    for way in ("tx", "rx"):
        bits, of_leaf = f'ailb_uplink:{way}_bits:rate{{{one}, role="leaf"}}', "by (fabric, device)"
        busy = f"sum {of_leaf} ({bits}) > {IDLE_BPS} * count {of_leaf} ({bits})"
        yield Recording(f"ailb_leaf:{way}_bits:busy", busy)
        share = f'max by ({_PORT}) (ailb_uplink_expected_share{{{one}, direction="{way}"}})'
        of_leaf_load = f"on (fabric, device) group_left () ailb_leaf:{way}_bits:busy{{{one}}}"
        yield Recording(
            f"ailb_uplink:{way}_load:ratio", f"{bits} / {of_leaf_load} / on ({_PORT}) group_left () {share}"
        )
        yield Recording(f"ailb_leaf:{way}_load:max", f"max {of_leaf} (ailb_uplink:{way}_load:ratio{{{one}}})")
    place = "fabric, device, stripe, rail, color"
    received = f'ailb_uplink:rx_bits:rate{{{one}, role="leaf"}}'
    color_share = (
        "sum by (fabric, device, color) (max by (fabric, device, color, interface) "
        f'(ailb_uplink_expected_share{{{one}, direction="rx"}}))'
    )
    yield Recording(
        "ailb_color:rx_load:ratio",
        f"sum by ({place}) ({received}) / on (fabric, device) group_left () ailb_leaf:rx_bits:busy{{{one}}} "
        f"/ on (fabric, device, color) group_left () {color_share}",
    )
    sent = f'ailb_uplink:tx_bits:rate{{{one}, role="leaf"}}'
    total = f"on (fabric) group_left () sum by (fabric) (ailb_leaf:tx_bits:busy{{{one}}})"
    yield Recording(
        "ailb_fabric:color_load:ratio",
        f"sum by (fabric, color) ({sent}) / {total} "
        f"/ on (fabric, color) max by (fabric, color) (ailb_color_expected_share{{{one}}})",
    )
    yield Recording(
        "ailb_fabric:spine_load:ratio",
        f'sum by (fabric, spine) (label_replace({sent}, "spine", "$1", "peer", "(.+)")) / {total} '
        f"/ on (fabric, spine) max by (fabric, spine) (ailb_spine_expected_share{{{one}}})",
    )


def _located(one: str, design: Design) -> Iterator[Recording]:
    """Yield what is wrong at one leaf and color: one cause each, the others leave out what it explains."""
    by_color, color_here = "on (fabric, color)", "on (fabric, device, color)"
    yield Recording(
        "ailb_color:links:down", f'count by (fabric, device, color) (ailb_uplink:up:bool{{{one}, role="leaf"}} == 0)'
    )
    sent = f"ailb_uplink:tx_load:ratio{{{one}}}"
    less = f"{sent} / {by_color} group_left () ailb_fabric:color_load:ratio{{{one}}} < {LESS}"
    yield Recording(
        "ailb_uplink:mute:ratio",
        f"({sent} < {SILENT} or ({sent} < {SHORT} and on ({_PORT}) ({less}))) "
        f"unless on ({_PORT}) ailb_uplink:down:recent{{{one}}} "
        f"unless on (fabric, device) ailb_switch:sessions:recent{{{one}}}",
    )
    # Compared with the color everywhere: a hot spine, or one that is down, makes no leaf special.
    received = f"ailb_color:rx_load:ratio{{{one}}}"
    yield Recording(
        "ailb_color:short:ratio",
        f"{received} / {by_color} group_left () ailb_fabric:color_load:ratio{{{one}}} < {LESS} "
        f"and {color_here} {received} < {SHORT}",
    )
    wrong = "\n  or ".join(_wrong(one, color) for color in design.colors)
    yield Recording("ailb_color:wrong:ratio", wrong)
    backed = "|".join(color.name for color in design.colors if color.backup)
    unless = f"unless {color_here} ailb_color:wrong:ratio{{{one}}} unless {color_here} ailb_uplink:mute:ratio{{{one}}}"
    if backed:
        short = f'ailb_color:short:ratio{{{one}, color=~"{backed}"}}'
        everywhere = f'ailb_fabric:color_load:ratio{{{one}, color=~"{backed}"}}'
        yield Recording("ailb_color:moved:ratio", f"{short} {unless}\n  or {everywhere} < {SILENT}")
    yield Recording(
        "ailb_uplink:silent:ratio",
        f"ailb_uplink:mute:ratio{{{one}}} unless {by_color} "
        f"(ailb_color:wrong:ratio{{{one}}} or ailb_color:moved:ratio{{{one}}})",
    )


def _uneven(one: str) -> Iterator[Recording]:
    """Yield spines and leaves with too much load that nothing else explains."""
    down, unexplained = f'ailb_uplink:down:recent{{{one}, role="leaf"}}', f"ailb_switch:sessions:recent{{{one}}}"
    leaves = f"count by (fabric) (ailb_leaf:tx_bits:busy{{{one}}})"
    lost = f"{unexplained} and on (fabric, device) ailb_leaf:tx_bits:busy{{{one}}}"
    # The traffic of a leaf, to it and from it, takes other links than one that is down or has no session.
    more = " + ".join(
        f"2 * ({count} or 0 * {leaves})" for count in (f"count by (fabric) ({down})", f"sum by (fabric) ({lost})")
    )
    yield Recording("ailb_fabric:load:limit", f"{HIGH} + ({more}) / {leaves}")
    above = f"> on (fabric) group_left () ailb_fabric:load:limit{{{one}}}"
    located = " or ".join(
        f"{name}{{{one}}}" for name in ("ailb_color:wrong:ratio", "ailb_color:moved:ratio", "ailb_uplink:silent:ratio")
    )
    spines = f"ailb_fabric:spine_load:ratio{{{one}}}"
    # Where most of them have too much, the others have too little.
    most = f"count by (fabric) ({spines} {above}) > 0.5 * count by (fabric) ({spines})"
    yield Recording(
        "ailb_fabric:spine_hot:ratio",
        f"{spines} {above} unless on (fabric) ({located} or {spines} < {SILENT}) unless on (fabric) ({most})",
    )
    highest = f'max by (fabric, device) ({{__name__=~"ailb_leaf:[rt]x_load:max", {one}}})'
    yield Recording(
        "ailb_leaf:uneven:ratio",
        f"{highest} {above} unless on (fabric, device) {down} unless on (fabric, device) {unexplained} "
        f"unless on (fabric) ({located} or ailb_fabric:spine_hot:ratio{{{one}}} or {spines} < {SILENT})",
    )


def _wrong(one: str, color: Color) -> str:
    """Return where a leaf receives nothing by a color and its part by one other: its prefixes have that.

    What one color lacks, that one has more; on its backup, with all colors, each of the others has a part of it.
    """
    names = [color.name] + ([color.backup] if color.backup not in ("", ALL_COLORS) else [])
    here, of_leaf = "on (fabric, device, color)", "on (fabric, device)"
    short = f'ailb_color:short:ratio{{{one}, color="{color.name}"}}'
    others = f'ailb_color:rx_load:ratio{{{one}, color!~"{"|".join(names)}"}}'
    return (
        f"{short} and {of_leaf} ({others} - 1 > {of_leaf} group_left () {WHOLE} * (1 - {short})) "
        f'unless {here} ailb_uplink:down:recent{{{one}, role="leaf"}} unless {here} ailb_uplink:mute:ratio{{{one}}} '
        f"unless {of_leaf} ailb_switch:sessions:recent{{{one}}}"
    )
