"""The records of the engine: what it keeps of links, queues, packets, flows, tasks, switches, and of the run.

All are flat arrays. Lists are chained through numbers of records, NONE ends one. Times are in ps.
"""

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.engine.jit import DISABLED, LINE
from ailb_gen.sim.engine.senders import RATE_FIELDS
from ailb_gen.sim.outcome import COUNTS
from ailb_gen.sim.settings import Measurement, NicSettings, PacketSettings, TransportSettings

Records = npt.NDArray[np.void]
Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

NONE = -1
NEVER = 2**63 - 1
# A packet that was sent so often goes in circles.
MOST_HOPS = 16
BUCKETS = 32
# The best quality band of a link.
BEST_BAND = 7

# What happens at one time, in this order: links that have become free send, packets arrive, links send what has just
# joined an empty queue, timers expire.
FREED, ARRIVED, JOINED, EXPIRED = range(4)
ORDER_BITS = 2
# Kinds of packets.
DATA, ACK, NACK, PAUSE, RESUME, REPLY, NOTIFY, CLEAR, FLOOD, PROBE, PROBED, TRIMMED, PULL = range(13)
# What tells the key of an answer from that of what it answers.
ANSWER = 0x5BD1E995
# The classes of a link: pause frames, then acknowledgements and the like, then data.
FRAMES, CONTROL, FIRST_DATA = range(3)
RAW, GO_BACK_N, SELECTIVE, RECEIVER_DRIVEN = range(4)  # transports
# Words of `sync` of a part of the run: how often it has met the others, when its next event is, how its window ended.
MET, NEXT, RESULT = range(3)
# Where a flow is: waiting for an acknowledgement, in the ring of its NIC, waiting for its rate.
IDLE, RINGED, PACED = 0, 1, 2
# Kinds of timers, in the order in which those of one time expire.
CHANGE, FIBS, ARRIVALS, START, COMPUTED, RATE, TIMEOUT, BALANCER, NEXT_PULL = range(9)
GOES_ON, FINISHED, STOPPED, NEEDS_PACKETS, NEEDS_TIMERS, GOES_INTO_NEXT = range(6)  # how `advance` ends

