"""Texts of the page of the study of Hopper."""

TEXT = """
Hopper is a load balancer of hosts: a flow whose round trips grow probes two other paths, and takes the better one if it
is clearly better. The paper compares it with FlowBender, CONGA and ConWeave in ns-3, and with ECMP and FlowBender on a
testbed. This study repeats both, and adds random packet spraying, which the paper discusses without measuring it, and a
sweep of Hopper's parameters.

**128 servers.** 8 leaves with 16 servers each, 8 spines, all links 100 Gb/s and 1 µs, base round trip 8.3 µs, one
bandwidth-delay product (BDP) 104,000 B. IRN with at most one BDP in flight, timers of 320 µs, or 100 µs with 3 packets
in flight or fewer, and Hopper's reordering window of 30 packets for all load balancers; no PFC; DCQCN, ECN
(100 to 400 kB, 20 %) and a shared buffer of 9 MiB as in the public simulator conweave-ns3, on which the paper builds.
CONGA's metrics are on data only, as there (`acks: 0`). Hopper has the parameters of the paper's Table 1.

- *Load.* The loads of that simulator are those of uplinks that have half the rate of the NICs below: "50 %" is 25 % of
  every NIC, "80 %" is 40 %. Arrivals are Poisson, destinations are uniform. Arrivals last 5 ms (50 %) and 4 ms (80 %),
  6 ms for ML training; flows of the first millisecond do not count.
- *Sizes.* AliStorage (Li et al., HPCC, SIGCOMM 2019) and Hadoop (Roy et al., SIGCOMM 2015) are the distributions of
  conweave-ns3, linear between points. Its Hadoop ends at 10 MB; the paper speaks of 20 MB.
- *ML training is assumed.* The paper shows its distribution as a figure. Ours is 40 % of 8 MB, 30 % of 32 MB, 20 % of
  128 MB and 10 % of 256 MB, in the range of Meta's collectives on 128 GPUs (Gangidi et al., SIGCOMM 2024), **all sizes
  divided by 16** to save time: 0.5 to 16 MB, 5 to 154 BDPs.
- *Bins.* The paper does not number them. Bins with fewer than 100 flows over all seeds are left out.
- *Hopper.* Two of its rules leave room: "lower by δ = 80 %" is read as below 80 % of the present round trip (the sweep
  has other values; below 20 % a flow would hardly ever move), and probes have the size of acknowledgements.

**Testbed.** 2 leaves, 6 spines: links of 10 Gb/s to four and of 1 Gb/s to two; 4 hosts of 25 Gb/s per leaf. In a round
every host sends to its partner under the other leaf, and the next round begins when all have ended; every flow has a
queue pair of its own, so its first path is random. The paper has 204 flows with sizes from traces of GPT-3 that it does
not publish: here 26 rounds of 8 flows of 64 MB each, so that seconds cannot be compared, only ratios. As in the paper
software sends chunks, and the time until a chunk has arrived is the round trip; Hopper probes with 10 kB; FlowBender
uses round trips. Not published, and chosen here: 1 µs per link; thresholds of both as in Table 1, in relation to what a
chunk (or probe) takes on the idle fabric; PFC, ECN and DCQCN as above; packets of 4,096 B; the next chunk is sent on
without a break, and packets may arrive in any order, as every path has a queue pair of its own. Calls of the operating
system take no time.

**Claims** are those of the paper's text. A percentage is met within 10 percentage points, "comparable" and "equal"
mean within 5 %; "better" is "below in the mean over the seeds", however little.
"""

