"""The prose of the study of DLB, GLB and RLB."""

TEXT = """\
Juniper describes three load balancers for RDMA traffic of GPUs, and measured them in its lab against ECMP with an
all-reduce of nccl-tests, the DLRM benchmark and traffic generators: dynamic load balancing (DLB, per flowlet and per
packet), global load balancing (GLB), and RDMA-aware load balancing with deterministic paths (RLB). The text has few
numbers; most are in figures without scales. Here the same is simulated packet by packet on the files that `ailb-gen`
generates for Juniper's validated design (`examples/jvd`): colors, ECN, PFC and the parameters of DLB are what the Junos
files say. RLB follows their colors; all others run on the same fabric without colors.

**The fabric.** 4 servers with 8 NICs of 400 Gb/s in 2 stripes, 16 leaves, 4 spines, an uplink of 400 Gb/s from every
leaf to every spine: the four servers with RLB of Juniper's validated design, whose uplinks have twice the bandwidth of
their servers. The source does not say on which fabric it measured.

**What the source does not say**, and what is assumed, the same for all load balancers:

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

373 GB/s is the most that the source reports, 388 GB/s what the network gives here; the difference is made by hosts,
which are not modeled. Compare ratios: 196, 263 and 373 GB/s are 0.53, 0.71 and 1 of the best.
"""
NOTES = """\
To be written.
"""
