"""Small workloads, and the textbook's max-min fair rates."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ailb_gen.sim.fluid.state import FluidState
from ailb_gen.sim.workload import Workload
from tests.sim.engine.cases import flows, waiting

Path = Mapping[int, float]


def workload(rows: Sequence[tuple[int, int, int, int]], edges: Iterable[tuple[int, int]] = ()) -> Workload:
    """Return tasks of (source, target, amount, start), the number in the list as port and queue pair, and who waits."""
    source, target, amount, start = zip(*rows, strict=True)
    return waiting(flows(source, target, amount, start, queue_pair=np.arange(len(rows))), edges)


def fair_rates(paths: Sequence[Path], capacity: Sequence[float]) -> list[float]:
    """Return max-min fair rates by progressive filling: all rates grow alike until a link of a flow is full."""
    rates: dict[int, float] = {}
    while len(rates) < len(paths):
        level, full = float("inf"), -1
        for link in range(len(capacity)):
            growing = sum(path.get(link, 0.0) for flow, path in enumerate(paths) if flow not in rates)
            if growing > 0:
                used = sum(path.get(link, 0.0) * rates[flow] for flow, path in enumerate(paths) if flow in rates)
                level, full = min((level, full), (max(capacity[link] - used, 0.0) / growing, link))
        rates |= {flow: level for flow, path in enumerate(paths) if flow not in rates and path.get(full, 0.0) > 0}
    return [rates[flow] for flow in range(len(paths))]


def flows_of(state: FluidState) -> tuple[list[int], list[Path], list[float]]:
    """Return the flows that are sending: their tasks, what links carry of each, and their rates."""
    run = state.run[0]
    tasks, rates = [], []
    paths: list[Path] = []
    for slot in state.flowing[: run["flowing"]].tolist():
        flow, path = state.flows[slot], dict[int, float]()
        first = slot << int(run["width"])
        for entry in state.entries[first : first + int(flow["count"])]:
            path[int(entry["link"])] = path.get(int(entry["link"]), 0.0) + float(entry["share"])
        tasks.append(int(flow["task"]))
        paths.append(path)
        rates.append(float(flow["rate"]))
    return tasks, paths, rates
