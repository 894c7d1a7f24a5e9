"""The records that a design computes: everything that a source of truth should hold about a fabric."""

from __future__ import annotations

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ailb_gen.design.model import Breakout, Design, DesignServer, DesignSwitch, FabricPort, HostNic, HostPort
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.platforms import Profile, shipped
from ailb_gen.sot.dialect import COLOR_FIELD, FABRIC_FIELD, TAG, SourceScope, fabric_tag
from ailb_gen.sot.records import Ref, SourceRecord, Value, cable_ends, cable_key

# Of tags and roles, as six hexadecimal digits.
TAG_COLOR = "607d8b"
ROLE_COLORS = {"leaf": "4caf50", "spine": "2196f3", "server": "9c27b0"}
SWITCH_MAKER, SERVER_MAKER, SERVER_MODEL = "Juniper", "Generic", "Server"
SWITCH_SYSTEM, SERVER_SYSTEM = "junos-evo", "linux"
# AS numbers of the fabric are private ones, or of whoever runs it.
RIR = "RFC 6996"
# How the ports of a platform are built; the others' are not known.
FORM_FACTORS = {"qfx5130-32cd": "qsfpdd", "qfx5230-64cd": "qsfpdd", "qfx5240-64od": "osfp", "qfx5240-64qd": "qsfpdd"}
PORT_TYPES = {
    ("osfp", 800): "800gbase-x-osfp",
    ("osfp", 400): "400gbase-x-osfp",
    ("qsfpdd", 800): "800gbase-x-qsfpdd",
    ("qsfpdd", 400): "400gbase-x-qsfpdd",
    ("qsfpdd", 200): "200gbase-x-qsfpdd",
    ("qsfpdd", 100): "100gbase-x-qsfpdd",
}
OTHER_TYPE, VIRTUAL_TYPE, MANAGEMENT_TYPE = "other", "virtual", "1000base-t"
GENERIC = "generic"
LOOPBACK, SERVER_MANAGEMENT = "lo0", "mgmt"
# Of descriptions, in characters.
MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class DesiredOptions:
    """What the design does not say: the name of its site, and the profiles of the fabric's own platforms."""

    site: str
    platforms: Mapping[str, Profile] = field(default_factory=dict)

    def profile(self, platform: str) -> Profile:
        """Return the profile of a platform."""
        return self.platforms.get(platform) or shipped(platform)


def options_of(fabric: Fabric, site: str = "") -> DesiredOptions:
    """Return the options of a fabric file; without a site it is named as the fabric."""
    return DesiredOptions(site or fabric.name, fabric.platforms)


def desired(design: Design, options: DesiredOptions) -> tuple[SourceRecord, ...]:
    """Return every record of a design, each once, in order of dependency and name."""
    made = _Desired(design, options)
    found: dict[Ref, SourceRecord] = {}
    for record in made.records():
        found.setdefault(record.ref, record)
    return tuple(sorted(found.values(), key=lambda record: record.sort_key))


def scope_of(design: Design, options: DesiredOptions) -> SourceScope:
    """Return what of a source of truth is read for a design."""
    managed = [one.management.address for one in design.switches if one.management]
    managed += [server.management for server in design.servers if server.management]
    links = [port.addresses.own for switch in design.switches for port in switch.fabric_ports if port.addresses]
    networks = {design.pool, *design.loopback_pools, *map(_network, managed)}
    networks.update(_around(one.router_id for one in design.switches), _around(links))
    asns = [sorted(one.asn for one in row) for row in (design.leaves, design.spines)]
    ranges = tuple((row[0], row[-1]) for row in asns if row)
    models = sorted({_type_key(switch.platform)[1] for switch in design.switches} | {SERVER_MODEL})
    return SourceScope(options.site, design.name, tuple(sorted(networks)), ranges, tuple(models))


def _network(interface: str) -> str:
    return str(ipaddress.ip_interface(interface).network)


def _around(addresses: Iterable[str]) -> Iterator[str]:
    """Yield the smallest network around addresses of one family, if there are any."""
    numbers = sorted(map(ipaddress.ip_address, addresses), key=int)
    if numbers:
        length = numbers[0].max_prefixlen - (int(numbers[0]) ^ int(numbers[-1])).bit_length()
        yield str(ipaddress.ip_network(f"{numbers[0]}/{length}", strict=False))


def _json(data: object) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False)


