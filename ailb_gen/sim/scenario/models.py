"""The models of a scenario file, but for its traffic: fabric, packets, switches, load balancer, hosts, failures."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.fabric import PS_PER_US, Degradation
from ailb_gen.sim.scenario.scalars import (
    LINKS,
    Bytes,
    Names,
    Number,
    Rate,
    Seeds,
    Share,
    ShareOrLinks,
    SomeBytes,
    SomeShare,
    SomeTime,
    Time,
    read_bytes,
    several,
    written,
)
from ailb_gen.sim.scenario.traffic import FileName, TrafficPart
from ailb_gen.sim.settings import Level, Scheduling, TransportName
from ailb_gen.validation import Bool, Int, Model, schema_text, wrong
from ailb_gen.wording import did_you_mean

# Steps of a validation path that no file has: `transport: raw` is read as `transport: {name: raw}`, and so on.
UNWRITTEN_STEPS = frozenset({"name", "count", "word", "mapping", "[key]"})
# Far more than any network has; sizes of packets are 32-bit numbers.
MAX_PAYLOAD, MAX_HEADER = 1 << 24, 1 << 16
DETECTION_PS = 1000 * PS_PER_US

Positive = Annotated[Int, Field(ge=1)]
Few = Annotated[Int, Field(ge=0, le=1_000_000)]


def _named(value: object) -> object:
    """Let a name stand for a mapping with that name alone."""
    return {"name": value} if isinstance(value, str) else value


def _declared(what: str, names: Collection[str]) -> PlainValidator:
    """Return what takes the names that are declared of something."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        hint = did_you_mean(value, names) or f"there are {', '.join(names)}"
        raise wrong("wrong-value", f"there is no {what} {str(value)[:40]!r}; {hint}")

    return PlainValidator(check)


BalancerName = Annotated[str, _declared("load balancer", BALANCERS), WithJsonSchema({"enum": list(BALANCERS)})]
CongestionName = Annotated[str, _declared("congestion control", CONGESTION), WithJsonSchema({"enum": list(CONGESTION)})]
DCQCN = {one.name: one for one in CONGESTION["dcqcn"].parameters}
# They may be keys of their own, whose values have units: by parameter.
DCQCN_KEYS = {name: re.sub("_(us|mbps)$", "", name) for name in DCQCN}

Rates = Annotated[tuple[Rate, ...], BeforeValidator(several, json_schema_input_type=Rate | list[Rate])]


class Files(Model):
    """A fabric as its files describe it; both paths start at the folder of the scenario file."""

    fabric: FileName | None = Field(None, description="fabric.yaml; default: read only the generated files")
    artifacts: FileName = Field(description="the directory of generated or collected files")
    delay: Time = written("1us", "of every link")


class Clos(Model):
    """A leaf-spine fabric by numbers."""

    leaves: Annotated[Int, Field(ge=1, le=4096)] = Field(description="number of leaves")
    spines: Annotated[Int, Field(ge=1, le=4096)] = Field(description="number of spines")
    hosts_per_leaf: Annotated[Int, Field(ge=1, le=4096)] = Field(description="number of hosts of each leaf")
    host_links: Annotated[Int, Field(ge=1, le=64)] = Field(1, description="parallel links of a host to its leaf")
    leaf_spine_links: Annotated[Int, Field(ge=1, le=64)] = Field(1, description="parallel links of leaf and spine")
    host_rate: Rate = written("100g", "of every link of a host")
    uplink_rate: Rates = written("100g", "of every link between leaf and spine: one, or one per spine")
    delay: Time = written("1us", "of every link")
    host_delay: Time | None = Field(None, description="of every link of a host; default: delay")
    uplink_delay: Time | None = Field(None, description="of every link between leaf and spine; default: delay")
    colors: Annotated[Int, Field(ge=0, le=64)] = Field(
        0, description="destinations per host; color c goes over spine c alone"
    )


class FabricPart(Model):
    """The fabric: from files, or by numbers."""

    files: Files | None = Field(None, description="generated or collected files")
    clos: Clos | None = Field(None, description="a leaf-spine fabric by numbers, without files")


