"""The checks of `accept`, which sends packets and jobs through a fabric: rows of the catalogue, as for `verify`."""

from __future__ import annotations

from functools import partial

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

_of_cluster = partial(Check, layer=Layer.REPETITIONS)
GIDS = _of_cluster(
    "AILBA01",
    "the GID tables of all servers are those of the plan, where they have RDMA devices",
    "a GID of a server is missing, wrong or at another index",
    "A job uses one index on every NIC: a table that is shifted by one address gives it the GID of another color, or "
    "of none.",
    "Remove the address, or repair the NIC, that the message names; 'ailb-host gids' on the server shows the table.",
)
PING = _of_cluster(
    "AILBA02",
    "every NIC reaches its peers in every color, from the address of that color",
    "an address of a color is missing or does not answer",
    "Queue pairs of that color stall or fail, and a collective waits for the slowest of them.",
    "Follow the pair with 'ailb-host ping --path' on the server; check cable, address and gateway of both NICs.",
)
ARRIVALS = _of_cluster(
    "AILBA03",
    "every packet that servers send to each other arrives, in the order in which it was sent",
    "packets are lost or reordered",
    "RoCE sends again what is lost or out of order: a job slows down by far more than the share of such packets.",
    "Check the cable or switch that the message names; a port that loses packets without going down has errors.",
)
PORTS = _of_cluster(
    "AILBA04",
    "every port has carried the packets of its colors: counters of leaves, spines and servers agree with those sent",
    "a port carried fewer packets of the colors than were sent its way",
    "Packets of a color take another spine or are lost on the way: colors collide, and the load is uneven.",
    "Compare the color of the spine and the sessions of the leaf with their files: 'ailb-gen drift'. Check the cable.",
)
MARKS = _of_cluster(
    "AILBA05",
    "no NIC counts marked packets, CNPs, packets out of order or retransmissions meanwhile",
    "a NIC counts congestion, packets out of order or retransmissions",
    "A load that is balanced by color has no congestion in a fabric: flows collide, or a NIC is slower than its peer.",
    "Look for the uplink with the highest load in the report, and for a server that sends on one color only.",
    severity=Severity.WARNING,
)
JOB = _of_cluster(
    "AILBA06",
    "every run of the job ends with correct results, and all runs are about equally fast",
    "the job failed, computed wrong results, or is not equally fast each time",
    "A job that runs faster at times shares paths with itself or others: its flows are not pinned to colors.",
    "Read the output of the job; then the loads of uplinks, and the counters of NICs, in this report.",
)
SHARES = _of_cluster(
    "AILBA07",
    "on every leaf, a job uses all colors alike",
    "a leaf has sent far less of a job on one color than on others",
    "Servers without the NCCL plug-in put all queue pairs on the first color; the other spines stay idle.",
    "Check NCCL_NET_PLUGIN, LD_LIBRARY_PATH and the plug-in's file on the servers of that leaf: 'ailb-gen verify'.",
)