class _Desired:
    """The records of one design."""

    def __init__(self, design: Design, options: DesiredOptions) -> None:
        self.design = design
        self.options = options
        self.site = Ref("site", (options.site,))
        self.tag = Ref("tag", (fabric_tag(design.name),))
        self.speeds: dict[tuple[str, str], int] = {}
        for link in design.links:
            self.speeds[link.leaf, link.leaf_interface] = link.speed_gbps
            self.speeds[link.spine, link.spine_interface] = link.speed_gbps

    def records(self) -> Iterator[SourceRecord]:
        """Yield all records; some more than once."""
        yield from self._common()
        yield from self._pools()
        yield from self._asns()
        for switch in self.design.switches:
            yield from self._switch(switch)
        for server in self.design.servers:
            yield from self._server(server)
        for link in self.design.links:
            yield self._cable(link.leaf, link.leaf_interface, link.spine, link.spine_interface, link.color.name)

    def _common(self) -> Iterator[SourceRecord]:
        name = self.design.name
        yield SourceRecord("tag", (TAG,), {"description": "Created by ailb-gen", "color": TAG_COLOR})
        yield SourceRecord("tag", self.tag.key, {"description": _text(f"Fabric {name}"), "color": TAG_COLOR})
        kinds = ("cable", "interface", "prefix")
        yield SourceRecord(
            "custom-field", (COLOR_FIELD,), {"description": "Color of the fabric (ailb-gen)", "kinds": kinds}
        )
        fields: dict[str, Value] = {"description": "Fabric that ailb-gen made it for", "kinds": ("cable", "interface")}
        yield SourceRecord("custom-field", (FABRIC_FIELD,), fields)
        yield SourceRecord("site", self.site.key)
        for role, color in ROLE_COLORS.items():
            yield SourceRecord("device-role", (role,), {"color": color})
        for maker in (SWITCH_MAKER, SERVER_MAKER):
            yield SourceRecord("manufacturer", (maker,))
        yield SourceRecord("platform", (SWITCH_SYSTEM,), {"manufacturer": Ref("manufacturer", (SWITCH_MAKER,))})
        yield SourceRecord("platform", (SERVER_SYSTEM,))
        yield SourceRecord("rir", (RIR,))
        for platform in sorted({switch.platform for switch in self.design.switches}):
            yield self._device_type(platform)
        yield SourceRecord("device-type", (SERVER_MAKER, SERVER_MODEL), _typed(SERVER_MAKER, ()))
        data = {
            "aigp": self.design.aigp,
            "colors": [
                {"name": one.name, "number": one.number, "community": one.community, "backup": one.backup}
                for one in self.design.colors
            ],
            "fabric": name,
            "pool": self.design.pool,
        }
        context: dict[str, Value] = {
            "description": _text(f"Fabric {name}"),
            "data": _json({"ailb": data}),
            "tag": self.tag,
        }
        yield SourceRecord("config-context", self.tag.key, context)

    def _device_type(self, platform: str) -> SourceRecord:
        # The generic platform is a number of ports, not a model: devices get those that they use.
        groups = self.options.profile(platform).port_groups if platform != GENERIC else ()
        ports = tuple((name, _port_type(platform, group.native)) for group in groups for name in group.names())
        maker, model = _type_key(platform)
        return SourceRecord("device-type", (maker, model), _typed(maker, ports))

    def _pools(self) -> Iterator[SourceRecord]:
        """Yield the networks that others lie in, which the fabric may share with its neighbors."""
        routers = _around(switch.router_id for switch in self.design.switches)
        for pool in (self.design.pool, *self.design.loopback_pools, *routers):
            yield SourceRecord("prefix", (pool,), {"status": "container", "site": self.site}, shared=True)
        managed = [one.management.address for one in self.design.switches if one.management]
        managed += [server.management for server in self.design.servers if server.management]
        for network in sorted(set(map(_network, managed))):
            fields: dict[str, Value] = {"status": "active", "site": self.site, "description": "Management"}
            yield SourceRecord("prefix", (network,), fields, shared=True)

    def _asns(self) -> Iterator[SourceRecord]:
        owners: dict[int, list[DesignSwitch]] = defaultdict(list)
        for switch in self.design.switches:
            owners[switch.asn].append(switch)
        for number, switches in owners.items():
            text = switches[0].name if len(switches) == 1 else f"{len(switches)} switches of {self.design.name}"
            yield SourceRecord("asn", (str(number),), {"rir": Ref("rir", (RIR,)), "description": _text(text)})

    def _switch(self, switch: DesignSwitch) -> Iterator[SourceRecord]:
        data: dict[str, object] = {"asn": switch.asn, "router_id": switch.router_id, "number": switch.number}
        if switch.vlan:
            data |= {"stripe": switch.stripe, "vlan": switch.vlan.id}
            data["prefixes"] = [
                {"prefix": one.text, "gateway": one.gateway, "color": one.color.name} for one in switch.prefixes
            ]
        fields = self._device(switch.role, _type_key(switch.platform), SWITCH_SYSTEM, data)
        if switch.management:
            management = switch.management
            yield from self._managed(
                switch.name, management.interface, MANAGEMENT_TYPE, management.address, management.mac
            )
            fields["primary_ip"] = Ref("ip-address", (management.address,))
        yield SourceRecord("device", (switch.name,), fields)
        yield from self._loopback(switch)
        yield from self._switch_ports(switch)
        yield from self._vlan(switch)

    def _loopback(self, switch: DesignSwitch) -> Iterator[SourceRecord]:
        port = self._port(switch.name, LOOPBACK, type=VIRTUAL_TYPE, enabled=True)
        yield port
        yield _address(f"{switch.router_id}/32", port, "Router ID")
        if switch.loopback:
            yield _address(f"{switch.loopback}/128", port, "Loopback")

    def _switch_ports(self, switch: DesignSwitch) -> Iterator[SourceRecord]:
        native = dict(_port_speeds(self.options.profile(switch.platform)))
        for row in switch.interfaces:
            known = _port_type(switch.platform, native[row.interface]) if row.interface in native else ""
            fields: dict[str, Value]
            if isinstance(row, Breakout):
                # The device type has it; its channels are cabled.
                continue
            if isinstance(row, FabricPort):
                speed = self.speeds[switch.name, row.interface]
                fields = {"mtu": row.mtu, "speed": speed, "color": row.color.name, "enabled": not row.disabled}
                yield from self._session(switch, row)
            elif isinstance(row, HostPort):
                speed = row.speed_gbps
                fields = {"mtu": row.mtu, "speed": speed, "enabled": not row.disabled, "mode": "tagged"}
                fields |= {"vlan": self._vlan_ref(switch)}
                yield self._cable(switch.name, row.interface, row.server, row.nic, "")
            else:
                speed, fields = 0, {"enabled": False}
            kind = known or _port_type(switch.platform, speed)
            yield self._port(switch.name, row.interface, type=kind, description=_text(row.description), **fields)

    def _session(self, switch: DesignSwitch, port: FabricPort) -> Iterator[SourceRecord]:
        """Yield link network, address and session of a port; a discovered neighbor has no address to record."""
        if port.addresses is None:
            return
        own, peer = f"{port.addresses.own}/127", f"{port.addresses.peer}/127"
        ends = sorted([(switch.name, port.interface), (port.peer, port.peer_interface)])
        text = " - ".join(" ".join(end) for end in ends)
        fields: dict[str, Value] = {"status": "active", "description": _text(text), "site": self.site}
        yield SourceRecord("prefix", (_network(own),), fields | {"color": port.color.name})
        yield _address(
            own, SourceRecord("interface", (switch.name, port.interface)), f"To {port.peer} {port.peer_interface}"
        )
        yield SourceRecord(
            "bgp-session",
            (switch.name, f"{switch.name} {port.interface}"),
            {
                "device": Ref("device", (switch.name,)),
                "site": self.site,
                "local_address": Ref("ip-address", (own,)),
                "remote_address": Ref("ip-address", (peer,)),
                "local_asn": Ref("asn", (str(switch.asn),)),
                "remote_asn": Ref("asn", (str(port.addresses.peer_asn),)),
                "status": "offline" if port.disabled else "active",
                "description": f"To {port.peer} {port.peer_interface}",
            },
        )

    def _vlan_ref(self, switch: DesignSwitch) -> Ref | None:
        group = f"{self.design.name}-stripe{switch.stripe}"
        return Ref("vlan", (group, str(switch.vlan.id))) if switch.vlan else None

    def _vlan(self, switch: DesignSwitch) -> Iterator[SourceRecord]:
        """Yield the VLAN of a leaf with its IRB unit and prefixes. IDs may repeat in every stripe."""
        vlan, ref = switch.vlan, self._vlan_ref(switch)
        if vlan is None or ref is None:
            return
        group = Ref("vlan-group", ref.key[:1])
        yield SourceRecord("vlan-group", group.key, {"site": self.site})
        fields: dict[str, Value] = {"group": group, "site": self.site, "name": vlan.name}
        yield SourceRecord("vlan", ref.key, fields | {"description": _text(vlan.description)})
        irb = self._port(
            switch.name,
            f"irb.{vlan.id}",
            type=VIRTUAL_TYPE,
            enabled=True,
            mtu=switch.device_settings.irb_mtu,
            description=_text(vlan.description),
        )
        yield irb
        for prefix in switch.prefixes:
            fields = {"status": "active", "description": f"{switch.name} {prefix.color.name}", "vlan": ref}
            yield SourceRecord("prefix", (prefix.text,), fields | {"site": self.site, "color": prefix.color.name})
            yield _address(f"{prefix.gateway}/64", irb, f"Gateway {prefix.color.name}")

    def _server(self, server: DesignServer) -> Iterator[SourceRecord]:
        nics = {nic.name: {"rail": nic.rail, "rdma": nic.rdma} for nic in server.config.nics}
        data: dict[str, object] = {"stripe": server.stripe, "nics": nics}
        data |= {"kind": server.kind} if server.kind else {}
        fields = self._device("server", (SERVER_MAKER, SERVER_MODEL), SERVER_SYSTEM, data)
        if server.management:
            mac = server.management_mac
            yield from self._managed(server.name, SERVER_MANAGEMENT, OTHER_TYPE, server.management, mac)
            fields["primary_ip"] = Ref("ip-address", (server.management,))
        yield SourceRecord("device", (server.name,), fields)
        for nic in server.config.nics:
            yield from self._nic(server, nic)

    def _nic(self, server: DesignServer, nic: HostNic) -> Iterator[SourceRecord]:
        fields: dict[str, Value] = {"type": OTHER_TYPE, "enabled": True, "mtu": nic.mtu, "speed": nic.speed_gbps}
        yield from self._with_mac(port := self._port(server.name, nic.name, **fields), nic.mac or "")
        for address in nic.addresses:
            yield _address(f"{address}/64", port, "SLAAC")

    def _managed(self, device: str, name: str, kind: str, address: str, mac: str) -> Iterator[SourceRecord]:
        """Yield a management port with its address and its MAC address, if that is known."""
        port = self._port(device, name, type=kind, enabled=True, management=True)
        yield from self._with_mac(port, mac)
        yield _address(address, port)

    def _with_mac(self, port: SourceRecord, mac: str) -> Iterator[SourceRecord]:
        """Yield a port, and its MAC address if that is known."""
        if mac:
            record = SourceRecord("mac-address", (*port.key, mac.lower()), {"interface": port.ref})
            yield record
            port = replace(port, fields={**port.fields, "primary_mac": record.ref})
        yield port

    def _device(self, role: str, kind: tuple[str, str], system: str, data: object) -> dict[str, Value]:
        return {
            "site": self.site,
            "role": Ref("device-role", (role,)),
            "type": Ref("device-type", kind),
            "platform": Ref("platform", (system,)),
            "status": "active",
            "context": _json({"ailb": data}),
        }

    def _port(self, device: str, port: str, **fields: Value) -> SourceRecord:
        return SourceRecord("interface", (device, port), {"device": Ref("device", (device,)), **fields})

    def _cable(self, device: str, port: str, other: str, other_port: str, color: str) -> SourceRecord:
        key = cable_key(device, port, other, other_port)
        return SourceRecord("cable", key, {"ends": cable_ends(key), "status": "connected", "color": color})


def _typed(maker: str, ports: tuple[tuple[str, str], ...]) -> dict[str, Value]:
    return {"manufacturer": Ref("manufacturer", (maker,)), "ports": ports}


def _type_key(platform: str) -> tuple[str, str]:
    """Return manufacturer and model of a platform; the device type library has shipped ones in capitals."""
    return SWITCH_MAKER, platform.upper() if platform in FORM_FACTORS else platform


def _port_type(platform: str, speed_gbps: int) -> str:
    return PORT_TYPES.get((FORM_FACTORS.get(platform, ""), speed_gbps), OTHER_TYPE)


def _port_speeds(profile: Profile) -> Iterator[tuple[str, int]]:
    for group in profile.port_groups:
        for name in group.names():
            yield name, group.native


def _address(address: str, port: SourceRecord, description: str = "") -> SourceRecord:
    fields: dict[str, Value] = {"interface": port.ref, "description": description}
    return SourceRecord("ip-address", (address,), fields)


def _text(text: str) -> str:
    """Return a description that both services store as it is: trimmed, at most 200 characters."""
    return text.strip()[:MOST_TEXT].strip()