class Packets(Model):
    """Sizes on the wire."""

    payload: Annotated[SomeBytes, Field(le=MAX_PAYLOAD)] = written("4096", "most bytes of a message in a packet")
    header: Annotated[Bytes, Field(le=MAX_HEADER)] = written("48", "of every data packet")
    control: Annotated[SomeBytes, Field(le=MAX_HEADER)] = written("60", "ACK, NACK, CNP and pause frames")


class EcnPart(Model):
    """Marking at egress queues: from `min` on, with `probability` at `max`, always above."""

    min: Bytes = Field(description="queue length at which marking begins")
    max: Bytes = Field(description="queue length above which every packet is marked")
    probability: Share = Field(1.0, description="share of packets that are marked at max")


EcnForms = Annotated[
    Annotated[EcnPart, Tag("mapping")] | Annotated[Literal["off"], Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "mapping"),
]


def _ecn(value: object) -> object:
    if value is None or value == "off" or isinstance(value, dict | EcnPart):
        return value
    raise wrong("wrong-value", f"must be 'off', or a mapping of min, max and probability, not {str(value)[:40]!r}")


def _buffer(value: object) -> object:
    if value is None or value == "infinite":
        return value
    if not (size := read_bytes(value)):
        raise wrong("out-of-range", "must be more than zero, or 'infinite'")
    return size


class Loss(Model):
    """Random loss on some links."""

    links: Names = Field(description="names or globs of sending ports")
    probability: Share = Field(description="share of packets that are lost")


class SwitchPart(Model):
    """Queues and buffers of switches."""

    shared_buffer: Annotated[
        Literal["infinite"] | SomeBytes | None,
        BeforeValidator(_buffer, json_schema_input_type=Literal["infinite"] | SomeBytes | None),
    ] = Field(None, description="of each switch")
    egress_alpha: Annotated[Number, Field(gt=0)] | None = Field(
        None, description="limit of a lossy queue, as a factor of the free shared buffer"
    )
    ingress_alpha: Annotated[Number, Field(gt=0)] | None = Field(
        None, description="pause threshold of a lossless ingress queue, as a factor of the free shared buffer"
    )
    pfc: Bool | None = Field(None, description="lossless data: pause frames instead of drops")
    pause: SomeBytes | None = Field(None, description="a fixed pause threshold, instead of ingress_alpha")
    headroom: Bytes | None = Field(
        None, description="of every port, for data that arrives after a pause frame; default: as much as can arrive"
    )
    ecn: Annotated[EcnForms | None, BeforeValidator(_ecn, json_schema_input_type=EcnPart | Literal["off"] | None)] = (
        Field(None, description="marking at egress queues")
    )


class SwitchException(SwitchPart):
    """Other settings of some switches, or of some of their ports."""

    at: Names = Field(description="names or globs of switches, or of ports as DEVICE:PORT")
    obeys_pauses: Bool | None = Field(None, description="pause frames stop what the ports send")
    parameters: dict[str, Number] = Field(
        default_factory=dict, description="parameters of DLB, GLB and RLB that differ; dynamic: 0 switches DLB off"
    )


class Switches(SwitchPart):
    """Queues and buffers of all switches; what is absent comes from the fabric's files."""

    resume_offset: Bytes | None = Field(None, description="a pause ends this far below its threshold")
    exceptions: tuple[SwitchException, ...] = Field(
        (), description="switches and ports with other settings; of several that fit one, the last counts"
    )
    scheduling: Scheduling | None = Field(
        None, description="between classes of data: strict (lowest first) or round robin"
    )
    loss: Annotated[tuple[Loss, ...], BeforeValidator(several, json_schema_input_type=Loss | list[Loss])] = Field(
        (), description="random loss on links"
    )


class BalancerPart(Model):
    """A load balancer with its parameters."""

    name: BalancerName = Field(description="the load balancer")
    parameters: dict[str, Number] = Field(
        default_factory=dict, description="its parameters that differ from their defaults"
    )


