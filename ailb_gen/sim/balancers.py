"""The declarations of the load balancers: name, parameters with ranges and sources, and how flows choose paths.

Everything else follows from them: numbers in the engine, the record of parameters, schema, messages, the reference
page. What a load balancer does packet by packet are the hooks of that name in a module of `engine/balancers/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# As in `fabric.py`: completion on the command line reads these names, and has no time for NumPy.
PS_PER_S, PS_PER_US = 10**12, 10**6
# How flows choose paths where no packets are simulated: a member by hash; the one with the least load; the one by which
# the most loaded of two links has the least; all evenly.
HASHED, LEAST_LOADED, LEAST_LOADED_NEXT, SPREAD = range(4)
# Of every parameter that has no other bound: times of as many µs are far from what the engine can count.
MOST = 1e9
# The end of a parameter's name, and what it stands for.
UNITS = {"us": "µs", "percent": "%", "bytes": "bytes", "packets": "packets", "rate": "1/s", "mbps": "Mbit/s"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a load balancer or of congestion control; its unit is the end of its name.

    `least` and `most` are allowed, too.
    """

    name: str
    default: float
    text: str
    least: float = 0.0
    most: float = MOST

    @property
    def unit(self) -> str:
        """The unit, empty for a plain number."""
        return UNITS.get(self.name.rpartition("_")[2], "")

    @property
    def field(self) -> str:
        """The name in the engine, which has times, and periods in place of rates, in ps, and bytes per ps."""
        stem, _, end = self.name.rpartition("_")
        return {"us": f"{stem}_ps", "rate": f"{stem}_period_ps", "mbps": f"{stem}_speed"}.get(end, self.name)

    def value(self, given: float) -> float:
        """Return the engine's value for a given one."""
        match self.name.rpartition("_")[2]:
            case "us":
                return given * PS_PER_US
            case "rate":
                return PS_PER_S / given
            case "mbps":
                return given * 10**6 / 8 / PS_PER_S
        return given


