"""PLB: a flow is hashed anew after congested round trips in a row (Qureshi et al., SIGCOMM 2022).

A round trip is FlowBender's, and congested when more than a share of its packets was marked. After a few of them in a
row a flow moves as soon as it has nothing in flight, so that nothing is reordered; after more it moves anyway. A flow
whose timer expires moves, too, and then stays for a random time, so as not to come back to a path that loses packets.

Not modeled: what a flow knows is not passed on to the next message of its queue pair.
"""

from ailb_gen.sim.engine.balancers.flowbender import CLEAR, CONGESTED, rehash, round_trip_ended
from ailb_gen.sim.engine.balancers.hooks import Hooks
from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import random_bits
from ailb_gen.sim.engine.records import EngineState

# Of the choices that a flow remembers per hop, which it does not need: its congested round trips, and until when it
# stays where it is.
ROUNDS = 0


@compiled
def begin_flow(state: EngineState, flow: int, now: int) -> None:
    """Begin without congested round trips."""
    state.choices[flow].choice[ROUNDS] = 0


@compiled
def answered(state: EngineState, flow: int, sent: int, marked: int, now: int) -> None:
    """Take the answer to a packet that was sent at a time; move the flow if congestion lasts."""
    record, noted, parameters = state.flows[flow], state.choices[flow], state.parameters[0]
    ended = round_trip_ended(state, flow, sent, marked, now)
    if ended == CLEAR:
        noted.choice[ROUNDS] = 0
    elif ended == CONGESTED:
        noted.choice[ROUNDS] = min(noted.choice[ROUNDS] + 1, int(parameters.rounds))
    idle = record.next == record.acknowledged
    wanted = parameters.idle_rounds if idle else parameters.rounds
    if now < noted.chosen_at[ROUNDS] or noted.choice[ROUNDS] < wanted:
        return
    noted.choice[ROUNDS] = 0
    rehash(state, flow, now)


@compiled
def timed_out(state: EngineState, flow: int, now: int) -> None:
    """Move a flow whose timer has expired, and let it stay there."""
    record, noted = state.flows[flow], state.choices[flow]
    noted.choice[ROUNDS] = 0
    suspended = int(state.parameters[0].suspend_ps)
    noted.chosen_at[ROUNDS] = now + suspended + int(suspended * (random_bits(state, record.source) / 4294967296.0))
    rehash(state, flow, now)


HOOKS = {"plb": Hooks(begin_flow=begin_flow, answered=answered, timed_out=timed_out, notes=True)}
