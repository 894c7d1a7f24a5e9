"""Which setting wins: fabric, then stripe, then the device's own entry, then `overrides`; ports win over all.

`docs/intent.md` documents this order; `extra_config` is the one thing that adds up instead.
"""

from ailb_gen.design.model import BfdTimers, BufferShares, DeviceSettings, DlbSettings, HostQos, RaTimers, RoceClasses
from ailb_gen.intent.settings import CommonSettings, LoadBalancing, Ra, Roce, Settings
from ailb_gen.validation import merged

JUNOS_VALID_LIFETIME_S = 2592000
JUNOS_PREFERRED_LIFETIME_S = 604800
# The two low bits of the traffic class say "ECN-capable transport" (RFC 3168, section 5).
ECT_0 = 0b10


def plain_settings(level: Settings) -> Settings:
    """Return only the settings of a level that carries more."""
    return Settings.model_construct(**{key: getattr(level, key) for key in Settings.model_fields})


def resolve(base: Settings, *levels: CommonSettings) -> Settings:
    """Return the settings after every level, the most specific last."""
    for level in levels:
        base = merged(base, level)
    return base


def bits(value: int, width: int) -> str:
    """Write a code point the way Junos does: `011010`."""
    return format(value, f"0{width}b")


def _ra(ra: Ra) -> RaTimers:
    return RaTimers(
        ra.max_interval_s,
        ra.min_interval_s,
        ra.router_lifetime_s,
        ra.valid_lifetime_s if ra.valid_lifetime_s != JUNOS_VALID_LIFETIME_S else None,
        ra.preferred_lifetime_s if ra.preferred_lifetime_s != JUNOS_PREFERRED_LIFETIME_S else None,
    )


def _dlb(balancing: LoadBalancing) -> DlbSettings | None:
    dlb = balancing.dlb
    if dlb.mode == "off":
        return None
    grades = dlb.egress_quantization
    return DlbSettings(
        **dlb.model_dump(exclude={"egress_quantization", "job"}),
        quantization=(grades.min, grades.max, grades.rate_weightage) if grades else None,
    )


def _roce(roce: Roce) -> RoceClasses | None:
    if not roce.enabled:
        return None
    return RoceClasses(
        dscp_bits=bits(roce.dscp, 6),
        cnp_bits=bits(roce.cnp_dscp, 6),
        pfc_priority=roce.pfc_priority,
        pfc_bits=bits(roce.pfc_priority, 3),
        queue=roce.queue,
        cnp_queue=roce.cnp_queue,
        cnp_percent=roce.cnp_percent,
        pfc_watchdog=roce.pfc_watchdog,
        ecn_fill=(roce.ecn.min_fill, roce.ecn.max_fill),
        ecn_probability=roce.ecn.max_probability,
        buffers=BufferShares(**roce.buffers.model_dump()) if roce.buffers else None,
    )


def device_settings(settings: Settings) -> DeviceSettings:
    """Return the settings as templates need them."""
    bfd = settings.bfd
    return DeviceSettings(
        irb_mtu=settings.mtu.irb,
        port_mtu=settings.mtu.port,
        bfd=BfdTimers(bfd.interval_ms, bfd.multiplier) if bfd.enabled else None,
        ra=_ra(settings.ra),
        dlb=_dlb(settings.load_balancing),
        glb=settings.load_balancing.glb,
        roce=_roce(settings.roce),
    )


def host_qos(roce: Roce) -> HostQos | None:
    """Return the NIC side of the RoCEv2 classes; the class selector bits give the CNP priority."""
    if not roce.enabled:
        return None
    mask = ",".join("1" if priority == roce.pfc_priority else "0" for priority in range(8))
    return HostQos(
        dscp=roce.dscp,
        traffic_class=roce.dscp << 2 | ECT_0,
        pfc_priority=roce.pfc_priority,
        pfc_mask=mask,
        cnp_dscp=roce.cnp_dscp,
        cnp_priority=roce.cnp_dscp >> 3,
    )
