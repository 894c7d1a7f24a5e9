"""The records of a flow for load balancers: what many note of one, and what few keep beyond."""

import numpy as np

# Switch hops of a path that a flow remembers choices for.
HOPS = 4
# Probes that a flow remembers.
PROBES = 64
# Paths that acknowledgements have left for packets to come.
GRANTS = 64
# What load balancers note of a flow: what switches chose for it, by hop, and how a round trip goes.
CHOICES = np.dtype(
    [
        ("epoch_at", "i8"),  # when the round trip began; NEVER: it begins with the next answer
        ("moved_at", "i8"),  # to another path
        ("epoch_packets", "i4"),
        ("epoch_marks", "i4"),
        ("choice", "i4", (HOPS,)),
        ("chosen_at", "i8", (HOPS,)),
    ],
    align=True,
)
# What ConWeave keeps of a flow at its first and its last switch, and Hopper and MP-RDMA at its host.
STEERED = np.dtype(
    [
        # ConWeave, first switch.
        ("path", "i4"),
        ("epoch", "i4"),  # 0: no packet has come yet
        ("rerouted", "i4"),  # in this epoch
        ("confirmed", "i4"),  # the next packet begins an epoch
        ("active_at", "i8"),
        ("reply_by", "i8"),
        ("tail_at", "i8"),
        # ConWeave, last switch.
        ("epoch_seen", "i4"),
        ("tail_seen", "i4"),  # in this epoch
        ("old_path_seen", "i4"),  # in this epoch: `sent` and `received` hold
        ("held_head", "i4"),  # rerouted packets that wait for the TAIL
        ("held_tail", "i4"),
        ("sent", "i4"),  # tick at which the last packet of the old path left the first switch
        ("received", "i8"),
        ("resume_at", "i8"),
        ("timer_at", "i8"),
        # FlowBender and Hopper.
        ("round_trip", "f8"),
        ("base_round_trip", "i8"),
        ("chunk_at", "i8"),  # when it began
        ("chunk_end", "i4"),  # the first packet of the next one
        # Hopper.
        ("probe_path", "i4", (PROBES,)),
        ("probe_at", "i8", (PROBES,)),
        ("probe_round_trip", "i8", (PROBES,)),  # 0: not answered
        ("next_probe", "i4"),
        ("may_probe", "i4"),  # in this epoch
        ("may_switch", "i4"),
        ("round_trips", "f8"),  # of round trips in this epoch
        ("weighted_round_trips", "f8"),  # each times its number
        # MP-RDMA.
        ("granted", "i4", (GRANTS,)),  # paths, a ring
        ("first_granted", "i4"),
        ("grants", "i4"),
        ("half_granted", "i4"),  # the last acknowledgement with a mark left no path
        ("highest_answered", "i4"),
    ],
    align=True,
)
