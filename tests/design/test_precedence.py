"""Precedence: fabric, stripe, the device's own entry, overrides, port; and what adds up instead."""

from ailb_gen.design.model import DesignSwitch, HostPort
from ailb_gen.intent.settings import Bfd, LoadBalancing, Settings
from ailb_gen.validation import merged
from tests.conftest import design_of

TEXT = """\
name: f
platform: generic
stripes:
  - servers: 1
  - servers: 1
    bfd: {interval_ms: 200}
    extra_config: "stripe;"
rails: 2
spines:
  - {}
  - {name: top, bfd: {multiplier: 9}, asn: 65010, extra_config: "entry;"}
bfd: {interval_ms: 100, multiplier: 4}
extra_config: "fabric;"
overrides:
  stripes:
    2: {mtu: {host: 4200}, extra_config: "stripe-override;"}
  leaves:
    stripe2-leaf1: {bfd: {multiplier: 5}, mtu: {irb: 9100}, extra_config: "device;", ports: {et-0/0/16: {mtu: 9400}}}
  spines:
    top: {bfd: {interval_ms: 700}, extra_config: "override;"}
  servers:
    server-002: {mtu: 1500}
"""


def bfd(switch: DesignSwitch) -> tuple[int, int]:
    assert switch.device_settings.bfd is not None
    return switch.device_settings.bfd.interval_ms, switch.device_settings.bfd.multiplier


def test_the_more_specific_level_wins_key_by_key() -> None:
    design = design_of(TEXT)
    switches = {switch.name: switch for switch in design.switches}
    assert bfd(switches["stripe1-leaf1"]) == (100, 4)
    assert bfd(switches["stripe2-leaf2"]) == (200, 4)
    assert bfd(switches["stripe2-leaf1"]) == (200, 5)
    assert bfd(switches["spine1"]) == (100, 4)
    assert bfd(switches["top"]) == (700, 9)
    assert switches["top"].asn == 65010
    leaf = switches["stripe2-leaf1"]
    assert (leaf.device_settings.irb_mtu, switches["stripe2-leaf2"].device_settings.irb_mtu) == (9100, 9170)
    assert [p.mtu for p in leaf.interfaces if isinstance(p, HostPort)] == [9400]
    assert [p.mtu for p in leaf.fabric_ports] == [9216, 9216]
    assert [server.config.nics[0].mtu for server in design.servers] == [9000, 1500]


def test_extra_config_adds_up() -> None:
    switches = {switch.name: switch for switch in design_of(TEXT).switches}
    assert switches["stripe2-leaf1"].extra_config == ("fabric;", "stripe;", "stripe-override;", "device;")
    assert switches["top"].extra_config == ("fabric;", "entry;", "override;")
    assert switches["stripe1-leaf2"].extra_config == ("fabric;",)


def test_merging_takes_only_what_was_written() -> None:
    base = Settings(bfd=Bfd(interval_ms=50))
    assert merged(base, Settings()) is base
    assert merged(base, Settings(bfd=Bfd(multiplier=7))).bfd == Bfd(interval_ms=50, multiplier=7)
    assert merged(base, Settings(load_balancing=LoadBalancing(glb=True))).bfd.interval_ms == 50
