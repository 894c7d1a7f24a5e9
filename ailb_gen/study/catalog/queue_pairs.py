"""Queue pairs per connection: bus bandwidth over 1 to 32 of them, with 4 and 8 uplinks (Juniper)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from ailb_gen.study.model import (
    Calibrated,
    Case,
    Claim,
    Figure,
    Findings,
    Lines,
    Options,
    Published,
    Quantity,
    Role,
    Statistics,
    Study,
    Verdict,
)

QUEUE_PAIRS = (1, 2, 4, 8, 16, 32)
REDUCE, EXCHANGE = "all-reduce", "all-to-all"
# Bus bandwidth in GB/s by collective and uplinks, for QUEUE_PAIRS: Table 12 of the source.
PUBLISHED: Mapping[tuple[str, int], Sequence[float]] = {
    (REDUCE, 4): (189.067, 379.499, 386.753, 386.734, 383.412, 381.354),
    (REDUCE, 8): (66.488, 201.376, 364.614, 386.739, 383.396, 381.060),
    (EXCHANGE, 4): (17.785, 31.666, 43.552, 28.130, 13.537, 6.294),
    (EXCHANGE, 8): (15.835, 26.355, 43.284, 28.404, 13.662, 6.338),
}
# Rows that a parameter was set on: number of queue pairs by collective, all with 4 uplinks.
CALIBRATED = {REDUCE: (1, 2, 32), EXCHANGE: (8, 16, 32)}
STRIPES, SERVERS, RAILS = 2, 2, 8
# Uplinks carry in all what the NICs of a leaf send.
UPLINK_RATE = {4: "200g", 8: "100g"}
# Of beginning a message, with and without the context of its queue pair in the NIC.
MESSAGE_COST = {REDUCE: "344ns", EXCHANGE: "790ns"}
# What NCCL sends as one message between peers, in bytes.
CHUNK = 128 * 1024
SIZE = {REDUCE: "128MiB", EXCHANGE: "16MiB"}
BANDWIDTH = "bus bandwidth, GB/s"
# Of two bandwidths that differ by less, neither is called the better one.
ALIKE = 0.005
MOST_DEVIATION = 0.15


def _hosts() -> list[str]:
    """Return the NICs in the order of the ranks: servers of one stripe, then of the other, each on a leaf per rail."""
    return [
        f"host{1 + SERVERS * (RAILS * stripe + rail) + server}"
        for stripe in range(STRIPES)
        for server in range(SERVERS)
        for rail in range(RAILS)
    ]


def _name(collective: str, uplinks: int, queue_pairs: int) -> str:
    pairs = "1 queue pair" if queue_pairs == 1 else f"{queue_pairs} queue pairs"
    return f"{collective}, {uplinks} uplinks, {pairs}"


def _case(collective: str, uplinks: int, queue_pairs: int, seeds: int) -> Case:
    job = {
        "kind": collective,
        "bytes": SIZE[collective],
        "hosts": _hosts(),
        "per_server": RAILS,
        "queue_pairs": queue_pairs,
        **({"pxn": False} if collective == EXCHANGE else {}),
    }
    # A ring has a chunk as one message anyway.
    parts = {"message": CHUNK // queue_pairs} if collective == EXCHANGE else {}
    scenario = {
        "fabric": {
            "clos": {
                "leaves": STRIPES * RAILS,
                "spines": uplinks,
                "hosts_per_leaf": SERVERS,
                "host_rate": "400g",
                "uplink_rate": UPLINK_RATE[uplinks],
                "colors": uplinks,
            }
        },
        "traffic": [{"collective": job}],
        "packets": {"payload": "4KiB", "header": "82"},
        "switches": {"shared_buffer": "64MB", "pfc": True, "headroom": "200kB", "ecn": "off"},
        "balancer": "rlb",
        "transport": {"name": "go-back-n", **parts},
        "nics": {"message": MESSAGE_COST[collective]},
        "seeds": seeds,
    }
    return Case(_name(collective, uplinks, queue_pairs), scenario)


def _bandwidth(point: Statistics) -> float | None:
    found: float | None = next(iter(point["jobs"].values()))["bus_bandwidth"]
    return found


def _published() -> Iterator[Published]:
    for (collective, uplinks), row in PUBLISHED.items():
        for queue_pairs, value in zip(QUEUE_PAIRS, row, strict=True):
            used = uplinks == 4 and queue_pairs in CALIBRATED[collective]
            role: Role = "predicted" if uplinks == 8 else "calibrated" if used else "compared"
            yield Published(_name(collective, uplinks, queue_pairs), BANDWIDTH, value, role)


def _row(findings: Findings, collective: str, uplinks: int) -> dict[int, float]:
    return {count: findings.mean(_name(collective, uplinks, count), _bandwidth) for count in QUEUE_PAIRS}


class _Best:
    """Bandwidth is best with as many queue pairs as uplinks."""

    def __init__(self, collective: str, uplinks: int) -> None:
        self.collective, self.uplinks = collective, uplinks

    def __call__(self, findings: Findings) -> Verdict:
        found = _row(findings, self.collective, self.uplinks)
        here, best = found[self.uplinks], max(found, key=lambda count: (found[count], -count))
        shown = f"{here:.1f} GB/s with {self.uplinks}; most {found[best]:.1f} with {best}"
        return Verdict(here >= found[best] * (1 - ALIKE), shown)


def _no_benefit(findings: Findings) -> Verdict:
    found = {key: _row(findings, *key) for key in PUBLISHED}
    more = [row[count] / row[key[1]] - 1 for key, row in found.items() for count in QUEUE_PAIRS if count > key[1]]
    return Verdict(max(more) <= ALIKE, f"{max(more):+.1%} at most")


def _drastic(findings: Findings) -> Verdict:
    rows = [_row(findings, EXCHANGE, uplinks) for uplinks in (4, 8)]
    shares = [row[32] / max(row.values()) for row in rows]
    return Verdict(max(shares) < 0.25, f"{max(shares):.0%} of the best at most")


def _predicted(findings: Findings) -> Verdict:
    rows = [row for row in _published() if row.role == "predicted" and row.value]
    found = [abs(findings.mean(row.case, _bandwidth) / (row.value or math.nan) - 1) for row in rows]
    # A median of NaNs is none.
    middle = math.nan if any(map(math.isnan, found)) else median(found)
    return Verdict(middle <= MOST_DEVIATION, f"median {middle:.1%}, most {max(found):.0%}, of {len(found)} rows")


NOT_THERE = (
    "It does not hold in the published table either: 43.3 GB/s with 4 queue pairs, 28.4 with 8. What a NIC pays for "
    "its messages does not depend on the number of uplinks."
)


def _claims() -> list[Claim]:
    best = [
        Claim(
            f"With {uplinks} uplinks {collective} is best with {uplinks} queue pairs (within {ALIKE:.1%}).",
            _Best(collective, uplinks),
            NOT_THERE if (collective, uplinks) == (EXCHANGE, 8) else "",
        )
        for collective, uplinks in PUBLISHED
    ]
    return [
        *best,
        Claim("More queue pairs than uplinks are of no benefit.", _no_benefit),
        Claim("Many queue pairs can cost drastically: 32 leave less than a fourth of the best all-to-all.", _drastic),
        Claim(
            f"The rows with 8 uplinks, which nothing was set on, are met with a median deviation of at most "
            f"{MOST_DEVIATION:.0%}.",
            _predicted,
        ),
    ]


def _figures(findings: Findings) -> Sequence[Figure]:
    return [
        Lines(
            collective,
            f"Bus bandwidth of {collective} over queue pairs",
            "queue pairs per connection",
            BANDWIDTH,
            {name: line for uplinks in (4, 8) for name, line in _lines(findings, collective, uplinks)},
            log_x=True,
        )
        for collective in (REDUCE, EXCHANGE)
    ]


def _lines(findings: Findings, collective: str, uplinks: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    published = zip(QUEUE_PAIRS, PUBLISHED[collective, uplinks], strict=True)
    yield f"{uplinks} uplinks, published", [(float(count), value) for count, value in published]
    cases = {count: _name(collective, uplinks, count) for count in QUEUE_PAIRS}
    ours = [
        (float(count), findings.mean(case, _bandwidth)) for count, case in cases.items() if findings.points.get(case)
    ]
    yield f"{uplinks} uplinks, ours", ours


TEXT = """
Four servers with eight H100 GPUs and ConnectX-7 NICs of 400 Gb/s run nccl-tests over a fabric with RDMA-aware load
balancing, with 1 to 32 queue pairs per connection, each message split over all of them (NCCL_IB_SPLIT_DATA_ON_QPS=1).
The published column is headed Gbps; its numbers are GB/s, as nccl-tests prints them: eight NICs carry at most 400.

