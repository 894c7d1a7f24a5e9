"""Settings that may stand at the fabric, a stripe or a device: the more specific level wins key by key."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

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

    enabled: Bool = True
    interval_ms: Int = Field(1000, ge=1, le=255000, description="minimum-interval")
    multiplier: Int = Field(3, ge=1, le=255)


class Ra(Model):
    """Router advertisement timers (RFC 4861, section 6.2.1); lifetimes apply to the IRBs."""

    max_interval_s: Int = Field(30, ge=4, le=1800)
    min_interval_s: Int = Field(10, ge=3, le=1350)
    router_lifetime_s: Int = Field(1800, ge=0, le=9000)
    valid_lifetime_s: Int = Field(2592000, ge=0, le=4294967295)
    preferred_lifetime_s: Int = Field(604800, ge=0, le=4294967295)


class EgressQuantization(Model):
    """How DLB grades a link: thresholds and the weight of its rate, in percent."""

    min: Int = Field(ge=1, le=100)
    max: Int = Field(ge=1, le=100)
    rate_weightage: Int = Field(50, ge=0, le=100)


class Dlb(Model):
    """Dynamic load balancing, `forwarding-options enhanced-hash-key ecmp-dlb`."""

    mode: Literal["flowlet", "per-packet", "assigned-flow", "off"] = "flowlet"
    inactivity_interval_us: Int = Field(128, ge=1, le=32000)
    flowset_table_size: Literal[256, 512, 1024, 2048, 4096, 8192, 16384, 32768] = 2048
    prob_threshold: Int = Field(3, ge=0, le=255)
    quality_delta: Int = Field(6, ge=0, le=7)
    sampling_rate: Int = Field(1000000, ge=1, le=4294967295)
    egress_quantization: EgressQuantization | None = None


def _mode_alone(value: object) -> object:
    return {"mode": value} if isinstance(value, str) else value


DlbMode = Annotated[Dlb, BeforeValidator(_mode_alone, json_schema_input_type=str | Dlb)]


class LoadBalancing(Model):
    """What moves packets when more than one link is left: DLB per switch, GLB across the fabric."""

    dlb: DlbMode = Dlb()
    glb: Bool = Field(False, description="leaf load-balancer-only, spine helper-only")


class Ecn(Model):
    """Marking of the lossless queue, in percent of its buffer; Junos interpolates between the two."""

    min_fill: Int = Field(55, ge=0, le=100)
    max_fill: Int = Field(90, ge=0, le=100)
    max_probability: Int = Field(100, ge=1, le=100)


class Buffers(Model):
    """Shared and dedicated packet buffers, in percent; the platform's own unless written.

    The statements are not in every Junos release's model, so they are only rendered when asked for.
    """

    lossless: Int = Field(66, ge=0, le=100)
    lossless_headroom: Int = Field(24, ge=0, le=100)
    lossy: Int = Field(10, ge=0, le=100)
    dynamic_threshold: Int = Field(10, ge=0, le=10)
    dedicated_ingress: Int = Field(15, ge=0, le=100)
    dedicated_egress: Int = Field(30, ge=0, le=100)


class Roce(Model):
    """RoCEv2 class of service: DSCP, PFC and ECN, the same on switches and NICs."""

    enabled: Bool = True
    dscp: Int = Field(26, ge=0, le=63, description="DSCP of RDMA data")
    pfc_priority: Int = Field(3, ge=0, le=7)
    queue: Int = Field(4, ge=1, le=6, description="0 is best effort, 7 network control")
    cnp_dscp: Int = Field(48, ge=0, le=63, description="DSCP of congestion notification packets")
    cnp_queue: Int = Field(3, ge=1, le=6)
    cnp_percent: Int = Field(5, ge=1, le=100)
    pfc_watchdog: Bool = True
    ecn: Ecn = Ecn()
    buffers: Buffers | None = None


class CommonSettings(Model):
    """Settings of every level that do not differ between switches and servers."""

    bfd: Bfd = Bfd()
    ra: Ra = Ra()
    load_balancing: LoadBalancing = LoadBalancing()
    roce: Roce = Roce()


class Settings(CommonSettings):
    """What can be set for the whole fabric or for a stripe."""

    mtu: Mtu = Mtu()


class SwitchSettings(CommonSettings):
    """What can be set for one switch."""

    mtu: SwitchMtu = SwitchMtu()


class PortOverride(Model):
    """What can be set for one switch port; wins over every other level."""

    description: Text | None = None
    mtu: Int | None = Field(None, ge=1500, le=9600)
    disabled: Bool = False
