"""Router advertisements of a switch, as BIRD's `protocol radv`: intervals, lifetimes and prefixes of the file."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.addresses import Prefix
from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.lab.plan import SwitchPlan, unit_link
from ailb_gen.network.model import RaPrefix, RouterAdvertisement, Switch

# Junos's defaults, in seconds: those of RFC 4861, section 6.2.1.
MAX_INTERVAL_S, VALID_S, PREFERRED_S = 600, 2_592_000, 604_800
# BIRD's bounds.
LEAST_MAX_S, MOST_MAX_S, LEAST_MIN_S = 4, 1800, 3
# BIRD puts no more into one advertisement.
MOST_PREFIXES = 31
INFINITE = 0xFFFFFFFF


def router_advertisements(switch: Switch, plan: SwitchPlan, untranslated: list[Untranslated]) -> str:
    """Return the protocol, empty if no interface of the lab advertises; adds statements that BIRD cannot do."""
    blocks: list[str] = []
    for advertisement in switch.advertisements.values():
        unit = switch.unit(advertisement.interface)
        link = unit_link(plan, advertisement.interface)
        port = switch.ports.get(advertisement.interface.rpartition(".")[0])
        if unit is None or port is None or unit.disabled or port.disabled or not unit.inet6 or link in (None, "lo"):
            continue
        addressed = {address.prefix for address in unit.addresses}
        _miss(advertisement, addressed, untranslated)
        blocks += _interface(str(link), advertisement)
    return "\n".join(["protocol radv radv1 {", *blocks, "}"]) if blocks else ""


def _interface(link: str, advertisement: RouterAdvertisement) -> Iterator[str]:
    longest, least = advertisement.max_interval, advertisement.min_interval
    longest = min(max(MAX_INTERVAL_S if longest is None else longest, LEAST_MAX_S), MOST_MAX_S)
    # A third of the longest where nothing is said, and never more than three quarters (RFC 4861).
    least = min(max(longest // 3 if least is None else least, LEAST_MIN_S), max(longest * 3 // 4, LEAST_MIN_S))
    lifetime = 3 * longest if advertisement.lifetime is None else advertisement.lifetime
    lifetime = min(lifetime if lifetime == 0 else max(lifetime, longest), 9000)
    yield f'  interface "{link}" {{'
    yield f"    max ra interval {longest}; min ra interval {least}; default lifetime {lifetime};"
    yield from (f"    {_prefix(entry)}" for entry in advertisement.prefixes)
    yield "    prefix ::/0 { skip; };"
    yield "  };"


def _prefix(entry: RaPrefix) -> str:
    words = [f"onlink {'yes' if entry.on_link else 'no'}", f"autonomous {'yes' if entry.autonomous else 'no'}"]
    valid = _seconds(entry.valid, VALID_S)
    preferred = min(_seconds(entry.preferred, PREFERRED_S), valid)
    words += [f"valid lifetime {valid}", f"preferred lifetime {preferred}"]
    return f"prefix {entry.prefix} {{ {'; '.join(words)}; }};"


def _seconds(text: str, default: int) -> int:
    if text == "infinity":
        return INFINITE
    return min(int(text), INFINITE) if text.isascii() and text.isdigit() and len(text) <= 10 else default


def _miss(advertisement: RouterAdvertisement, addressed: set[Prefix], untranslated: list[Untranslated]) -> None:
    where = f"protocols router-advertisement interface {advertisement.interface}"
    for word, line in advertisement.others:
        untranslated.append(Untranslated(f"{where} {word}", "the lab's advertisements do not have it", line))
    for entry in advertisement.prefixes:
        if entry.prefix not in addressed:
            reason = "no address of the interface is in it: BIRD does not advertise it"
            untranslated.append(Untranslated(f"{where} prefix {entry.prefix}", reason, entry.line))
    if len(advertisement.prefixes) > MOST_PREFIXES:
        reason = f"BIRD advertises {MOST_PREFIXES} of {len(advertisement.prefixes)} prefixes"
        untranslated.append(Untranslated(f"{where} prefix", reason, advertisement.line))
