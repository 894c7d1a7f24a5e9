"""The results of traffic as tables and bar charts, 80 columns wide unless names are long."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ailb_gen.addresses import address_text
from ailb_gen.lab.traffic.model import FlowResult, TrafficResult, Uplink
from ailb_gen.paint import Paint, Style, heading, unpainted
from ailb_gen.wording import aligned, clean, counted

# Columns: of a line, of a bar at least and at most, of an uplink's name at least, of a number with blanks around it.
WIDTH, LEAST_BAR, BAR, FIRST, NUMBER = 80, 4, 24, 30, 12
# The busiest uplink of a leaf over the mean of its uplinks.
PEAK = "peak/mean"
MOST_LEAVES, MOST_FLOWS = 4, 12
# Warn if the machine sends less than this share of the packets.
SLOW = 0.9
BLOCKS = " ▏▎▍▌▋▊▉█"
# Styles of values other than 0, by heading.
STYLES = {"lost": Style.FAIL, "reordered": Style.WARN, "outage ms": Style.WARN}


def report(results: Mapping[str, TrafficResult], paint: Paint = unpainted) -> str:
    """Write the results of runs by name: packets, then bytes per uplink of the leaves that differ most."""
    lines = [*_packets(results, paint), "", *_uplinks(results, paint)]
    for name, result in results.items():
        interrupted = [flow for flow in result.flows if flow.lost or flow.late]
        if interrupted:
            title = paint(f"{name}: flows with loss or reordering", Style.HEAD)
            lines += ["", title, *_flows(interrupted, paint)]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Sequence[object]], paint: Paint) -> list[str]:
    def styled(row: int, column: int, text: str) -> str:
        style = STYLES.get(str(rows[0][column]))
        if row < 1 or style is None or not text.strip(" 0."):
            return heading(row, text, paint)
        return paint(text, style)

    return aligned(rows, numbers=True, paint=styled, width=WIDTH)


def _packets(results: Mapping[str, TrafficResult], paint: Paint) -> Iterator[str]:
    head = ("traffic", "flows", "packets", "lost", "reordered", "outage ms", PEAK)
    rows = []
    for name, result in results.items():
        outage = max(flow.outage_ms for flow in result.flows)
        spread = max(result.spread().values(), default=0.0)
        numbers = (len(result.flows), result.sent, result.lost, result.late)
        rows.append((name, *(f"{number:,}" for number in numbers), f"{outage:.0f}", f"{spread:.3f}"))
    yield from _table([head, *rows], paint)
    for name, result in results.items():
        if result.achieved < result.load.rate * SLOW:
            sent = f"this machine sent {result.achieved:,.0f} packets per second and flow"
            yield paint(f"{name}: {sent}, not {result.load.rate:,g}", Style.WARN)


def _uplinks(results: Mapping[str, TrafficResult], paint: Paint) -> Iterator[str]:
    """Draw the uplinks of some leaves: those with the largest spread in any run."""
    spreads: dict[str, float] = {}
    for result in results.values():
        for leaf, spread in result.spread().items():
            spreads[leaf] = max(spread, spreads.get(leaf, 0.0))
    shown = sorted(spreads, key=lambda leaf: (-round(spreads[leaf], 3), leaf))[:MOST_LEAVES]
    most = max((size for result in results.values() for size in result.uplinks.values()), default=0) or 1
    title = f"bytes per uplink{'; the leaves with the largest spread' if len(shown) < len(spreads) else ''}"
    yield paint(title, Style.HEAD)
    for leaf in sorted(shown):
        uplinks = [uplink for uplink in next(iter(results.values())).uplinks if uplink.leaf == leaf]
        yield from _leaf(leaf, uplinks, results, most)
    if len(shown) < len(spreads):
        rest = max(spreads[leaf] for leaf in spreads if leaf not in shown)
        yield f"{counted(len(spreads) - len(shown), 'more leaf')}: {PEAK} {rest:.3f} or less"


def _leaf(leaf: str, uplinks: Sequence[Uplink], results: Mapping[str, TrafficResult], most: int) -> Iterator[str]:
    names = [f"  {clean(uplink.port):<12} {clean(uplink.spine)}" for uplink in uplinks]
    first = max(FIRST, 2 + max(map(len, names), default=0))
    room = max(LEAST_BAR, min(BAR, (WIDTH - first) // len(results) - NUMBER))
    heads = (f"{f'{name}, MB':<{room + NUMBER - 2}}" for name in results)
    yield f"{clean(leaf):<{first}}{'  '.join(heads)}".rstrip()
    for name, uplink in zip(names, uplinks, strict=True):
        sizes = (result.uplinks.get(uplink, 0) for result in results.values())
        cells = (f"{size / 1e6:9.3f} {bar(size / most, room)}" for size in sizes)
        yield f"{name:<{first}}{'  '.join(cells)}".rstrip()
    peaks = (result.spread().get(leaf) for result in results.values())
    cells = (f"{'-' if peak is None else f'{peak:.3f}':>9} {'':{room}}" for peak in peaks)
    yield f"{f'  {PEAK}':<{first}}{'  '.join(cells)}".rstrip()


def as_json(results: Mapping[str, TrafficResult]) -> str:
    """Write results as JSON, by the name of the run."""
    return json.dumps({name: _object(result) for name, result in results.items()}, indent=1) + "\n"


def _object(result: TrafficResult) -> dict[str, object]:
    spreads = {leaf: round(spread, 6) for leaf, spread in result.spread().items()}
    return {
        "packets": result.sent,
        "lost": result.lost,
        "reordered": result.late,
        "seconds": round(result.seconds, 3),
        "peak_over_mean": spreads,
        # As it was called at first.
        "max_over_mean": spreads,
        "uplinks": [
            {"leaf": one.leaf, "port": one.port, "spine": one.spine, "bytes": size}
            for one, size in result.uplinks.items()
        ],
        "flows": [
            {
                "source": f"{one.flow.source}:{one.flow.source_nic}",
                "source_address": address_text(one.flow.source_address),
                "target": f"{one.flow.target}:{one.flow.target_nic}",
                "target_address": address_text(one.flow.target_address),
                "qp": one.flow.qp + 1,
                "packets": one.sent,
                "lost": one.lost,
                "reordered": one.late,
                "outage_ms": round(one.outage_ms, 3),
            }
            for one in result.flows
        ],
    }


def bar(share: float, width: int) -> str:
    """Draw a share of 1 as a bar, exact to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (BLOCKS[rest] if rest else "")).ljust(width)


def _flows(flows: Sequence[FlowResult], paint: Paint) -> Iterator[str]:
    worst = sorted(flows, key=lambda flow: (-flow.lost, -flow.late, str(flow.flow)))
    head = ("flow", "lost", "reordered", "outage ms")
    rows = [
        (clean(str(one.flow)), f"{one.lost:,}", f"{one.late:,}", f"{one.outage_ms:.1f}") for one in worst[:MOST_FLOWS]
    ]
    yield from _table([head, *rows], paint)
    if len(worst) > MOST_FLOWS:
        yield f"and {len(worst) - MOST_FLOWS:,} more"
