"""How long senders wait for an acknowledgement: as given, or as their round trips say (RFC 6298).

The timeout is the smoothed round trip plus four mean deviations, at least a hundred idle round trips of the longest
path, and twice as long after every timeout until something is acknowledged. Every acknowledgement measures, since it
says when the packet was sent that it answers, so that Karn's rule is not needed.
"""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.records import NONE, EngineState

# After so many timeouts in a row the timeout does not grow any more.
MOST_DOUBLINGS = 6


@inlined
def begin_measuring(state: EngineState, flow: int) -> None:
    """Forget what was measured of the flow that had this record before."""
    sender = state.senders[flow]
    sender.round_trip = sender.deviation = 0.0
    sender.doublings = 0


@compiled
def measure(state: EngineState, flow: int, round_trip: int) -> None:
    """Take a round trip into account, with the weights of RFC 6298."""
    sender = state.senders[flow]
    if sender.round_trip == 0.0:
        sender.round_trip = float(round_trip)
        sender.deviation = round_trip / 2.0
        return
    difference = round_trip - sender.round_trip
    sender.deviation += (abs(difference) - sender.deviation) / 4.0
    sender.round_trip += difference / 8.0


@inlined
def timeout_of(state: EngineState, flow: int) -> int:
    """Return how long a flow waits for an acknowledgement."""
    config, record = state.config[0], state.flows[flow]
    if config.timeout_ps == NONE:
        sender = state.senders[flow]
        measured = int(sender.round_trip + 4.0 * sender.deviation)
        return max(config.least_timeout_ps, measured) << min(sender.doublings, MOST_DOUBLINGS)
    if record.next - record.acknowledged <= config.few_packets:
        return int(config.timeout_few_ps)
    return int(config.timeout_ps)
