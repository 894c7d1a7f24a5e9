"""The prose of the study of DLB, GLB and RLB."""

TEXT = """\
Juniper describes three load balancers for RDMA traffic of GPUs, and measured them in its lab against ECMP with an
all-reduce of nccl-tests, the DLRM benchmark and traffic generators: dynamic load balancing (DLB, per flowlet and per
packet), global load balancing (GLB), and RDMA-aware load balancing with deterministic paths (RLB). The text has few
numbers; most are in figures without scales. Here the same is simulated packet by packet on the files that `ailb-gen`
generates for Juniper's validated design (`examples/jvd`): colors, ECN, PFC and the parameters of DLB come from the
Junos files. RLB follows their colors; all other load balancers run on the same fabric without colors.

**The fabric.** 4 servers with 8 NICs of 400 Gb/s in 2 stripes, 16 leaves, 4 spines, an uplink of 400 Gb/s from every
leaf to every spine: the four servers with RLB of Juniper's validated design, whose uplinks have twice the bandwidth of
their servers. The source does not say on which fabric it measured.

**What the source does not say** is assumed, in the same way for all load balancers:

- *Order of the ranks.* Where servers come in the order of their names, only one connection per leaf and direction
  crosses the spines, and its four queue pairs never fill a link. The source says that it routed more traffic through
  the links between leaves and spines. Here the ring is h100-01, -03, -02, -04: every step crosses the spines.
- *Queue pairs.* Four per connection, as many as colors and uplinks. The seed of a run draws their UDP source ports.
- *Size.* 256 MiB for the runs of figure 11. RLB reaches 387.9 GB/s with it, 389.3 with 1 GiB.
- *Hosts.* Go-back-N, DCQCN as in published simulators (no byte counter: recovery takes at least 300 us). For DLB per
  packet the NIC takes packets out of order (selective repeat), as in the source. There are no CNPs: marks return on
  acknowledgements, and the marks that reach a sender are counted as its congestion notifications.
- *The DLRM-like job.* A step of a model like MLPerf's DLRM-DCNv2 on 32 GPUs: two all-to-alls of 13.6 MB per GPU (a
  batch of 65,536, 26 embeddings of 128 half-precision numbers), 0.5 ms of computation before each; at the same time
  1 ms of computation and an all-reduce of 64 MB (16 million gradients). PXN is off, so that all-to-all crosses rails.
- *Background load.* The same constant share of every link between leaves and spines, which no load balancer can move.
  Its senders obey DCQCN, too.
- *Extra traffic.* 30 % of the link from spine1 to stripe2-leaf1, or of all links of spine1, from 0.5 ms before the
  all-reduce on. With one queue pair per connection and servers in the order of their names, every leaf sends one flow
  that could fill an uplink; with four and the ring from above, eight flows.
- *The failure.* The link from stripe1-leaf1 to spine1 fails at 2 ms; FIBs follow 1 ms later. In between packets are
  lost, and senders notice after their retransmission timeout of 4 ms.

**Details that Juniper does not publish** are the defaults of the [load balancers](../../simulate.md#load-balancers).
Cases with a parameter in their name show how much they matter: `quantization 20/50/80` is `egress-quantization { min
20; max 50; rate-weightage 80; }`, which the reference's files do not set (Junos then takes 50, 90 and 50).

The source reports at most 373 GB/s; the network gives 388 GB/s here. The difference comes from hosts, which are not
modeled. Compare ratios: 196, 263 and 373 GB/s are 0.53, 0.71 and 1 of the best.
"""

NOTES = """\
This section also reports what was tried besides the cases above, with 256 MiB and seeds from 1 on.

**ECMP.** A leaf has eight flows of 100 Gb/s for four uplinks. The chance that none gets more than four is 0.89, and for
all 16 leaves 0.16: about one run of six has the full bandwidth, as one of three published ones. All other runs are
slower than the share of the fullest link, because marked flows are cut by DCQCN and recover slowly. Without DCQCN ten
runs have 311 to 315 GB/s (five flows on a link); with two queue pairs per connection 197 or 260, with one 195 to 197.
The published 196 and 263 GB/s are exactly these shares of 1/2 and 2/3. The source's runs probably had one or two queue
pairs per connection, and milder cuts.

**Order of ranks.** With servers in the order of their names all load balancers have 388 GB/s in all runs, with one to
four queue pairs: no flows collide.

**1:1.** With uplinks of 200 Gb/s, which Juniper's design calls balanced for four servers, and servers in the order of
their names, 20 runs have 150 to 209 GB/s under ECMP, 174 to 372 under DLB, and two 388 under RLB. 1/2, 2/3 and 1 of the
bandwidth are the only possible shares there, too.

**DLB and bands.** All queue pairs of a step begin within a microsecond, before a sample shows load, and bands begin at
50 % of a link: two flows of 100 Gb/s on 400 Gb/s do not show. So flowlets are placed at random at first, and only
reassignment, for which links must differ by six bands, corrects it. This costs the DLRM-like job some percent in every
step; a difference of 0.08 % means that the published job spent most of its time computing. Quantization 20/50/80 takes
away about half of it. Inactivity intervals of 32 and 512 us in place of 128 us change hardly anything. Thresholds of
the queue bands matter, and they are not published: with four times the default DLB moves later.

**GLB.** With one flow per leaf, GLB with the files' parameters keeps no more than DLB: a link with 30 % extra traffic
has band 7 as long as bands begin at 50 %, so that leaves choose it as often as others, and once DCQCN has cut the flow
to half, the bands never differ by six. With `egress-quantization min 20` alone, or with 20/50/80, leaves see it and
take another spine from the first packet on: all of the bandwidth is kept. The interval of the floods has to be shorter
than the time for which the load was there before: 10 or 100 us are the same, with 1 ms the first step begins before the
first flood. To let GLB avoid moderately loaded links, configure `egress-quantization`. With four queue pairs and the
ring that crosses spines, eight flows share the three spines that are left, and collide there.

**RLB.** The failure costs the timeout of the senders, 4 ms, however long routing takes: with 0.2 ms of detection in
place of 1 ms the same step takes as long. Afterwards three spines carry the fourth color, and have enough bandwidth for
it.
"""