class Transport(Model):
    """Transport of the hosts: sending, acknowledgements, retransmissions."""

    name: TransportName = Field("go-back-n", description="how losses are detected and repaired; raw: not at all")
    window: SomeBytes | None = Field(
        None, description="default: one bandwidth-delay product (selective-repeat, receiver-driven), none (others)"
    )
    message: SomeBytes | None = Field(
        None, description="flows are sent in such messages, one at a time; default: as one"
    )
    reordering: Few = Field(0, description="packets out of order without a NACK")
    trim_above: Annotated[Few, Field(ge=1)] = Field(
        8, description="receiver-driven: packets that wait in a queue of a switch, above which it trims"
    )
    nack_interval: Time = written("4us", "least time between two NACKs of a flow")
    every_nack: Bool = Field(
        False,
        description="go-back-N goes back at every NACK, as in ConWeave's simulator; else only where that is news",
    )
    timeout: SomeTime | None = Field(
        None,
        description="without an acknowledgement, after which a flow sends again; default: as its round trips say",
    )
    timeout_few: SomeTime | None = Field(None, description="while few packets are in flight; default: timeout")
    few_packets: Few = Field(3, description="packets in flight up to which timeout_few applies")
    ends_acknowledged: Bool = Field(False, description="a flow completes when its sender knows that all has arrived")


def _of_dcqcn(name: str) -> Any:  # noqa: ANN401 - a field of any type
    """Make a field of one of DCQCN's parameters."""
    one = DCQCN[name]
    words = {"us": f"{one.default:g}us", "mbps": f"{one.default:g}m"}
    return Field(
        words.get(name.rpartition("_")[2], one.default), validate_default=True, description=f"DCQCN: {one.text}"
    )


class Congestion(Model):
    """Congestion control of the hosts. Keys other than name and parameters are DCQCN's."""

    name: CongestionName = Field("none", description="the congestion control")
    parameters: dict[str, Number] = Field(
        default_factory=dict, description="its parameters that differ from their defaults"
    )
    gain: Annotated[Number, Field(gt=0, le=1)] = _of_dcqcn("gain")
    alpha_interval: SomeTime = _of_dcqcn("alpha_interval_us")
    cut_interval: SomeTime = _of_dcqcn("cut_interval_us")
    increase_interval: SomeTime = _of_dcqcn("increase_interval_us")
    fast_recovery_stages: Few = _of_dcqcn("fast_recovery_stages")
    additive: Rate = _of_dcqcn("additive_mbps")
    hyper: Rate = _of_dcqcn("hyper_mbps")
    minimum: Rate = _of_dcqcn("minimum_mbps")

    @property
    def dcqcn(self) -> dict[str, float]:
        """The values of the keys of DCQCN by the names of its parameters: times are in ps, and rates in bit/s."""
        return {name: getattr(self, key) / (10**6 if key != name else 1) for name, key in DCQCN_KEYS.items()}


class Nics(Model):
    """Costs of sending in a NIC, in addition to the wire."""

    context_cache: Few = Field(0, description="queue pairs in its cache; 0: all")
    context_miss: Time = written("0", "for sending on another one")
    message: Time = written("0", "before the first packet of a message; a NIC starts one after the other")


class FailurePart(Model):
    """Links or switches that are down, or degraded, from a time on, perhaps until another."""

    name: str | None = Field(
        None,
        description="a switch, a port as DEVICE:PORT, the links between two devices as ONE-OTHER, or a glob of one of "
        "these",
    )
    random: ShareOrLinks | None = Field(
        None,
        description="in place of a name: so many links between switches, drawn by the seed, such as 5 links; or every "
        "cable with this probability, down from the start, and FIBs do not converge",
    )
    at: Time = written("0", "time of the failure; 0: from the start")
    back: SomeTime | None = Field(None, description="time of the return; default: never")
    detection: Time | None = Field(
        None, description="convergence time of FIBs after failure and return; default: 1ms, or 0 if at is 0"
    )
    rate: SomeShare | None = Field(None, description="not down: the share of the rate that is left; FIBs do not follow")
    delay: SomeTime | None = Field(None, description="not down: added to the delay in either direction")
    loss: SomeShare | None = Field(None, description="not down: share of packets that are lost")

    @property
    def detection_ps(self) -> int:
        """How long FIBs take to follow; what is down from the start was noticed before."""
        return self.detection if self.detection is not None else DETECTION_PS if self.at else 0

    @property
    def degraded(self) -> Degradation | None:
        """What is left of the links; None: they are down."""
        if self.rate is None and self.delay is None and self.loss is None:
            return None
        return Degradation(1.0 if self.rate is None else self.rate, self.delay or 0, self.loss or 0.0)


