"""Texts of the page of the scale unit."""

TEXT = """
## What is repeated

32 servers below 8 leaves and 4 spines; every server has 8 parallel links to its leaf, and every leaf 8 to each spine:
512 cables of 4 Gb/s and 1 µs. Store and forward, no headers, no switch latency, infinite queues, no transport and no
congestion control: all packets of a flow enter the NIC's queues at once. Packets have 32 KiB (*heavy*) or 4 KiB
(*mixed*).

| load balancer | here |
|---|---|
| ECMP | one hash per flow of source, destination and start time, the same at every hop (polarized): NIC, spine and parallel link depend on each other, and all flows that a pair starts at one time share a path |
| flowlet | ECMP whose hash changes every 64 packets of a flow, whatever the gap. Flows of *heavy* have at most 32 packets: flowlets are ECMP there, bit by bit with the same seed |
| adaptive | every packet takes the port with the fewest waiting packets, at random among equals, NICs and last leaf included |

*Heavy* is one data-parallel job of all servers, 50 steps: 10 ms of compute, 8 buckets one after the other, 5 ms of
optimizer. A bucket is a reduce-scatter and an all-gather on random rings of their own, all 1,984 flows at once; x1 is
4 MiB per server and bucket. *Mixed* is a tensor-parallel job (`tp_heavy`, 100 steps) and a pipeline-parallel one
(`pp_dp`, 200 steps) on half of the servers of every leaf each. x2, x4 and x8 multiply message sizes. In both a mouse of
1 to 4 packets starts every millisecond up to 10 s.

- Mice are counted as the source does it: those that have arrived at 10 s. Under ECMP at high load many are still on
  their way by then.
- *5 % failed*: every cable is down from the start with that probability. A node avoids its own failed ports; no other
  node reacts. Which cables fail was drawn per run at the source (16 to 30 of them), and is drawn per seed here.
- Queues count packets that wait. The mean node peak is the mean, over all 44 nodes, of a node's longest queue.
- Job times are those of the jobs. The source's figures 4 and 5 show the length of the whole run, at least 10 s. Figure
  6b is drawn here per job, since the source does not say how it merges the steps of two jobs.
- The source has one run per row. Its numbers in text are compared, and those of its logs; the spread over its own
  seeds is known for heavy x1 only (ECMP 9.32 to 9.40 s).
- Words of the source need a number to be checked. "Roughly the same" and "flat" mean within 10 % here, "similar" and
  "mildly" within 25 %, "sharply" at least twofold, "almost no variance" within 5 %, "significantly lower" less than
  half.

## What its author left for later

The source names flowlet thresholds, congestion control and RoCE transport as future work. These cases have no published
numbers.

- **Flowlet thresholds**: mixed x4 without mice, the first 10 steps of both jobs, 4 to 256 packets per flowlet. Flows
  have 8 to 256 packets.
- **Load balancers of switches**: heavy x1 without mice, under ECMP (5-tuple, each switch with a seed of its own), DLB,
  GLB, RLB and adaptive. RLB needs colors: every server has 4 addresses, one per spine, and connections have 4 or 16
  queue pairs, over which every message is split. All load balancers get the same addresses and queue pairs. Servers
  choose one of their 8 links by hash, but for adaptive's raw packets; among the 8 parallel links to its spine RLB
  chooses by DLB. Parameters of DLB and GLB are the defaults.
- **raw** is the transport of the source (10 steps). **go-back-N** has RoCE with DCQCN, PFC and a finite buffer: packets
  of 4 KiB and 48 B, 825 kB per switch (the 165 MB per 51.2 Tb/s of current switches, at 256 Gb/s), 16 KiB of headroom
  per port, ECN from 16 to 64 KiB with 20 %; 2 steps, since they take 8 times the packets and as many acknowledgements.
  These are assumptions, the same for all load balancers.
"""  # noqa: E501 - rows of a Markdown table

NOTES = """
- **Failed cables decide their rows.** Under adaptive routing a server that lost cables is the slowest of every ring.
  We drew 5 % of the cables 24 times, with one step of heavy x8 each. Where no server lost more than one of its 8 cables
  (6 draws), a step takes 171 to 189 ms and the longest queue is 284 packets; where some server lost two (13 draws), 190
  to 197 ms and 331 packets; where some server lost three (5 draws), 225 to 233 ms and 397 packets. The published 191.8
  ms and 331 packets are those of the most frequent case, two. The number of failed cables as such (15 to 33) matters
  little.
- **The longest queue under ECMP and flowlets is made of a few pairs.** The 31 flows that a server sends its neighbor in
  a ring start together and share a path: 124 packets at heavy x1, 248 at x2, 992 at x8. The published 372, 744, 2,976
  and 3,968 packets are 3, 3, 3 and 4 of these before one link, and 620 is two and a half. How many meet at worst in 400
  buckets is random.
- **p95 and p99 of mice FCT** depend on few mice: one in twenty, or in a hundred, meets a burst of the jobs. At mixed x1
  the p95 of 0.08 ms is just above the 0.06 ms of a mouse of 4 packets in an idle fabric, and the p99 is 60 times that.
- Flowlets and ECMP give the same bytes with the same seed in heavy and at mixed x1, where no flow has more than 64
  packets. The published rows differ from each other there as two seeds do.
- Seeds: 10 of heavy loads under ECMP and flowlets, and of heavy x1 under adaptive routing; 3 of heavy x8 with failures
  under adaptive routing, 2 of its others; 1 of mixed loads and of the cases without published numbers. With one seed
  "inside our range, widened by 5 %" is within 5 %, which is stricter for these rows.
- **Flowlet thresholds** (ours): the fewer packets in a flowlet, the shorter are steps, from 101 and 107 ms (ECMP) to 42
  and 21 ms with 4 packets, and the more packets arrive out of order: 1.95 million of 2.4 million at 4, none at 256. The
  default of 64 uses only a part of this.
- **Load balancers of switches** (ours): with 4 queue pairs the servers' own hash over 8 links decides. DLB per packet
  and adaptive routing both need 87.5 ms with almost no queues in the network: this is the time of the fullest server
  link. RLB (90), GLB (92) and DLB (97) come close to it; ECMP takes 118 ms. Raw adaptive routing (35 ms) is that much
  faster because it also chooses the server's link per packet, which a queue pair cannot. 16 queue pairs fill these
  links more evenly: 56 to 60 ms, ECMP 73 ms. RLB and ECMP have no packets out of order and no retransmissions; DLB per
  packet has 345 (4 queue pairs) of a million packets. With 4 queue pairs DLB, GLB and RLB still pause links, DLB per
  packet and adaptive routing do not.
"""