# What is used together is side by side, and what every packet needs apart from what is rare, so that little of a large
# fabric is in the caches. The sending end of a link, for every packet: a cache line.
LINK = np.dtype(
    [
        ("wake", "i8"),  # the moment at which the next packet is to be sent
        ("free", "i8"),  # when the last packet sent has left
        ("delay", "i8"),
        ("byte_ps", "i8"),
        ("bytes", "i8"),
        ("packets", "i8"),
        ("source", "i4"),
        ("peak", "i4"),
        ("backlog", "i2"),  # bits of classes with waiting packets
        ("paused", "i2"),  # bits of classes that the other end has stopped
        ("ready", "i2"),  # bits of classes with flows of a NIC that are ready to send
        ("turn", "i2"),  # the data class that was served last
    ],
    align=True,
)
# Its receiving end: half a line.
WIRE = np.dtype(
    [
        ("arrival", "i8"),  # the moment at which the first packet on the wire arrives
        ("head", "i4"),  # packets on the wire
        ("tail", "i4"),
        ("target", "i4"),
        ("reverse", "i4"),
        ("uplink", "i2"),  # the number among the links of a leaf to other switches
        ("away", "i2"),  # one more than the part of the run to which it leads; 0: to the one from which it comes
        ("pausing", "i2"),  # bits of classes that the receiver has stopped
        ("lossy", "u1"),
        ("down", "u1"),
    ],
    align=True,
)
# Of a link what is rare, and what waiting packets need.
PORT = np.dtype(
    [
        ("ecn_min", "i8"),
        ("ecn_max", "i8"),
        ("ecn_probability", "f8"),
        ("marks", "i8"),
        ("drops", "i8"),
        ("lost", "i8"),
        ("pauses", "i8"),
        ("paused_at", "i8"),
        ("paused_ps", "i8"),
        ("lost_until", "i8"),  # what arrives by then was sent before the link came back
        ("loss", "f8"),
        ("most_bytes", "i4"),  # of a packet of data that is not too large for the MTU
        ("deaf", "i4"),  # the sender does not obey pause frames
        ("context_head", "i4"),  # flows whose context the NIC holds, the last one used first
        ("context_tail", "i4"),
        ("contexts", "i4"),
        ("quality", "i4"),  # the band of DLB
        ("sampled_at", "i8"),
        ("sampled_bytes", "i8"),
        ("load", "f8"),  # of DLB the share of the rate that is used, of CONGA's estimator bytes
        ("load_at", "i8"),
    ],
    align=True,
)
# The queue of one class before one link.
QUEUE = np.dtype(
    [
        ("bytes", "i8"),
        ("peak_bytes", "i8"),
        ("head", "i4"),
        ("tail", "i4"),
        ("ring_head", "i4"),  # flows of a NIC that are ready to send
        ("ring_tail", "i4"),
    ],
    align=True,
)
# What the receiver of a link holds of the packets of one class that came over it.
HELD = np.dtype(
    [
        ("ingress", "i8"),  # in the shared pool
        ("headroom", "i8"),  # and beyond
        ("limit", "i8"),  # of the headroom; NONE: the class is lossy for the receiver
    ],
    align=True,
)
PACKET = np.dtype(
    [
        ("next", "i4"),
        ("flow", "i4"),
        ("next_arrival", "i8"),  # when the packet after it on the wire arrives
        ("sent", "i8"),  # when its host sent it; in acknowledgements, when the packet was sent that is acknowledged
        ("key", "i8"),  # what hashing sees of it
        ("sequence", "i4"),
        ("bytes", "i4"),
        ("destination", "i4"),
        ("came", "i4"),  # the link over which it came
        ("extra", "i4"),  # in acknowledgements, the packet that is acknowledged; else of the load balancer
        ("kind", "u1"),
        ("priority", "u1"),
        ("hops", "u1"),
        ("marked", "u1"),
        ("tag", "i4"),  # of the load balancer
        ("metric", "i4"),
    ],
    align=True,
)
# A cache line each: what sending and acknowledgements use; rate and congestion; the receiver and what is rare.
FLOW = np.dtype(
    [
        # The sender.
        ("next", "i4"),  # the packet to be sent next, unless repairing
        ("unsent", "i4"),  # the first that was never sent
        ("acknowledged", "i4"),  # all packets before
        ("packets", "i4"),
        ("recovery", "i4"),  # repairing until this one is acknowledged; NONE: not repairing
        ("references", "i4"),  # packets of it in the network
        ("ring_next", "i4"),
        ("link", "i4"),
        ("destination", "i4"),
        ("path", "i4"),  # that hosts choose, hashed with the key
        ("task", "i4"),
        ("phase", "u1"),
        ("priority", "u1"),
        ("timer", "u1"),
        ("context", "u1"),
        ("key", "i8"),
        ("timeout_at", "i8"),
        # Congestion control.
        ("available", "i8"),  # when its rate lets it send again
        *RATE_FIELDS,
        ("marks", "i4"),  # that came back
        # The receiver.
        ("expected", "i4"),
        ("latest", "i4"),
        ("refused", "i4"),  # the packet that the last NACK requested
        ("back", "i4"),  # the destination of its acknowledgements
        ("target", "i4"),
        ("arrived", "i4"),
        ("refused_at", "i8"),
        # The sender, seldom.
        ("source", "i4"),
        ("last_bytes", "i4"),
        ("repair", "i4"),  # the packet to be looked at next when repairing
        ("highest", "i4"),  # the highest that was acknowledged on its own
        ("context_next", "i4"),
        ("context_previous", "i4"),
        ("back_at", "i8"),  # when go-back-N went back; answers to what was sent before ask for nothing new
    ],
    align=True,
)
# The lines of a flow that acknowledgements (and sending) use, and data at its receiver.
SENDING, CONGESTION, RECEIVING = range(3)
TASK = np.dtype(
    [
        ("waits", "i4"),
        ("priority", "i4"),
        ("next_ready", "i4"),
        ("flow", "i4"),
        ("start", "i8"),
        ("finish", "i8"),
        ("retransmitted", "i4"),
        ("marked", "i4"),
        ("out_of_order", "i4"),
        ("distance", "i4"),
        ("limiter", "i4"),  # of its queue pair; NONE: it has one of its own
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("used", "i8"),
        ("seed", "i8"),
        ("remembered", "i4"),
        ("leaf", "i4"),  # the number among the leaves; NONE: no leaf
        ("shared", "i8"),  # bytes of the shared pool
        ("ingress_alpha", "f8"),
        ("pause", "i8"),  # a fixed pause threshold; NONE: ingress_alpha
        ("egress_alpha", "f8"),
        ("headroom", "i8"),  # used by all ports
        ("headroom_pool", "i8"),
        ("profile", "i4"),  # which of the load balancer's parameters it has
    ],
    align=True,
)
SET = np.dtype([("first", "i4"), ("count", "i4")], align=True)
DESTINATION = np.dtype([("prefix", "i4"), ("delivery", "i4"), ("host", "i4"), ("leaf", "i4")], align=True)
# `begun`: when the NIC has begun the last one of its messages.
HOST_ENTRY = np.dtype([("begun", "i8"), ("links", "i4"), ("first", "i4"), ("count", "i4")], align=True)
# `number`: of the task, or the subject; so the order of simultaneous timers does not depend on which started first.
TIMER = np.dtype([("time", "i8"), ("kind", "i4"), ("number", "i4"), ("subject", "i4")], align=True)
# A link that leads to another part and on whose wire packets have been put in this window, and when the first arrives.
BOX = np.dtype([("arrival", "i8"), ("link", "i8")], align=True)
# What a link is from a time on.
CHANGED = np.dtype(
    [("time", "i8"), ("link", "i4"), ("up", "i4"), ("byte_ps", "i8"), ("delay", "i8"), ("loss", "f8")], align=True
)