def _timed_failure(value: object) -> object:
    """Let `LINK`, `LINK@TIME` or `N links`, with `,KEY=VALUE` behind it, stand for a failure."""
    if not isinstance(value, str):
        return value
    first, *rest = value.split(",")
    name, at, time = first.partition("@")
    what = "random" if LINKS.fullmatch(name) else "name"
    more = (word.partition("=") for word in rest)
    return {what: name, **({"at": time} if at else {}), **{key.strip(): text.strip() for key, _, text in more}}


Failures = Annotated[
    tuple[Annotated[FailurePart, BeforeValidator(_timed_failure, json_schema_input_type=str | FailurePart)], ...],
    Field(max_length=1000),
]


class Measure(Model):
    """Measurements."""

    after: Time = written("0", "only flows that start at least this long after the first one are counted")
    load_interval: SomeTime | None = Field(None, description="load of every link per interval")
    load_samples: Annotated[Int, Field(ge=1, le=1_000_000)] = Field(1000, description="maximum number of intervals")


def by_name(model: Any, names: Any = str) -> BeforeValidator:  # noqa: ANN401 - types
    """Let a name stand for a model with that name alone."""
    return BeforeValidator(_named, json_schema_input_type=names | model)


def _listed(value: object) -> object:
    return [_named(one) for one in value] if isinstance(value, list) else [_named(value)]


OneBalancer = BalancerName | BalancerPart
Balancers = Annotated[
    tuple[BalancerPart, ...],
    BeforeValidator(_listed, json_schema_input_type=OneBalancer | list[OneBalancer]),
    Field(max_length=64),
]


class Scenario(Model):
    """A scenario file: what is simulated, and how often."""

    name: Annotated[str, Field(max_length=200)] = Field("", description="title of the results")
    fabric: FabricPart
    traffic: Annotated[tuple[TrafficPart, ...], Field(min_length=1)] = Field(description="jobs and sources of flows")
    placement: FileName = Field(
        "in-order",
        description="order in which ranks of jobs take servers: in-order, scattered (drawn by the seed), or that of a "
        "file, a list of Slurm or MPI",
    )
    packets: Packets = Field(default_factory=Packets)
    switches: Switches = Field(default_factory=Switches)
    balancer: Balancers = Field(
        (), description="names, or names with parameters; default: what the files configure, else ecmp"
    )
    transport: Annotated[Transport, by_name(Transport)] = Field(
        default_factory=Transport, description="a name, or a name with other keys"
    )
    congestion: Annotated[Congestion, by_name(Congestion, CongestionName)] = Field(
        default_factory=Congestion, description="a name, or a name with other keys"
    )
    nics: Nics = Field(default_factory=Nics)
    failures: Failures = Field((), description="links and switches that fail or are degraded")
    measure: Measure = Field(default_factory=Measure)
    until: SomeTime | None = Field(None, description="simulated time at which to stop, even with unfinished flows")
    seeds: Seeds = Field((1,), description="a count N (seeds 1 to N), or a list of seeds")
    level: Level = Field("packet", description="packet: every packet; flow: rates of flows")
    sweep: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict, description="values for paths, all combinations of which are simulated"
    )


def json_schema() -> str:
    """Return the JSON Schema of scenario files (draft 2020-12) as indented text ending in a newline."""
    return schema_text(Scenario.model_json_schema(), "scenario file of ailb-gen simulate")
