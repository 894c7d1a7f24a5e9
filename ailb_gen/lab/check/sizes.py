"""Compare MTUs with the intent, and judge whether packets of the servers' own MTU arrive in every color."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import LARGE, MTUS
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import AskedRoutes
from ailb_gen.lab.check.measured import Measured, SeenSize
from ailb_gen.lab.check.paths import leaf_of
from ailb_gen.lab.links import ETHERNET_HEADER
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Switch


def judge_mtus(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Compare the MTU of every port, IRB and NIC with the intent; where it differs, with the other end of the link.

    Where both ends are to have the same and have not, one of them has not what the intent asks for.
    """
    for end, want in _wanted(context, asked):
        found = seen.mtus.get(end)
        if end.device not in seen.devices or found is None:
            continue
        findings.look(MTUS)
        if found != want:
            message = f"the MTU of {end.port} is {found} bytes without Ethernet headers, not {want}"
            far = asked.links.get(end.device, {}).get(end.port, (None, ""))[0]
            other = seen.mtus.get(far) if far is not None else None
            if other is not None and other != found:
                message += f"; {far} sends up to {other}" if other > found else f"; {far} takes {other}"
            _add(context, end, message, want, found, findings)


def _wanted(context: Context, asked: AskedRoutes) -> Iterator[tuple[End, int]]:
    """Yield the MTUs that the intent asks for, without Ethernet headers."""
    switches = context.expected.switches
    for device, links in asked.links.items():
        yield from ((End(device, port), _of_port(context, device, port)) for port in links)
    leaves = leaf_of(context)
    for cable in context.cabling.hosts:
        nic, leaf = End(cable.b_device, cable.b_port), switches[cable.a_device]
        if nic in leaves:
            yield nic, context.hosts[nic.device].mtu
            yield End(leaf.name, cable.a_port), leaf.mtu_of(cable.a_port) - ETHERNET_HEADER
            yield End(leaf.name, f"irb.{leaf.vlan}"), leaf.settings.mtu.irb


def _of_port(context: Context, device: str, port: str) -> int:
    """Return the MTU of a port; a smaller one of `family inet6` counts if it lets the servers' packets through."""
    expected, switch = context.expected.switches[device], context.network.switches.get(device)
    most, least = expected.mtu_of(port) - ETHERNET_HEADER, expected.settings.mtu.irb
    unit = switch.unit(f"{port}.0") if switch is not None else None
    own = unit.inet6_mtu if unit is not None else None
    return own if own is not None and least <= own <= most else most


def _add(
    context: Context,
    end: End,
    message: str,
    expected: object,
    found: object,
    findings: Findings,
) -> None:
    switch = context.network.switches.get(end.device)
    if switch is None:
        place = _host_place(context, end.device)
        subjects = [about.nic(end.device, end.port)]
        findings.add(MTUS, end.device, message, place, expected, found, part=end.port, subjects=subjects)
        return
    findings.at(MTUS, switch, message, _line(switch, end.port), expected, found, part=end.port)


def _line(switch: Switch, name: str) -> int:
    port = switch.ports.get(name) or switch.ports.get(name.partition(".")[0])
    return (port.mtu_line or port.line) if port is not None else 1


def _host_place(context: Context, name: str) -> Place | None:
    host = context.network.hosts.get(name)
    return Place(f"{host.profile.folder}/{NETPLAN}") if host is not None else None


def judge_sizes(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Judge packets of the senders' own MTU; where no way is left, and where small ones are lost, others say so."""
    lost_anyway = {(one.source, one.target, one.pair) for one in seen.traces if one.end}
    leaves = leaf_of(context)
    wrong: dict[tuple[str, int, str], list[SeenSize]] = defaultdict(list)
    for one in seen.sizes:
        if (one.source, one.target, one.pair) in lost_anyway:
            continue
        findings.look(LARGE)
        if one.end:
            wrong[one.source.device, one.size, one.end].append(one)
    for (server, size, end), lost in wrong.items():
        first = lost[0]
        message = f"a packet of {size} bytes of queue pair {first.pair} from {first.source} to {first.target} is lost"
        message += f": {end}" + (f" (and {len(lost) - 1} more pairs)" if len(lost) > 1 else "")
        involves = dict.fromkeys(
            name for one in lost for name in (*_way(asked, leaves, one, context), one.target.device)
        )
        place, subjects = _host_place(context, server), [about.nic(server, first.source.port)]
        findings.add(LARGE, server, message, place, involves=involves, part=first.source.port, subjects=subjects)


def _way(asked: AskedRoutes, leaves: Mapping[End, str], one: SeenSize, context: Context) -> Iterator[str]:
    """Yield the switches that a packet passes by the intent."""
    near, far = leaves[one.source], leaves[one.target]
    yield near
    if near != far:
        want = asked.at_leaf(near, context.expected.switches[far].prefixes[one.pair - 1])
        yield from sorted({asked.links[near][port][0].device for port in want.allowed})
        yield far
