"""HPCC: the window of a flow from what switches write into its packets (Li et al., SIGCOMM 2019).

Every switch notes the bytes that wait behind a packet that it sends, the bytes that it has sent over the link, and the
time. The acknowledgement brings that back. Hosts' own links are no part of it.
"""

from ailb_gen.sim.engine.congestion import window
from ailb_gen.sim.engine.congestion.hooks import CongestionHooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.records import NONE, EngineState


@compiled
def begin(state: EngineState, flow: int, now: int) -> None:
    """Start a flow with the window that fills its link during the common round trip."""
    window.begin(state, flow, now)
    own = state.controlled[flow]
    own.window = own.reference = window.packets_in(state, flow, float(state.config[0].common_round_trip_ps))


@compiled
def _measure(state: EngineState, flow: int, packet: int) -> None:
    """Bring the utilization of the fullest link up to date (MeasureInflight of the paper)."""
    own, hops = state.controlled[flow], state.config[0].telemetry_hops
    common = float(state.config[0].common_round_trip_ps)
    fullest, interval = -1.0, 0.0
    for hop in range(hops):
        stamp, last = state.stamps[packet * hops + hop], state.last_stamps[flow * hops + hop]
        if stamp.link == NONE:
            break
        if stamp.link == last.link:
            # Acknowledgements may overtake each other.
            if stamp.at <= last.at:
                continue
            byte_ps = float(state.links[stamp.link].byte_ps)
            passed = float(stamp.at - last.at)
            found = (stamp.sent - last.sent) * byte_ps / passed + min(stamp.queued, last.queued) * byte_ps / common
            if found > fullest:
                fullest, interval = found, passed
        last.link, last.at, last.sent, last.queued = stamp.link, stamp.at, stamp.sent, stamp.queued
    if fullest >= 0.0:
        weight = min(interval, common) / common
        own.share = (1.0 - weight) * own.share + weight * fullest


@compiled
def answered(state: EngineState, flow: int, packet: int, now: int) -> None:
    """Change the window, and once per round trip what it is computed from (ComputeWind of the paper)."""
    own, parameters, record = state.controlled[flow], state.congestion[0], state.flows[flow]
    common = float(state.config[0].common_round_trip_ps)
    _measure(state, flow, packet)
    most, eta = window.packets_in(state, flow, common), parameters.utilization_percent / 100.0
    packets = own.reference + most * (1.0 - eta) / parameters.additive_flows
    cuts = own.share >= eta or own.stage >= parameters.additive_stages
    if cuts:
        packets += own.reference * (eta / own.share - 1.0)
    least = parameters.minimum_percent / 100.0 * most
    own.window = min(most, max(least, packets))
    record.rate = min(window.line_rate(state, flow), own.window * window.wire_bytes(state) / common)
    if window.ends_round(state, flow, state.packets[packet].sequence):
        own.stage = 0 if cuts else own.stage + 1
        own.reference = own.window


HOOKS = {"hpcc": CongestionHooks(begin=begin, answered=answered, paced=True, windowed=True, keeps=True)}
