"""The records of a flow's sender: what it measures, what congestion control keeps, what switches tell it."""

import numpy as np

from ailb_gen.sim.congestion import CONGESTION

# What the sender of a flow measures where no timeout is given. `round_trip` 0: nothing yet.
SENDER = np.dtype(
    [
        ("round_trip", "f8"),  # smoothed, and its mean deviation (RFC 6298)
        ("deviation", "f8"),
        ("doublings", "i8"),  # of the timeout, since the last acknowledgement
    ],
    align=True,
)
# What the ends of a flow count when its receiver asks for its packets.
CREDIT = np.dtype(
    [
        # The sender.
        ("credit", "i4"),  # packets that it may send
        ("pulled", "i4"),  # that the receiver has asked for, as far as known
        ("unanswered", "i4"),  # packets under way, as far as known
        ("stalls", "i4"),  # timeouts without one under way since the last pull
        # The receiver.
        ("arrivals", "i4"),  # whole and trimmed
        ("needed", "i4"),  # pulls until all has arrived, if nothing more is trimmed
        ("granted", "i4"),  # pulls sent
        ("queued", "i4"),  # in the ring of its pacer
        ("queued_next", "i4"),
    ],
    align=True,
)
# What lets the pulls of a receiver go at the rate of its link: the flows that wait for one, in turn.
PACER = np.dtype([("head", "i4"), ("tail", "i4"), ("busy", "i8")], align=True)
# What congestion control by round trips, windows and telemetry keeps of a flow.
CONTROLLED = np.dtype(
    [
        ("window", "f8"),  # packets in flight
        ("reference", "f8"),  # the window at the end of the last round trip
        ("gradient", "f8"),  # of the round trips, smoothed
        ("share", "f8"),  # of marked packets, or of the rate of the fullest link
        ("base_round_trip", "i8"),
        ("last_round_trip", "i8"),
        ("cut_at", "i8"),
        ("round_end", "i4"),  # when all packets before are acknowledged, a round trip ends
        ("stage", "i4"),
        ("answers", "i4"),  # in this round trip
        ("marks", "i4"),
    ],
    align=True,
)
# What a switch writes into a packet: over which link it went and when, bytes sent before, bytes that wait.
STAMP = np.dtype([("at", "i8"), ("sent", "i8"), ("queued", "i4"), ("link", "i4")], align=True)
# Switches that a packet has room for.
STAMPS = 5
# What congestion control knows of the rate of a flow.
RATE_FIELDS = [
    ("rate", "f8"),
    ("rate_target", "f8"),
    ("alpha", "f8"),
    ("alpha_at", "i8"),
    ("cut_at", "i8"),
    ("increase_at", "i8"),
    ("stage", "u2"),
    ("marked", "u1"),  # since the last update of alpha
    ("cut_marked", "u1"),
]
# The same of a queue pair between its messages. `rate` 0: nothing yet. `flow`: the message that began last, while it is
# not acknowledged.
LIMITER = np.dtype([*RATE_FIELDS, ("flow", "i4")], align=True)
# Parameters of all congestion control, those with one name once.
CONGESTION_PARAMETERS = np.dtype(
    [(name, "f8") for name in dict.fromkeys(one.field for row in CONGESTION.values() for one in row.parameters)]
)