_TRIED = (
    "Tried on AliStorage at 80 %, two seeds of 2 ms: thresholds of 1.5 and 2 base round trips, and no margin, move the "
    "mean by about 5 % up or down; no wait after a switch makes it equal or 5 % worse."
)
_OVERLAP = "The ranges over seeds overlap, and the reason was not found. " + _TRIED
_CHUNKS = (
    "What the source's software does between a late chunk and a switch is not known. With flows of 256 MB (tried with "
    "7 rounds and two seeds) Hopper is ahead with 10 MB by more than with 1 MB, too."
)
REASONS = {
    "AliStorage, 80 %: Hopper is better than FlowBender above one BDP, in mean and p99": (
        "The mean is above FlowBender's in all three seeds; below one BDP Hopper is better. " + _TRIED
    ),
    "Hadoop, 80 %: Hopper is better than FlowBender above one BDP, in mean and p99": _OVERLAP,
    "ML training, 80 %: Hopper is better than FlowBender above one BDP, in mean and p99": _OVERLAP,
    "Hadoop: Hopper outperforms FlowBender in every bin of sizes, in mean and p99, at both loads": _OVERLAP,
    "ML training: Hopper outperforms FlowBender in every bin of sizes, in mean and p99, at both loads": _OVERLAP,
    "Hadoop: Hopper outperforms CONGA, but for the mean at 80 %, which is comparable": (
        "All differences are within 3 %. CONGA chooses for the first packet of a flow, Hopper moves what lasts longer."
    ),
    "Hadoop, 50 %: for short flows (up to 2 kB) the gap to ConWeave is less than 8.3 %": (
        "The mean is within that, the p99 is not. Hopper does not move flows of a few packets."
    ),
    "AliStorage, 50 %: Hopper is up to 6 % worse than ConWeave for small flows": (
        "The mean is within that, the p99 is not; as with Hadoop."
    ),
    "AliStorage, 50 %: large flows are up to 19 % better on average than CONGA's and FlowBender's": (
        "Not found; the source does not say what its bins are."
    ),
    "The parameters of Table 1 work well: within 5 % of the best of the sweep": (
        "A flow that leaves its path from 1.5 base round trips on moves twice as often, and is faster at 50 %; at 80 % "
        "(two seeds of 2 ms) one gains 5 % and the other loses 3 %."
    ),
    "Testbed: Hopper uses the 10 Gb/s links more than FlowBender, by up to 35 %": (
        "More, and by more than in the source. Loads are over the whole time, so who ends earlier has higher ones."
    ),
    "Testbed: that growth is almost twice as large with FlowBender as with Hopper": (
        "In part the length of flows: 64 MB have six chunks of 10 MB, the first of them on a random path. With "
        "256 MB (tried with 7 rounds and two seeds) it grows 0.9 times as much."
    ),
    "Testbed, 1 MB: that is by 45 % (mean), 61.9 % (p95) and 77.2 % (p99)": (
        "The order is the same, the gaps are smaller. The source does not say when its FlowBender moves."
    ),
    "Testbed: Hopper is faster than FlowBender in mean and tail, but for p99 with 10 MB, which is equal": (
        "Hopper is ahead in p99 with 10 MB, too. " + _CHUNKS
    ),
    "Testbed: the gap is smaller with chunks of 10 MB than with 1 MB": _CHUNKS,
    "Testbed: ECMP is slower with chunks of 1 MB than with 10 MB": (
        "In the source that is the cost of system calls, which is not modeled: chunks are nothing to ECMP here."
    ),
}
NOTES = """
- *Plain IRN* is the platform without Hopper's reordering window, against one run of conweave-ns3 with a flow list of
  its own.
- The source gives no tables for 128 servers, only figures: its numbers are those of the claims. Rows without a
  published number are only ours.
- Random spray has the lowest slowdowns at 50 % on this symmetric fabric: with a reordering window of 30 packets the
  order of packets costs little. It sends about 150 times as many packets out of order as Hopper.
- The source says that training takes "1080 and 715 seconds under Hopper and FlowBender, representing 51 % reduction",
  and likewise 1320 and 890: the names are swapped there, as its conclusions show. 1080 is 51 % more than 715, which is
  a reduction by 33.8 %.
- FlowBender uses marks on 128 servers (5 % of a round trip's packets) and round trips on the testbed, as in the source.
"""
