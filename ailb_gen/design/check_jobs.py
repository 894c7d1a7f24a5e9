"""Rules about the jobs that run on the fabric: NCCL's environment, their sockets, load balancing and NICs."""

from collections.abc import Iterable, Iterator, Sequence

from ailb_gen.addresses import Prefix
from ailb_gen.design.inventory import Slot, StripeSlot
from ailb_gen.design.problems import Problems
from ailb_gen.design.seats import Seat, gpu_kinds
from ailb_gen.intent.flowlets import interval_range
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.nccl import QUEUE_PAIRS, SOCKET_NAMES, NcclNetwork, faults, uneven
from ailb_gen.intent.settings import Dlb
from ailb_gen.yamlio import Path

# Numbers: docs/studies/balancers, one queue pair per connection.
NOT_GRADED = (
    "without egress_quantization leaves do not avoid a spine whose links are loaded to less than 50 %: with 30 % of "
    "extra traffic on one spine an all-reduce had 191 GB/s, with min 20, max 50 and rate_weightage 80 388 GB/s",
    "set load_balancing.dlb.egress_quantization: {min: 20, max: 50, rate_weightage: 80}",
)


def _variable(fabric: Fabric, name: str) -> Path:
    """Return the path at which the intent sets a variable."""
    own_key = name == SOCKET_NAMES and name not in fabric.nccl.environment
    return ("nccl", "socket_ifname") if own_key else ("nccl", "environment", name)


def check_environment(fabric: Fabric, seats: Iterable[Seat], colors: int, problems: Problems) -> None:
    """Note values of the intent's own environment that do not work, and another number of queue pairs than colors."""
    nccl = fabric.nccl
    own = {SOCKET_NAMES: nccl.socket_ifname} if nccl.socket_ifname is not None else {}
    own |= nccl.environment
    values = {"NCCL_SOCKET_NTHREADS": str(nccl.socket_nthreads)} | own
    pool = Prefix(fabric.addressing.pool.network, fabric.addressing.pool.length)
    dscp = fabric.roce.dscp if fabric.roce.enabled else None
    wrong: dict[str, tuple[str, str]] = {}
    for kind in gpu_kinds(fabric, seats):
        rdma = [kind.rdma_name(number) for number in range(len(kind.rails))]
        nics = [kind.nic_name(number) for number in range(len(kind.rails))]
        wrong = faults(values, NcclNetwork(rdma, dscp, nics, pool)) | wrong
    for name, (why, remedy) in wrong.items():
        shown = own[name] if len(own[name]) <= 60 else f"{own[name][:57]}..."
        problems.error("wrong-value", _variable(fabric, name), f"{shown!r} is not possible: {why}", f"write {remedy}")
    if QUEUE_PAIRS in own and QUEUE_PAIRS not in wrong and (why := uneven(int(own[QUEUE_PAIRS]), colors)):
        reason = f"{own[QUEUE_PAIRS]} queue pairs per connection over {colors} colors: {why}"
        problems.warning("qps-not-colors", _variable(fabric, QUEUE_PAIRS), reason, "leave it out")


def check_sockets(fabric: Fabric, seats: Iterable[tuple[StripeSlot, Sequence[Seat]]], problems: Problems) -> None:
    """Warn when NCCL may choose GPU NICs for its sockets, in several stripes, although servers have another network."""
    nccl = fabric.nccl
    if nccl.socket_ifname is not None or SOCKET_NAMES in nccl.environment:
        return
    rows = [row for _, row in seats if any(seat.kind.gpus for seat in row)]
    if len(rows) > 1 and (fabric.management.servers or any(seat.given.management for row in rows for seat in row)):
        reason = "without it NCCL may choose a GPU NIC for its sockets, which have no route from one stripe to another"
        problems.warning("no-socket-ifname", ("nccl",), reason, "set nccl.socket_ifname to the management NIC")


def _unfit_interval(dlb: Dlb, speed_gbps: int) -> str:
    """Return why the inactivity interval does not fit its job; empty when it does, or is for none."""
    if dlb.job is None or dlb.mode != "flowlet":
        return ""
    shortest, longest = interval_range(dlb.job, speed_gbps)
    given = dlb.inactivity_interval_us
    if given * 2 >= shortest and given <= longest:
        return ""
    why = "packets of a flowlet overtake those of the last one" if given < shortest else "no pause of the job is longer"
    return f"an interval of {given} µs does not fit {dlb.job}: {why}; {shortest} to {longest} µs are recommended"


def _rows(slot: Slot, unordered: Sequence[str], speed_gbps: int) -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    """Yield what load balancing of a switch lacks: code, key, reason and remedy."""
    balancing = slot.settings.load_balancing
    if balancing.dlb.mode == "per-packet" and unordered:
        who = ", ".join(unordered)
        reason = f"packets of a queue pair arrive in any order, and nothing says that the NICs of {who} take them so"
        remedy = "set out_of_order in hosts or server_kinds where they do; otherwise use flowlet"
        yield "packets-out-of-order", ("dlb", "mode"), reason, remedy
    if balancing.glb and slot.role == "leaf" and balancing.dlb.egress_quantization is None:
        yield "glb-not-graded", ("glb",), *NOT_GRADED
    if unfit := _unfit_interval(balancing.dlb, speed_gbps):
        yield "unfit-interval", ("dlb", "inactivity_interval_us"), unfit, "correct the interval, or the job"


def _place(slot: Slot, key: tuple[str, ...], problems: Problems) -> Path:
    """Return where a key is written; an override of another key of load balancing does not count."""
    full = ((*level, "load_balancing", *key) for level in slot.levels)
    written = (path for path in full if path in problems.intent.source.places)
    return next(written, problems.where(slot.levels, "load_balancing", *key))


def check_balancing(fabric: Fabric, slots: Iterable[Slot], seats: Iterable[Seat], problems: Problems) -> None:
    """Warn of load balancing that NICs do not take, that does not see load, or that does not fit its job."""
    kinds = {seat.kind.name: seat.kind for seat in seats if seat.kind.gpus}.values()
    unordered = [kind.name or "servers without a kind" for kind in kinds if not kind.out_of_order]
    for slot in slots:
        for code, key, reason, remedy in _rows(slot, unordered, fabric.uplinks.speed):
            problems.warning(code, _place(slot, key, problems), reason, remedy)