# Of a part of the run.
RUN = np.dtype(
    [
        ("part", "i8"),
        ("window", "i8"),  # the last moment that other parts cannot change any more
        ("now", "i8"),
        ("free_packet", "i4"),
        ("free_packets", "i4"),
        ("free_flow", "i4"),  # records of flows that have ended
        ("first_flow", "i4"),
        ("fresh_flow", "i4"),  # the first one that was never used
        ("ready_head", "i4"),
        ("ready_tail", "i4"),
        ("arrival", "i8"),
        ("ended", "i8"),
        ("version", "i8"),
        ("begun", "i8"),
        ("beyond", "i8"),  # something was to happen later than keys can say
        ("needed", "i8"),
        ("data_hops", "i8"),
        ("received", "i8"),  # data packets at hosts
        *((name, "i8") for name in COUNTS),
    ],
    align=True,
)
# Settings that the engine has by their own names; NONE: not set.
_TYPES: dict[Any, str] = {int: "i8", bool: "i8", int | None: "i8", float: "f8"}
_PARTS = (PacketSettings, TransportSettings, NicSettings, Measurement)
SETTINGS = {one.name: _TYPES[one.type] for part in _PARTS for one in fields(part) if one.type in _TYPES}
CONFIG = np.dtype(
    [
        ("bits", "i8"),  # of the number of an event source in a key
        ("horizon", "i8"),  # the first moment that a key cannot hold
        ("leaves", "i8"),
        ("timer_leaf", "i8"),
        ("hosts", "i8"),
        ("prefixes", "i8"),
        ("classes", "i8"),
        ("until", "i8"),
        ("parts", "i8"),
        ("ahead_ps", "i8"),  # what a part does has an effect on others after this time, or later
        ("lazy", "i8"),  # queues are looked at only when a packet joins or leaves them
        ("deferred", "i8"),  # a packet waits until all that arrive at its time have chosen
        ("transport", "i8"),
        ("congestion", "i8"),  # 0: none
        ("paced", "i8"),
        ("windowed", "i8"),
        ("controlled", "i8"),
        ("telemetry_bytes", "i8"),
        ("telemetry_hops", "i8"),  # switches that a packet has room for; 0: they write nothing
        ("common_round_trip_ps", "i8"),
        ("balancer", "i8"),
        ("chunk", "i8"),  # packets at whose end a host may choose another path; 0: after every packet
        ("notes", "i8"),  # the load balancer notes choices
        ("delayed", "i8"),  # tasks that wait for others and for a time
        ("round_robin", "i8"),
        ("window", "i8"),  # packets in flight
        ("first_window", "i8"),  # packets that a receiver does not ask for
        ("trim_bytes", "i8"),  # of a queue, above which switches trim packets
        ("least_timeout_ps", "i8"),  # of those that follow from round trips
        ("message_packets", "i8"),  # 0: a flow is one message
        ("shared_buffer_bytes", "i8"),  # of the largest switch; NONE: queues are infinite
        ("pfc", "i8"),  # some class is lossless somewhere
        ("resume_offset_bytes", "i8"),
        *SETTINGS.items(),
    ],
    align=True,
)
# Parameters of all load balancers, those with one name once.
PARAMETERS = np.dtype(
    [(name, "f8") for name in dict.fromkeys(one.field for row in BALANCERS.values() for one in row.parameters)]
)


