"""From the intent to the whole design: every number computed once, every device given its slice."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ailb_gen.addresses import address_text
from ailb_gen.design import address_plan, check, check_jobs, numbers
from ailb_gen.design.colors import colors as fabric_colors
from ailb_gen.design.drains import NOTHING, Drained, drained
from ailb_gen.design.inventory import PlatformProfiles, Slot, spines, stripes
from ailb_gen.design.model import (
    Color,
    ColorPrefix,
    Design,
    DesignAsList,
    DesignServer,
    DesignSwitch,
    DesignVlan,
    DeviceSettings,
    Hardware,
    PublishedOptic,
)
from ailb_gen.design.numbers import SwitchNumbers, check_unique, hand_out, ipv4_text, link_address, network
from ailb_gen.design.precedence import device_settings
from ailb_gen.design.problems import Claim, Problems, collapsed, duplicates
from ailb_gen.design.seats import seats
from ailb_gen.design.servers import HostPortUse, ServerBuilder
from ailb_gen.design.spare import spare_ports
from ailb_gen.design.switches import SwitchParts, build_switch, ranges
from ailb_gen.design.wiring import Wire, wires
from ailb_gen.errors import Problem
from ailb_gen.intent.load import AFTER_VALUES, Intent
from ailb_gen.intent.plans import Addressing

# A route that carries it has passed a spine; a spine takes it from no leaf. Value after Juniper's published designs.
LOCAL_COMMUNITY = "0:15"


def _prefixes(plan: Addressing, leaf: Slot, colors: tuple[Color, ...]) -> tuple[ColorPrefix, ...]:
    rows = []
    for color in colors:
        value = network(plan, leaf.stripe, leaf.number, color.number)
        rows.append(ColorPrefix(color, value, f"{address_text(value)}/64", address_text(value | plan.gateway)))
    return tuple(rows)


def _vlan(leaf: Slot, number: int) -> DesignVlan:
    return DesignVlan(number, f"vn{number}", f"Virtual network for rail {leaf.number - 1} on leaf {leaf.name}")


def _hardware(slots: Iterable[Slot]) -> tuple[Hardware, ...]:
    """Return the platforms of the switches, by name."""
    profiles = {slot.ports.name: slot.ports.profile for slot in slots}
    return tuple(
        Hardware(
            name,
            profiles[name].description,
            profiles[name].cage,
            tuple(PublishedOptic(one.speed, one.media, one.name, one.part) for one in profiles[name].optics),
        )
        for name in sorted(profiles)
    )


class DesignParts(NamedTuple):
    """What switches are built from: numbers, prefixes, VLANs and spare ports by name, links, ports of servers."""

    given: dict[str, SwitchNumbers]
    prefixes: dict[str, tuple[ColorPrefix, ...]]
    vlans: dict[str, DesignVlan]
    wires: tuple[Wire, ...]
    uses: tuple[HostPortUse, ...]
    out: Drained
    spare: dict[str, tuple[str, ...]]
    servers: tuple[DesignServer, ...]


class DesignBuilder:
    """One run from intent to design; the steps share what they found."""

    def __init__(self, intent: Intent) -> None:
        self.fabric = intent.fabric
        self.problems = Problems(intent)
        check.check_size(self.fabric, self.problems)
        self.problems.stop_on_errors(AFTER_VALUES)
        platforms = PlatformProfiles(self.fabric, self.problems)
        self.stripes = stripes(self.fabric, platforms, self.problems)
        self.leaves = tuple(leaf for stripe in self.stripes for leaf in stripe.leaves)
        self.spines = spines(self.fabric, platforms, self.problems)
        self.seats = seats(self.fabric, self.stripes, self.problems)
        self.colors = fabric_colors(self.fabric, self.problems)
        self.slots: tuple[Slot, ...] = self.leaves + self.spines
        self.seated = [seat for row in self.seats for seat in row]
        self.seats_by_stripe = list(zip(self.stripes, self.seats, strict=True))
        self.device_settings: dict[int, DeviceSettings] = {}

    def check_early(self) -> None:
        """Check what needs no numbers; a design that fails here is not computed."""
        fabric, problems = self.fabric, self.problems
        check.check_names(self.slots, self.seated, problems)
        if any(problem.code == "duplicate-name" for problem in problems.found):
            # Everything below goes by name; with two of a name it would find faults that are none.
            problems.stop_on_errors("numbers, links and ports are")
        address_plan.check_plan(self.fabric.addressing, self.stripes, len(self.colors), problems)
        check.check_overlaps(fabric, problems)
        check.check_bgp(fabric, problems)
        check.check_loopbacks(self.slots, fabric, problems)
        check.check_settings(self.slots, problems)
        check.check_mtus(self.slots, self.seats_by_stripe, problems)
        check.check_oversubscription(fabric, self.seats_by_stripe, problems)
        check_jobs.check_environment(fabric, self.seated, len(self.colors), problems)
        check_jobs.check_sockets(fabric, self.seats_by_stripe, problems)
        check_jobs.check_balancing(fabric, self.slots, self.seated, problems)
        check.check_tables(fabric, max(len(s.leaves) for s in self.stripes), len(self.colors), problems)
        self._check_identities()

    def _check_identities(self) -> None:
        """Note MAC addresses and serial numbers that two ports or chassis share."""
        where, slots = self.problems.where, self.slots
        macs: list[Claim] = [
            (nic.mac, f"NIC {n} of {seat.name}", where(seat.levels, "nics", n, "mac"))
            for seat in self.seated
            for n, nic in seat.given.nics.items()
            if nic.mac
        ]
        macs += [
            (seat.given.management_mac, seat.name, where(seat.levels, "management_mac"))
            for seat in self.seated
            if seat.given.management_mac
        ]
        macs += [(slot.device.mac, slot.name, where(slot.own, "mac")) for slot in slots if slot.device.mac]
        duplicates("duplicate-mac", "MAC address", macs, self.problems)
        serials: list[Claim] = [
            (slot.device.serial, slot.name, where(slot.own, "serial")) for slot in slots if slot.device.serial
        ]
        duplicates("duplicate-name", "serial number", serials, self.problems)

    def _device_settings_of(self, slot: Slot) -> DeviceSettings:
        key = id(slot.settings)
        if key not in self.device_settings:
            self.device_settings[key] = device_settings(slot.settings)
        return self.device_settings[key]

    def hand_out(self) -> tuple[SwitchNumbers, ...]:
        """Return the numbers of all switches."""
        fabric, problems = self.fabric, self.problems
        return hand_out(self.leaves, "leaves", fabric, problems) + hand_out(self.spines, "spines", fabric, problems)

    def server_management(self, switches: tuple[SwitchNumbers, ...]) -> dict[str, str]:
        """Return the management address of every server, or no text; notes addresses that any two devices share."""
        fabric = self.fabric
        rows = [
            (n, seat.given.management, self.problems.where(seat.levels, "management"))
            for n, seat in enumerate(self.seated)
        ]
        result = numbers.management(rows, fabric.management.servers, ("management", "servers"), self.problems)
        owners = [(given.slot.name, given.management) for given in switches]
        servers = [(seat.name, row) for seat, row in zip(self.seated, result, strict=True)]
        claims: list[Claim] = [(cidr.address, name, where) for name, (cidr, where) in (*owners, *servers) if cidr]
        if fabric.management.gateway:
            claims.insert(0, (fabric.management.gateway, "the gateway", ("management", "gateway")))
        rows_of_switches = [(given.slot.name, *given.management) for given in switches]
        check.check_gateway(fabric.management.gateway, rows_of_switches, self.problems)
        duplicates("duplicate-address", "management address", claims, self.problems, ipv4_text)
        return {name: str(cidr) if cidr else "" for name, (cidr, _) in servers}

    def vlans(self) -> dict[str, DesignVlan]:
        """Return the VLAN of every leaf; notes ids that two leaves share within their scope."""
        rows = numbers.vlans(self.leaves, self.fabric, self.problems)
        whole = self.fabric.vlans.unique == "fabric"
        claims: list[Claim] = [
            ((0 if whole else leaf.stripe, vlan), leaf.name, path)
            for leaf, (vlan, path) in zip(self.leaves, rows, strict=True)
            if vlan
        ]
        duplicates("duplicate-vlan", "VLAN", claims, self.problems, lambda claim: str(claim[1]))
        return {leaf.name: _vlan(leaf, vlan) for leaf, (vlan, _) in zip(self.leaves, rows, strict=True)}

    def as_lists(self, given: dict[str, SwitchNumbers], rows: tuple[Wire, ...]) -> dict[str, dict[str, DesignAsList]]:
        """Return, per role, the AS list of every color: a leaf accepts only the spines of that color."""
        spine_asns: dict[str, set[int]] = defaultdict(set)
        for row in rows:
            spine_asns[row.link.color.name].add(given[row.link.spine].asn[0])
        leaf_asns = DesignAsList("leaves", ranges(given[leaf.name].asn[0] for leaf in self.leaves))
        return {
            "leaf": {c.name: DesignAsList(f"spines-{c.name}", ranges(spine_asns[c.name])) for c in self.colors},
            "spine": {c.name: leaf_asns for c in self.colors},
        }

    def link_addresses(
        self, given: dict[str, SwitchNumbers], rows: tuple[Wire, ...]
    ) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Return, for static neighbors, the leaf's address and both AS numbers of every link, by leaf and port."""
        if self.fabric.bgp.neighbors != "static":
            return {}
        found, counts = {}, Counter[str]()
        for link in (row.link for row in rows):
            counts[link.leaf] += 1
            own = link_address(self.fabric.bgp.links, given[link.leaf].slot, counts[link.leaf])
            found[link.leaf, link.leaf_interface] = own, given[link.leaf].asn[0], given[link.spine].asn[0]
        return found

    def _servers(
        self, prefixes: dict[str, tuple[ColorPrefix, ...]], vlans: dict[str, DesignVlan], managed: dict[str, str]
    ) -> tuple[tuple[DesignServer, ...], list[HostPortUse]]:
        builder = ServerBuilder(self.fabric, prefixes, vlans, managed, self.problems)
        builder.check_rdma({id(seat.kind): seat.kind for seat in self.seated}.values())
        rows = [server for stripe, row in self.seats_by_stripe for server in builder.stripe(stripe, row)]
        return tuple(rows), builder.uses

    def _switches(self, parts: DesignParts) -> list[DesignSwitch]:
        by_switch: dict[str, list[Wire]] = defaultdict(list)
        hosts: dict[str, list[HostPortUse]] = defaultdict(list)
        for row in parts.wires:
            by_switch[row.link.leaf].append(row)
            by_switch[row.link.spine].append(row)
        for use in parts.uses:
            hosts[use.leaf].append(use)
        given = parts.given
        lists, links = self.as_lists(given, parts.wires), self.link_addresses(given, parts.wires)
        gateway = ipv4_text(self.fabric.management.gateway) if self.fabric.management.gateway else ""
        return [
            build_switch(
                slot,
                SwitchParts(
                    numbers=given[slot.name],
                    gateway=gateway,
                    settings=self._device_settings_of(slot),
                    vlan=parts.vlans.get(slot.name),
                    prefixes=parts.prefixes.get(slot.name, ()),
                    wires=by_switch[slot.name],
                    bgp=self.fabric.bgp,
                    links=links,
                    hosts=hosts[slot.name],
                    as_lists=lists[slot.role],
                    drained=parts.out.ports.get(slot.name, NOTHING),
                    graceful_shutdown=slot.name in parts.out.in_shutdown,
                    spare=parts.spare[slot.name],
                ),
            )
            for slot in self.slots
        ]

    def parts(self) -> DesignParts:
        """Compute everything but the switches, which cannot fail. Raises IntentError with all that does not add up."""
        self.check_early()
        handed = self.hand_out()
        check_unique(handed, self.fabric, self.problems)
        vlans = self.vlans()
        managed = self.server_management(handed)
        rows = wires(self.leaves, self.spines, self.colors, self.fabric, self.problems)
        prefixes = {leaf.name: _prefixes(self.fabric.addressing, leaf, self.colors) for leaf in self.leaves}
        servers, uses = self._servers(prefixes, vlans, managed)
        by_name = {slot.name: slot for slot in self.slots}
        claimed = check.claimed_ports(by_name, rows, uses, self.problems)
        ports = {name: [use for use, *_ in claims] for name, claims in claimed.items()}
        spare = spare_ports(self.slots, ports, self.fabric.spare_ports, self.problems)
        check.check_ports(by_name, claimed, spare, self.problems)
        check.check_links(by_name, rows, self.problems)
        self.problems.stop_on_errors("drains are" if self.fabric.drain or self.fabric.graceful_shutdown else "")
        out = drained(by_name, rows, uses, self.colors, self.problems)
        self.problems.stop_on_errors()
        given = {row.slot.name: row for row in handed}
        return DesignParts(given, prefixes, vlans, rows, tuple(uses), out, spare, servers)

    def design(self) -> Design:
        """Compute everything; raises IntentError with all that does not add up."""
        parts = self.parts()
        out, rows, servers = parts.out, parts.wires, parts.servers
        built = self._switches(parts)
        return Design(
            name=self.fabric.name,
            digest=self.problems.intent.digest,
            pool=str(self.fabric.addressing.pool),
            aigp=self.fabric.aigp,
            local_community=LOCAL_COMMUNITY,
            colors=self.colors,
            leaves=tuple(switch for switch in built if switch.role == "leaf"),
            spines=tuple(switch for switch in built if switch.role == "spine"),
            servers=servers,
            links=tuple(row.link for row in rows),
            host_speed_gbps=self.fabric.host_ports.speed,
            drained=out.lines,
            loopback_pools=(
                (str(self.fabric.loopbacks.leaves), str(self.fabric.loopbacks.spines)) if self.fabric.loopbacks else ()
            ),
            hardware=_hardware(self.slots),
        )


def build(intent: Intent) -> tuple[Design, tuple[Problem, ...]]:
    """Compute the design; returns it with the warnings.

    Raises IntentError with everything that does not add up: duplicates, exhausted pools, overlaps, MTUs, ports.
    """
    builder = DesignBuilder(intent)
    design = builder.design()
    return design, tuple(collapsed(builder.problems.warnings))
