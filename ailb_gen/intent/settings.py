"""Settings that may stand at the fabric, a stripe or a device: the more specific level wins key by key."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ailb_gen.intent.flowlets import JobName
from ailb_gen.intent.scalars import Text
from ailb_gen.validation import Bool, Int, Model


class SwitchMtu(Model):
    """MTUs of a switch in bytes; Junos counts the Ethernet header into a port's MTU, `irb` is an IPv6 MTU."""

    port: Int = Field(9216, ge=1500, le=9600, description="physical MTU of every fabric and server port")
    irb: Int = Field(9170, ge=1280, le=9500, description="family inet6 MTU of the IRBs")


class Mtu(SwitchMtu):
    """MTUs of switches and servers in bytes."""

    host: Int = Field(9000, ge=1280, le=9500, description="MTU of the GPU NICs")


class Bfd(Model):
    """BFD on every BGP session (the validated design's Table 6)."""

    enabled: Bool = Field(True, description="run BFD on every session")
    interval_ms: Int = Field(1000, ge=1, le=255000, description="minimum-interval")
    multiplier: Int = Field(3, ge=1, le=255, description="intervals without a packet until the session is down")


class Ra(Model):
    """Router advertisement timers (RFC 4861, section 6.2.1); lifetimes apply to the IRBs."""

    max_interval_s: Int = Field(30, ge=4, le=1800, description="longest time between advertisements, in seconds")
    min_interval_s: Int = Field(10, ge=3, le=1350, description="shortest time between advertisements, in seconds")
    router_lifetime_s: Int = Field(
        1800, ge=0, le=9000, description="how long servers keep the default route, in seconds"
    )
    valid_lifetime_s: Int = Field(
        2592000, ge=0, le=4294967295, description="how long an address stays valid, in seconds"
    )
    preferred_lifetime_s: Int = Field(
        604800, ge=0, le=4294967295, description="how long an address is used for new connections, in seconds"
    )


class EgressQuantization(Model):
    """DLB's grading of a link: thresholds and the weight of its rate, in percent."""

    min: Int = Field(ge=1, le=100, description="egress-quantization min, in percent")
    max: Int = Field(ge=1, le=100, description="egress-quantization max, in percent")
    rate_weightage: Int = Field(50, ge=0, le=100, description="weight of the rate against the buffer, in percent")


class Dlb(Model):
    """Dynamic load balancing, `forwarding-options enhanced-hash-key ecmp-dlb`."""

    mode: Literal["flowlet", "per-packet", "assigned-flow", "off"] = Field(
        "flowlet",
        description="unit that DLB assigns to a link: flowlets, packets, or whole flows (assigned-flow)",
    )
    inactivity_interval_us: Int = Field(128, ge=1, le=32000, description="pause that ends a flowlet, in microseconds")
    job: JobName | None = Field(
        None, description="the job that the interval is meant for; a warning when the job's pauses do not fit it"
    )
    flowset_table_size: Literal[256, 512, 1024, 2048, 4096, 8192, 16384, 32768] = Field(
        2048, description="entries of the flow set table"
    )
    prob_threshold: Int = Field(3, ge=0, le=255, description="reassignment: probability threshold of flows")
    quality_delta: Int = Field(6, ge=0, le=7, description="reassignment: difference in quality between links")
    sampling_rate: Int = Field(1000000, ge=1, le=4294967295, description="sampling-rate")
    egress_quantization: EgressQuantization | None = Field(
        None, description="how link quality is graded; default: the platform's own"
    )


def _mode_alone(value: object) -> object:
    return {"mode": value} if isinstance(value, str) else value


DlbMode = Annotated[Dlb, BeforeValidator(_mode_alone, json_schema_input_type=str | Dlb)]


class LoadBalancing(Model):
    """Load balancing among several links: DLB per switch, GLB across the fabric."""

    dlb: DlbMode = Field(Dlb.model_construct(), description="dynamic load balancing: a mode, or a mapping")
    glb: Bool = Field(False, description="leaf load-balancer-only, spine helper-only")


class Ecn(Model):
    """Marking of the lossless queue, in percent of its buffer; Junos interpolates between the two."""

    min_fill: Int = Field(55, ge=0, le=100, description="fill level at which marking begins, in percent")
    max_fill: Int = Field(90, ge=0, le=100, description="fill level at which marking reaches its maximum, in percent")
    max_probability: Int = Field(100, ge=1, le=100, description="share of packets marked at the maximum, in percent")


class Buffers(Model):
    """Shared and dedicated packet buffers, in percent; the platform's own unless written.

    The statements are not in every Junos release's model, so they are only rendered when asked for.
    """

    lossless: Int = Field(66, ge=0, le=100, description="shared buffer for lossless queues, in percent")
    lossless_headroom: Int = Field(
        24, ge=0, le=100, description="shared buffer (headroom) for data that arrives after a pause, in percent"
    )
    lossy: Int = Field(10, ge=0, le=100, description="shared buffer for lossy queues, in percent")
    dynamic_threshold: Int = Field(10, ge=0, le=10, description="dynamic threshold of the lossless queue")
    dedicated_ingress: Int = Field(15, ge=0, le=100, description="dedicated buffer at ingress, in percent")
    dedicated_egress: Int = Field(30, ge=0, le=100, description="dedicated buffer at egress, in percent")


class Roce(Model):
    """RoCEv2 class of service: DSCP, PFC and ECN, the same on switches and NICs."""

    enabled: Bool = Field(True, description="generate class of service")
    dscp: Int = Field(26, ge=0, le=63, description="DSCP of RDMA data")
    pfc_priority: Int = Field(3, ge=0, le=7, description="the priority that PFC pauses")
    queue: Int = Field(4, ge=1, le=6, description="0 is best effort, 7 network control")
    cnp_dscp: Int = Field(48, ge=0, le=63, description="DSCP of congestion notification packets")
    cnp_queue: Int = Field(3, ge=1, le=6, description="queue of congestion notification packets")
    cnp_percent: Int = Field(
        5, ge=1, le=100, description="share of the link that congestion notification packets may take, in percent"
    )
    pfc_watchdog: Bool = Field(True, description="detect a priority that stays paused")
    ecn: Ecn = Ecn.model_construct()
    buffers: Buffers | None = Field(None, description="shared and dedicated buffers; default: the platform's own")


class CommonSettings(Model):
    """Settings of every level that do not differ between switches and servers."""

    bfd: Bfd = Bfd.model_construct()
    ra: Ra = Ra.model_construct()
    load_balancing: LoadBalancing = LoadBalancing.model_construct()
    roce: Roce = Roce.model_construct()


class Settings(CommonSettings):
    """Settings of the whole fabric or of a stripe."""

    mtu: Mtu = Mtu.model_construct()


class SwitchSettings(CommonSettings):
    """Settings of one switch."""

    mtu: SwitchMtu = SwitchMtu.model_construct()


class PortOverride(Model):
    """Settings of one switch port; they win over every other level."""

    description: Text | None = Field(None, description="description of the port")
    mtu: Int | None = Field(None, ge=1500, le=9600, description="physical MTU in bytes")
    disabled: Bool = Field(False, description="take the port out of service")
