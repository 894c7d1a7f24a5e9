"""Results of a simulation, as arrays by task and by link."""

from collections.abc import Callable
from dataclasses import dataclass

from ailb_gen.sim.fabric import Float64, Int32, Int64

# In place of a time: it has not come.
NEVER = -1
# What the engine counts of a whole run, and all totals: those, and two sums over the links.
COUNTS = (
    "packets",  # data, sent for the first time
    "acks",
    "nacks",
    "cnps",
    "timeouts",
    "retransmissions",
    "drops",
    "trimmed",
    "lost",
    "unreachable",
    "events",
)
TOTALS = (*COUNTS, "data_hops", "hops")
# What the engine counts of every task, and of every link.
TASK_COUNTS = ("retransmitted", "out_of_order", "distance", "rerouted")
LINK_COUNTS = ("packets", "bytes", "peak_bytes", "drops", "lost", "marks", "pauses")


@dataclass(frozen=True, slots=True)
class Series:
    """N intervals, and what happened in them on the links between K pairs of tiers; loads are shares of the rate."""

    edges_ps: Int64  # (N + 1,)
    tiers: tuple[str, ...]  # K
    mean_load: Float64  # (K, N)
    max_load: Float64  # (K, N) of the busiest link
    peak_packets: Int64  # (K, N)
    marks: Int64  # (K, N)
    pauses: Int64  # (K, N)
    drops: Int64  # (K, N)


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """Times and counts of T tasks, L directed links and the whole run. A fluid run counts bytes, and no packets."""

    start_ps: Int64  # (T,) NEVER: not started
    finish_ps: Int64  # (T,) NEVER: not ended
    retransmitted: Int32  # (T,) packets sent again
    marked: Int32  # (T,) marks that came back to the sender
    out_of_order: Int32  # (T,) packets that arrived after a later one
    distance: Int32  # (T,) by how many packets, at most
    rerouted: Int32  # (T,) how often the path changed
    link_packets: Int64  # (L,) sent
    link_bytes: Int64  # (L,)
    link_peak: Int32  # (L,) most packets that waited, the one that is being sent not counted
    link_peak_bytes: Int64  # (L,)
    link_drops: Int64  # (L,) dropped for lack of buffer before this link
    link_lost: Int64  # (L,) lost on the link: random loss and failures
    link_marks: Int64  # (L,)
    link_pauses: Int64  # (L,) pause frames that stopped this link
    link_paused_ps: Int64  # (L,) how long any class of it was stopped
    histogram: Int64  # (L, 32) packets by the number that waited before them: 0, 1, 2-3, 4-7, ...
    load: Int64  # (samples, L) bytes sent per interval
    load_interval_ps: int
    totals: dict[str, int]  # by name: TOTALS
    end_ps: int
    # False: stopped before all tasks ended.
    complete: bool
    # What happened over time, if there was a sampler.
    series: Series | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a running simulation."""

    now_ps: int
    events: int
    ended: int
    tasks: int


# Gets the progress several times a second; the run ends early when it returns False.
Watch = Callable[[Progress], bool]
