"""Trimming: a switch keeps the header of a packet that does not fit into its queue (NDP, Handley et al., SIGCOMM 2017).

The header goes on in the class of acknowledgements, which have priority and no limit, so that it is hardly ever lost.
"""

import numpy as np

from ailb_gen.sim.engine.jit import compiled
from ailb_gen.sim.engine.random import happens
from ailb_gen.sim.engine.records import CONTROL, DATA, NEVER, NONE, RECEIVER_DRIVEN, TRIMMED, EngineState
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.settings import SimulationSettings

# Bytes of a buffer that is never full.
ENDLESS = 1 << 40


def trims(settings: SimulationSettings) -> bool:
    """Return whether switches trim packets."""
    return settings.transport.name == "receiver-driven"


def trim_bytes(settings: SimulationSettings) -> int:
    """Return the bytes of a queue above which a switch trims what comes."""
    packets = settings.packets
    size = packets.payload_bytes + packets.header_bytes
    return settings.transport.trim_above_packets * size if trims(settings) else NEVER


def buffers(settings: SimulationSettings) -> int | Int64:
    """Return the bytes of the shared buffers, of all switches or of each; NONE: packets are not counted."""
    shared = settings.switches.shared_buffer_bytes
    if shared is not None:
        return shared
    # Queues have a limit, so that packets are looked at before they join them.
    return ENDLESS if trims(settings) else NONE


def largest_buffer(settings: SimulationSettings) -> int:
    """Return the bytes of the largest shared buffer; NONE: packets are not counted."""
    return int(np.max(buffers(settings)))


@compiled
def _take_last_place(state: EngineState, link: int, packet: int) -> int:
    """Let a packet have the place of the last one in its queue; return that."""
    record = state.packets[packet]
    queue = state.queues[record.priority, link]
    last, before, at = int(queue.tail), NONE, int(queue.head)
    while at != last:
        before, at = at, int(state.packets[at].next)
    if before == NONE:
        queue.head = packet
    else:
        state.packets[before].next = packet
    queue.tail = packet
    record.next = NONE
    more = record.bytes - state.packets[last].bytes
    queue.bytes += more
    state.nodes[state.links[link].source].used += more
    return last


@compiled
def trim(state: EngineState, link: int, packet: int) -> int:
    """Return what is left of a packet for which there is no room; NONE: it is no data, or hosts do not know this.

    With even chances that is the last one of the queue, so that flows in step do not lose all of their packets.
    """
    config, record = state.config[0], state.packets[packet]
    if config.transport != RECEIVER_DRIVEN or record.kind != DATA:
        return NONE
    node = state.links[link].source
    if (state.links[link].backlog >> record.priority) & 1 and not config.pfc and happens(state, node, 0.5):
        last = state.queues[record.priority, link].tail
        if state.packets[last].bytes >= record.bytes:
            packet = _take_last_place(state, link, packet)
    left = state.packets[packet]
    left.kind, left.priority, left.bytes = TRIMMED, CONTROL, config.control_bytes
    state.run[0].trimmed += 1
    return packet