**The fabric** is not described next to the table. Here each of two stripes has two servers, with GPU i of each on leaf
i of their stripe. The ring takes the servers in order, so that one of the two NICs of a leaf sends over its uplinks.
Queue pair q has color q (modulo the uplinks), and its packets go over that spine alone. Together, the uplinks of a leaf
have the rate of its two NICs: 4 of 200 Gb/s, or 8 of 100 Gb/s. So with 4 uplinks one queue pair reaches half of the
rate of a NIC, and two reach all of it, as in the table; with 8 uplinks it takes twice as many.

**The traffic**: an all-reduce over a ring per rail, in chunks of 512 KiB; an all-to-all in which every GPU sends over
its own NIC to every GPU of the other servers (no PXN, as in Juniper's other tests), in messages of 128 KiB (NCCL's
chunk between peers). Both are cut into equal parts for the queue pairs. The published average over sizes is compared
with one large size. The fabric is lossless (PFC) and there is no rate control: its parameters are not published.

**The NIC** begins parts one after the other, and each takes it some time (posting, context, completion; `nics:
{message}`). The parts that it has begun share the link. 32 queue pairs make parts of 16 KiB of a chunk of 512 KiB, and
of 4 KiB of one of 128 KiB: the link waits for the NIC when a part takes longer to begin than to send. An all-to-all has
24 connections per NIC, 24 to 768 queue pairs, an all-reduce has one: the contexts of the former do not stay in the
NIC's cache, so that there are two costs.
"""
NOTES = """
- **All-to-all with 8 uplinks and up to 4 queue pairs** is a quarter to a half slower here than published, and
  **all-reduce with 8 uplinks and one queue pair** 45 % faster. No rate of the uplinks gives both: with 8 uplinks of
  200 Gb/s the all-to-all gets 16.2, 32.2 and 52.4 GB/s with 1, 2 and 4 queue pairs (published: 15.8, 26.4, 43.3), but
  the all-reduce 193 and 383 with 1 and 2 (published: 66 and 201).
