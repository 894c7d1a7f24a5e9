"""The declarations of congestion control: name, source, what it measures, parameters with ranges.

Everything else follows from them: numbers in the engine, the record of parameters, schema, messages, the reference
page. What a congestion control does with answers are the hooks of that name in a module of `engine/congestion/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ailb_gen.sim.balancers import Parameter

MARKS, ROUND_TRIPS, TELEMETRY = "ECN marks", "round trips", "telemetry of switches (INT)"


@dataclass(frozen=True, slots=True)
class CongestionControl:
    """A congestion control; `signal` is what it goes by. `source` says where rule and defaults come from.

    `telemetry` is the parameter that says into how many bytes of a packet switches write; empty: they write nothing.
    """

    name: str
    text: str
    signal: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    telemetry: str = ""

    def values(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return all parameters by name, those that are not given as by default."""
        return {one.name: given.get(one.name, one.default) for one in self.parameters}


# Of the timers of DCQCN, a tenth of the shortest published ones: all that expire between two packets are gone through.
SHORTEST_US = 0.1
MINIMUM = Parameter("minimum_percent", 0.1, "least rate of a flow, of that of its link", 0.0001, 100)
_ROWS = (
    CongestionControl("none", "flows send at the rate of their link", "nothing", ""),
    CongestionControl(
        "dcqcn",
        "marks cut the rate; timers raise it again",
        MARKS,
        "Zhu et al., SIGCOMM 2015, without byte counter; defaults of ConWeave's simulator (Song et al., SIGCOMM 2023)",
        # At 100 Gbit/s, for every rate: NICs have fixed steps, and scaled ones make no consistent difference
        # (docs/simulate-fluid.md).
        (
            Parameter("gain", 1 / 256, "weight of a new sample in alpha", 1e-9, 1),
            Parameter("alpha_interval_us", 1, "between updates of alpha", SHORTEST_US),
            Parameter("cut_interval_us", 4, "least time between two cuts of the rate", SHORTEST_US),
            Parameter("increase_interval_us", 300, "between increases of the rate", SHORTEST_US),
            Parameter(
                "fast_recovery_stages",
                1,
                "increases halfway to the rate before the cut, then additive, then hyper",
                0,
                # After so many halvings nothing is left to recover.
                2**16 - 2,
            ),
            Parameter("additive_mbps", 40, "step of an additive increase", 1e-6),
            Parameter("hyper_mbps", 100, "step of a hyper increase", 1e-6),
            Parameter("minimum_mbps", 100, "lowest rate of a flow", 1e-6),
        ),
    ),
    CongestionControl(
        "dctcp",
        "the share of marked packets of a round trip cuts the window; without marks it grows by a packet",
        MARKS,
        "Alizadeh et al., SIGCOMM 2010; a flow starts with a bandwidth-delay product",
        (Parameter("mark_gain", 1 / 16, "weight of the last round trip in the share", 1e-9, 1),),
    ),
    CongestionControl(
        "timely",
        "the gradient of the round trips cuts the rate between two thresholds",
        ROUND_TRIPS,
        "Mittal et al., SIGCOMM 2015; a flow starts at the rate of its link",
        (
            Parameter("low_us", 50, "round trip up to which the rate rises (T_low)"),
            Parameter("high_us", 500, "round trip above which the rate is cut (T_high)", 1e-6),
            Parameter("least_us", 20, "round trip to which differences are relative (minRTT)", 1e-6),
            Parameter("gradient_weight", 0.875, "weight of a new difference of round trips", 0, 1),
            Parameter("timely_beta", 0.8, "decrease factor", 0, 1),
            # 10 Mbit/s at 10 Gbit/s.
            Parameter("additive_percent", 0.1, "additive step, of the rate of the link", 0, 100),
            Parameter(
                "hyper_after", 5, "falling round trips in a row from which five steps are taken at once", 1, 1000
            ),
            MINIMUM,
        ),
    ),
    CongestionControl(
        "swift",
        "a window that grows below a target for the round trip, and shrinks above; below one packet it is a pace",
        ROUND_TRIPS,
        "Kumar et al., SIGCOMM 2020; where the paper has no number, csg-htsim's. The target is a multiple of the idle "
        "round trip of the flow, which counts its hops; a flow starts with a bandwidth-delay product",
        (
            Parameter("target_factor", 1.5, "target / idle round trip, without scaling for many flows", 1),
            Parameter("range_factor", 5, "most that many flows add to the target, in targets"),
            Parameter("scale_from_packets", 0.1, "window up to which all of it is added", 0.001, 1),
            Parameter("scale_to_packets", 100, "window from which nothing is added", 2),
            Parameter("swift_increase", 1, "additive increase per round trip, in packets", 1e-6),
            Parameter("swift_beta", 0.8, "decrease factor", 0, 1),
            Parameter("most_decrease", 0.5, "largest decrease of a round trip", 0, 1),
            Parameter("least_packets", 0.001, "least window", 1e-6),
            Parameter("reset_timeouts", 5, "timeouts in a row after which the window is the least", 1),
        ),
    ),
    CongestionControl(
        "hpcc",
        "switches write queue, sent bytes and time into every packet; the window fills the fullest link to a share",
        TELEMETRY,
        "Li et al., SIGCOMM 2019",
        (
            Parameter("utilization_percent", 95, "share of a link that flows fill (eta)", 1, 100),
            Parameter("additive_stages", 5, "round trips of additive increase in a row (maxStage)", 0, 1000),
            # 80 bytes at 100 Gbit/s and 13 us, as in the paper.
            Parameter("additive_flows", 100, "flows for which the additive step is small enough", 1),
            Parameter("round_trip_us", 0, "T, the same for all flows; 0: an idle one over two tiers"),
            Parameter("int_bytes", 42, "additional header of data and acknowledgements", 0, 1000),
            MINIMUM,
        ),
        telemetry="int_bytes",
    ),
    CongestionControl(
        "ztr-rtt",
        "a long round trip cuts the rate by a tenth, a short one raises it by a twentieth of that of the link",
        ROUND_TRIPS,
        "NVIDIA Zero Touch RoCE with round trips: its algorithm is not public. Assumed is that of NVIDIA's example of "
        "programmable congestion control (DOCA PCC, RTT template), with data packets as probes; its target, 13 us, is "
        "taken as an idle round trip of 8 us and a queue of 5 us",
        (
            Parameter("queue_us", 5, "above the idle round trip, from which a round trip is long", 0),
            Parameter(
                "decrease_percent", 10, "cut of a long round trip; twice that if late, five times after a NACK", 0, 20
            ),
            Parameter("increase_percent", 5, "step of a short round trip, of the rate of the link", 0, 100),
            Parameter("late_us", 150, "round trip from which it is late", 0),
            Parameter("floor_percent", 100 / 2**14, "least rate of a flow, of that of its link", 0.0001, 100),
        ),
    ),
)
CONGESTION = {row.name: row for row in _ROWS}
# In the engine they are known by the place of their declaration.
NUMBERS = {name: number for number, name in enumerate(CONGESTION)}