@dataclass(frozen=True, slots=True)
class Balancer:
    """A load balancer. `source` says where rule and defaults come from.

    `rule` is how flows choose paths (HASHED, ...); they hash where the parameter `hashed_without` is 0. `reorders`:
    packets of a flow overtake each other all the time, since it moves without waiting.
    """

    name: str
    text: str
    source: str
    rule: int
    parameters: tuple[Parameter, ...] = ()
    hashed_without: str = ""
    reorders: bool = False

    def values(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return all parameters by name, those that are not given as by default."""
        return {one.name: given.get(one.name, one.default) for one in self.parameters}

    def flow_rule(self, given: Mapping[str, float]) -> int:
        """Return how flows choose paths with some parameters."""
        hashed = self.hashed_without and not self.values(given)[self.hashed_without]
        return HASHED if hashed else self.rule


POLARIZED = Parameter("same_seed", 0, "1: all switches use the same hash (polarization)", 0, 1)
BY_START = Parameter("hash_start", 0, "1: the start time of a flow is hashed instead of its port", 0, 1)
CHUNK = Parameter(
    "chunk_packets", 0, "packets per chunk: paths change and round trips count per chunk; 0: no chunks", 0, 1 << 20
)
# Defaults are those of Junos where it has one: the YANG module junos-conf-forwarding-options of 24.4R1-EVO, but for the
# weight, which the documentation gives as equal. Junos has none for the sampling rate: that is Juniper's in its
# validated design for GPU fabrics. How long a queue is at which band is not published.
QUEUE_BANDS = (
    Parameter("min_queue_bytes", 16_384, "queue up to which the band is 7"),
    Parameter("max_queue_bytes", 262_144, "queue above which the band is 0"),
)
DLB_BANDS = (
    Parameter("rate_weight_percent", 50, "weight of the load in the quality (rate-weightage)", 0, 100),
    Parameter("min_percent", 50, "load up to which the band is 7, the best", 0, 100),
    Parameter("max_percent", 90, "load above which the band is 0, the worst", 0, 100),
    *QUEUE_BANDS,
    Parameter("sampling_rate", 1_000_000, "samples of load and queue per second", 1),
)
FLOWSETS = Parameter(
    "flowset_entries", 256, "entries of a next-hop set's flowset table (flowset-table-size), shared", 1, 1 << 16
)
DLB_FLOWLET = (
    FLOWSETS,
    Parameter("inactivity_us", 256, "silence after which a flow may move (inactivity-interval)"),
    Parameter("quality_delta", 0, "an active flow may move to a band better by at least this; 0: never", 0, 7),
    Parameter("probability", 3 / 256, "probability of that per packet: prob-threshold / 256", 0, 1),
)
# None of these is published.
FLOODS = (
    Parameter("flood_us", 100, "interval at which spines flood the quality of their links", 0.001),
    Parameter("flood_delay_us", 10, "delay until leaves know it"),
)
DYNAMIC = Parameter("dynamic", 1, "0: a hash instead of DLB among several next hops", 0, 1)
_JUNOS = "Junos documentation of `forwarding-options enhanced-hash-key ecmp-dlb`"
_ROWS = (
    Balancer("ecmp", "hash of the flow", "RFC 2992", HASHED, (POLARIZED, BY_START)),
    Balancer("spray", "a random member per packet", "Dixit et al., INFOCOM 2013", SPREAD, reorders=True),
    Balancer(
        "adaptive",
        "the member with the fewest waiting packets, per packet, NICs included",
        "Zeltser 2026",
        SPREAD,
        reorders=True,
    ),
    Balancer(
        "drill",
        "the shortest of some random queues and the remembered best one",
        "Ghorbani et al., SIGCOMM 2017",
        SPREAD,
        (
            Parameter("samples", 2, "random members sampled", 1, 16),
            Parameter("memory", 1, "members remembered", 0, 1),
            Parameter(
                "by_destination",
                0,
                "1: one is remembered per destination, bytes count, equal ones do not move (ConWeave's simulator)",
                0,
                1,
            ),
        ),
        reorders=True,
    ),
    Balancer(
        "letflow",
        "a random member after a gap in the flow",
        "Vanini et al., NSDI 2017",
        HASHED,
        (Parameter("gap_us", 100, "silence that ends a flowlet"),),
    ),
    Balancer(
        "presto",
        "flowcells of a flow over all paths in turn",
        "He et al., SIGCOMM 2015",
        SPREAD,
        (Parameter("cell_bytes", 65_536, "size of a flowcell", 1),),
        reorders=True,
    ),
    Balancer(
        "flowlet",
        "a new hash after a number of packets of a flow",
        "Zeltser 2026",
        HASHED,
        (Parameter("packets", 64, "packets of a flowlet", 1), POLARIZED, BY_START),
        reorders=True,
    ),
    Balancer(
        "conga",
        "the least congested path between two leaves, per flowlet",
        "Alizadeh et al., SIGCOMM 2014",
        HASHED,
        (
            Parameter("gap_us", 100, "silence that ends a flowlet"),
            Parameter("dre_us", 50, "interval of the discounting rate estimator", 0.001),
            Parameter("alpha", 0.2, "its discount factor", 0, 1),
            Parameter("bits", 3, "of a congestion metric", 1, 8),
            Parameter("aging_us", 500, "age at which a remote metric expires"),
            Parameter("samples", 4, "random paths compared", 1, 64),
            Parameter(
                "acks", 1, "0: acknowledgements carry no metrics (ConWeave's simulator, Song et al., 2023)", 0, 1
            ),
        ),
    ),
    Balancer(
        "conweave",
        "another path when a reply is late; the last switch restores the order of packets",
        "Song et al., SIGCOMM 2023",
        HASHED,
        (
            Parameter("reply_us", 8, "deadline of a reply"),
            Parameter("pause_us", 16, "time a path is avoided after a NOTIFY"),
            Parameter("inactivity_us", 300, "silence that starts a new epoch"),
            Parameter("resume_us", 216, "wait of rerouted packets for earlier ones while none of these has arrived"),
            Parameter("slack_us", 16, "additional wait after the expected arrival of the last one"),
            Parameter("samples", 2, "random paths sampled", 1, 16),
        ),
    ),
    Balancer(
        "dlb",
        "quality bands of load and queue, per flowlet",
        _JUNOS,
        LEAST_LOADED,
        (*DLB_BANDS, *DLB_FLOWLET, DYNAMIC),
        hashed_without="dynamic",
    ),
    Balancer("dlb-per-packet", "quality bands of load and queue, per packet", _JUNOS, SPREAD, DLB_BANDS, reorders=True),
    Balancer(
        "dlb-assigned-flow",
        "the best band for the first packet of a flow, kept",
        _JUNOS,
        LEAST_LOADED,
        (*DLB_BANDS, FLOWSETS),
    ),
    Balancer(
        "glb",
        "DLB with the link quality that spines flood",
        f"{_JUNOS}, `protocols bgp global-load-balancing`",
        LEAST_LOADED_NEXT,
        (*DLB_BANDS, *DLB_FLOWLET, DYNAMIC, *FLOODS),
        hashed_without="dynamic",
    ),
    Balancer(
        "spectrum-x",
        "the best queue per packet, local or flooded by spines, like NVIDIA Spectrum-X; NICs take packets in any order",
        "NVIDIA's descriptions of adaptive routing for RoCE; all numbers are assumptions",
        SPREAD,
        (*QUEUE_BANDS, *FLOODS),
        reorders=True,
    ),
    Balancer(
        "seqbalance",
        "the first switch places new flows on paths that were not marked lately; a flow never moves",
        "Luo et al. 2024; the numbers are ConWeave's",
        HASHED,
        (
            Parameter("pause_us", 16, "time a path is avoided after a congestion packet"),
            Parameter("samples", 2, "random paths tried in place of an avoided one", 1, 16),
        ),
    ),
    Balancer(
        "rlb",
        "the color of the queue pair decides; among several next hops (after failures) DLB",
        "Juniper, RDMA-aware load balancing with BGP-DPF",
        LEAST_LOADED,
        (*DLB_BANDS, *DLB_FLOWLET, DYNAMIC),
        hashed_without="dynamic",
    ),
    Balancer(
        "flowbender",
        "hosts send a flow on a random other path when too many packets of a round trip are marked",
        "Kabbani et al., CoNEXT 2014",
        HASHED,
        (
            Parameter("marked_percent", 5, "threshold of the share of marked packets", 0, 100),
            Parameter("late_factor", 0, "0: count marks; else replies later than this many base round trips"),
            CHUNK,
        ),
    ),
    Balancer(
        "plb",
        "hosts send a flow on a random other path after many round trips with marks, sooner when nothing is in flight",
        "Qureshi et al., SIGCOMM 2022; defaults of Linux (tcp_plb)",
        HASHED,
        (
            Parameter("marked_percent", 50, "share of marked packets above which a round trip is congested", 0, 100),
            Parameter("idle_rounds", 3, "congested round trips in a row after which an idle flow moves", 1),
            Parameter("rounds", 12, "congested round trips in a row after which any flow moves", 1),
            Parameter("suspend_us", 60e6, "after a timeout no other move for one to two times this"),
        ),
    ),
    Balancer(
        "mp-rdma",
        "packets of a connection over many paths, each clocked by its acknowledgements; slow paths are left",
        "Lu et al., NSDI 2018",
        SPREAD,
        (
            Parameter(
                "spread_packets", 32, "a path whose packets are acknowledged later than this many others is left"
            ),
            Parameter("new_path", 0.01, "probability that a packet takes a random path", 0, 1),
        ),
        reorders=True,
    ),
    Balancer(
        "hopper",
        "hosts probe other paths when round trips grow, and switch when one is clearly better",
        "Nosrati and Ghaderi 2025",
        HASHED,
        (
            Parameter("alpha", 1, "weight of a new round trip in the average", 0, 1),
            Parameter("probe_factor", 1.5, "average / base round trip from which paths are probed", 1),
            Parameter("congested_factor", 2.5, "average / base round trip from which the path is left", 1),
            Parameter("probe_life_factor", 4, "age of a probe's result, in base round trips, at which it expires"),
            Parameter("margin", 0.8, "the new round trip must be below this share of the old one", 0, 1),
            Parameter("paths", 2, "random paths probed at a time", 1, 8),
            CHUNK,
            Parameter("probe_bytes", 0, "size of a probe; 0: that of an acknowledgement", 0, 1 << 20),
        ),
    ),
)
BALANCERS = {row.name: row for row in _ROWS}
# The names of the parameters of DLB, which switches can have of their own.
DLB = tuple(one.name for one in BALANCERS["rlb"].parameters)
# In the engine load balancers are known by the place of their declaration.
NUMBERS = {name: number for number, name in enumerate(BALANCERS)}
