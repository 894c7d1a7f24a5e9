"""Optics of the ports: `show interfaces diagnostics optics`; light comes in where there is a carrier.

Temperatures, voltages, currents and powers are constant. Source: replies of a port of 100 Gbit/s in the tests of
genieparser, and of 10 Gbit/s in those of NAPALM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.operations.build import Child, argument, element
from ailb_gen.emulator.operations.ports import LOGICAL, MANAGEMENT, check_there, port_up, shown_ports

LANES, BIAS_MA, LIGHT_DBM, DARK_DBM, MODULE_C, MODULE_V = 8, 7.5, -1.2, -40.0, 42.0, 3.3
LEVELS = ("high-alarm", "low-alarm", "high-warn", "low-warn")
# Thresholds in the order of LEVELS.
TEMPERATURES_C, VOLTAGES = (75, -5, 70, 0), (3.63, 2.97, 3.465, 3.135)
BIAS_LIMITS_MA, TX_LIMITS_DBM, RX_LIMITS_DBM = (13.0, 3.0, 12.0, 4.0), (5.0, -9.0, 4.0, -8.0), (5.0, -12.0, 4.0, -10.0)


def optics(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces diagnostics optics`."""
    switch, requested, made = device.fabric.switch(device.name), argument(rpc, "interface-name"), []
    check_there(switch, requested)
    for port in shown_ports(switch, requested):
        if not port.name.startswith((*LOGICAL, *MANAGEMENT)):
            diagnostics = element("optics-diagnostics", *_module(), *_lanes(port_up(device, port)))
            made.append(element("physical-interface", ("name", port.name), diagnostics))
    return element("interface-information", *made)


def _heat(celsius: float) -> str:
    return f"{celsius:.0f} degrees C / {celsius * 9 / 5 + 32:.0f} degrees F"


def _milliwatts(dbm: float) -> float:
    return float(10 ** (dbm / 10))


def _module() -> Iterator[Child]:
    """Make what belongs to the module: its values, no alarm, and all thresholds."""
    yield "module-temperature", _heat(MODULE_C)
    yield "module-voltage", f"{MODULE_V:.4f}"
    for name in ("module-temperature", "module-voltage"):
        yield from ((f"{name}-{level}", "off") for level in LEVELS)
    yield from _thresholds("laser-bias-current", [f"{limit:.3f}" for limit in BIAS_LIMITS_MA])
    yield from _powers("laser-tx-power", TX_LIMITS_DBM)
    yield from _thresholds("module-temperature", [_heat(limit) for limit in TEMPERATURES_C])
    yield from _thresholds("module-voltage", [f"{limit:.4f}" for limit in VOLTAGES])
    yield from _powers("laser-rx-power", RX_LIMITS_DBM)


def _thresholds(name: str, texts: Sequence[str]) -> Iterator[Child]:
    for level, text in zip(LEVELS, texts, strict=True):
        yield f"{name}-{level}-threshold", text


def _powers(name: str, limits_dbm: Sequence[float]) -> Iterator[Child]:
    for level, limit in zip(LEVELS, limits_dbm, strict=True):
        yield f"{name}-{level}-threshold", f"{_milliwatts(limit):.4f}"
        yield f"{name}-{level}-threshold-dbm", f"{limit:.2f}"


def _lanes(lit: bool) -> Iterator[etree._Element]:
    received = LIGHT_DBM if lit else DARK_DBM
    alarms = [(f"{name}-{level}", "off") for name in ("laser-bias-current", "laser-tx-power") for level in LEVELS]
    alarms += [(f"laser-rx-power-{level}", "on" if not lit and level[:3] == "low" else "off") for level in LEVELS]
    for lane in range(LANES):
        yield element(
            "optics-diagnostics-lane-values",
            ("lane-index", lane),
            ("laser-bias-current", f"{BIAS_MA:.3f}"),
            ("laser-output-power", f"{_milliwatts(LIGHT_DBM):.3f}"),
            ("laser-output-power-dbm", f"{LIGHT_DBM:.2f}"),
            ("laser-rx-optical-power", f"{_milliwatts(received):.4f}"),
            ("laser-rx-optical-power-dbm", f"{received:.2f}"),
            *alarms,
        )