- **All-to-all with 4 queue pairs**: only the cost of messages limits it here. The source measured at most 70 % of the
  NICs' rate. Not modeled is the servers' own part, such as GPUs that copy into buffers for 24 peers.
- **Rate control**: with DCQCN and the defaults of this program the all-reduce with one queue pair gets 77 GB/s with 8
  uplinks (published: 66), but 141 with 4 (published: 189): increases of 40 Mb/s are slow at these rates. The
  all-to-all with 4 uplinks gets 11 and 24 GB/s with 1 and 2 queue pairs in its first ms.
- **Load balancing**: with ECMP in place of RLB and 4 uplinks, the all-reduce gets 193, 193 and 258 GB/s with 1, 2 and 4
  queue pairs, which was not measured: there, queue pairs followed their colors.
- **Steady state**: four times the bytes change the all-to-all by less than 2 %; three all-reduces in a row have the
  bandwidth of one.
"""


def queue_pairs(options: Options) -> Study:
    """Return the study; quick is the same: a simulation takes less than half a second."""
    return Study(
        name="queue-pairs",
        title="Queue pairs per connection",
        source=(
            "Juniper Networks, Juniper RDMA-aware Load Balancing (LB) and BGP-DPF: GPU Backend Fabric Implementation, "
            "Table 12"
        ),
        text=TEXT,
        cases=[
            _case(collective, uplinks, count, options.seeds or 1)
            for collective, uplinks in PUBLISHED
            for count in QUEUE_PAIRS
        ],
        quantities=(Quantity(BANDWIDTH, _bandwidth),),
        published=list(_published()),
        claims=_claims(),
        calibrated=(
            Calibrated(
                "rate of the uplinks",
                "half of a NIC's with 4, half of that with 8",
                "all-reduce, 4 uplinks, 1 and 2 queue pairs",
            ),
            Calibrated("beginning a message, few queue pairs", "344 ns", "all-reduce, 4 uplinks, 32 queue pairs"),
            Calibrated(
                "beginning a message, many queue pairs", "790 ns", "all-to-all, 4 uplinks, 8, 16 and 32 queue pairs"
            ),
        ),
        figures=_figures,
        notes=NOTES,
    )