class EngineState(NamedTuple):
    """All arrays of a part of a run; records by name, the rest plain.

    A run on one core has one part. Parts have arrays of their own down to `ports`, and share the others.
    """

    run: Records  # one
    tree: Ints  # of the next event of every link and the first timer
    timers: Records  # (2, room): the heaps of timers
    timer_counts: Ints  # (2,)
    links: Records
    wires: Records  # by link
    ports: Records  # by link
    arrivals: Ints32  # tasks that wait for nothing, by time
    rerouted: Ints32  # by task
    config: Records  # one
    all_wires: Records  # (parts, links)
    boxes: Records  # (from part, to part, links)
    boxed: Ints  # (from part, to part) how many are used
    sync: Ints  # (parts, a cache line)
    waiting: Ints32  # packets that wait, by link
    queues: Records  # by class and link
    held: Records  # by class and link
    packets: Records
    flows: Records
    senders: Records  # by flow; one record if timeouts are given
    choices: Records  # by flow; one record if the load balancer notes none
    controlled: Records  # by flow; one record if congestion control keeps none
    kept: Records  # the same of queue pairs, by limiter
    stamps: Records  # by packet and switch
    last_stamps: Records  # by flow and switch
    tasks: Records
    # Of tasks, what the workload says.
    task_source: Ints32
    task_target: Ints32
    task_queue_pair: Ints32
    task_port: Ints32
    task_amount: Ints
    task_not_before: Ints
    first_successor: Ints  # by task, and one more
    successors: Ints32
    limiters: Records
    changes: Records
    next_hops: Ints32  # (states of the FIBs, switches * prefixes)
    fib_times: Ints
    sets: Records
    set_links: Ints32
    destinations: Records
    hosts: Records
    nodes: Records  # hosts and switches
    arrived: Ints  # (flows, words): bits of packets that arrived, selective repeat
    acknowledged: Ints
    refused: Ints  # packets to be sent again, receiver-driven transport; so the next two
    credits: Records  # by flow
    pacers: Records  # by link of a receiver
    random: Ints  # (nodes, 4): the generator of every node
    histogram: Ints32  # (BUCKETS, links)
    buckets: npt.NDArray[np.uint8]
    load: Ints  # (samples, links)
    parameters: Records  # of the load balancer, by the profile of a node; the first one of most
    congestion: Records  # one, the parameters of congestion control
    # Tables of the load balancer, three dimensions.
    metrics: Ints
    steered: Records  # by flow, for load balancers that keep more of one; one record for others


def records(shape: int | tuple[int, ...], dtype: np.dtype[Any], /, **columns: npt.ArrayLike) -> Records:
    """Return records of zeros but for some fields; fields are attributes, compiled or not."""
    # From the beginning of a cache line on: a packet is one.
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.zeros(size + LINE, np.uint8)
    first = -raw.ctypes.data % LINE
    plain = raw[first : first + size].view(dtype).reshape(shape)
    for name, values in columns.items():
        plain[name] = values
    return plain.view(np.recarray) if DISABLED else plain
