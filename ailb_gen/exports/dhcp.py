"""DHCP reservations of management ports, with the options of Junos ZTP, for Kea and for ISC DHCP.

Options are those of "Zero Touch Provisioning DHCP Options for Junos OS Evolved" (Juniper): 43 with suboptions 1
(configuration file), 3 (transfer mode) and 5 (port), and 66 and 150 for the server; by IPv6, 17 with the same
suboptions below Juniper's enterprise number, and 59. A switch has its serial number at the end of option 60
(`Juniper-MODEL-SERIAL`), or in option 12 if it is modular: dhcpv4/ztpv4 of the Go module insomniacslk/dhcp reads it
there, and "Zero-Touch Provisioning for Juniper" (V. Bernat) lists what Junos requests. Files are for Kea 2.2 and newer,
and ISC DHCP 4.4.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Network
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.ztp import managed
from ailb_gen.wording import counted, some

JUNIPER = 2636
SUBOPTIONS = {"config-file-name": 1, "transfer-mode": 3, "http-port": 5}
# The ways by which Junos gets a file, with their ports.
MODES = {"http": 80, "https": 443, "ftp": 21, "tftp": 69}
VENDOR4, VENDOR6 = "vendor-encapsulated-options-space", f"vendor-{JUNIPER}"


@dataclass(frozen=True, slots=True)
class Reservation:
    """A management port with its address: known by its `mac`, or else by the `serial` of its chassis."""

    name: str
    address: IPv4Interface
    mac: str
    serial: str
    is_switch: bool


@dataclass(frozen=True, slots=True)
class FileServer:
    """Where day-0 files are: how they are fetched, and the directory below the server's root, with `/` at its end."""

    mode: str
    host: IPv4Address | IPv6Address
    port: int
    folder: str

    def path(self, name: str) -> str:
        """Return the file of a switch below the server's root."""
        return f"{self.folder}{name}.conf"

    def url(self, name: str) -> str:
        """Return the URL of a switch's file."""
        host = f"[{self.host}]" if self.host.version == 6 else str(self.host)
        return f"{self.mode}://{host}:{self.port}/{self.path(name)}"

    def suboptions(self, name: str) -> dict[str, str]:
        """Return the values of Junos' suboptions for a switch, by name."""
        return {"config-file-name": self.path(name), "transfer-mode": self.mode, "http-port": str(self.port)}


def kea4(given: ExportInput) -> str:
    """Return the configuration of kea-dhcp4. Raises UsageError as `reservations` and `file_server` do."""
    server = file_server(given.boot.url, IPv4Address)

    def options(name: str) -> list[dict[str, Any]]:
        plain = {"tftp-server-name": str(server.host), "ztp-server": str(server.host)}
        return [{"name": "vendor-encapsulated-options"}, *_kea_vendor(VENDOR4, server, name), *_kea_data(plain)]

    def row(one: Reservation) -> dict[str, Any]:
        found = {"hostname": one.name, "hw-address": one.mac, "ip-address": str(one.address.ip)}
        return found | ({"option-data": options(one.name)} if one.is_switch else {})

    classes, subnets = [], []
    for number, (network, rows) in enumerate(_by_network(reservations(given)).items(), 1):
        router = _router(given.design, network)
        found: dict[str, Any] = {"option-data": _kea_data({"routers": str(router)})} if router else {}
        # Kea has no reservations by serial number: a class knows the switch, and has an address of its own.
        by_serial = [one for one in rows if not one.mac]
        for one in by_serial:
            data = [*_kea_data({"host-name": one.name}), *options(one.name)]
            classes.append({"name": _class(one), "test": _kea_test(one.serial), "option-data": data})
        if by_serial:
            found["pools"] = [{"pool": f"{one.address.ip}/32", "client-class": _class(one)} for one in by_serial]
        found["reservations"] = [row(one) for one in rows if one.mac]
        subnets.append({"id": number, "subnet": str(network), **found})
    top = {
        "option-def": [*_kea_definitions(VENDOR4), _definition("dhcp4", "ztp-server", 150, "ipv4-address")],
        "host-reservation-identifiers": ["hw-address"],
        **({"client-classes": classes} if classes else {}),
        "subnet4": subnets,
    }
    return _kea("Dhcp4", top)


def _class(one: Reservation) -> str:
    # Kea has classes of its own, such as DROP; none begins like this.
    return f"ztp-{one.name}"


def _kea_test(serial: str) -> str:
    """Return the expression of a class: the serial number as hexadecimal digits, so that no character ends it."""
    ending, whole = f"-{serial}".encode().hex(), serial.encode().hex()
    return f"substring(option[60].hex, -{len(ending) // 2}, all) == 0x{ending} or option[12].hex == 0x{whole}"


def kea6(given: ExportInput) -> str:
    """Return the configuration of kea-dhcp6: the last 32 bits of an address are the IPv4 management address.

    A switch has its address by IPv6 only until it has its day-0 configuration. Raises UsageError as `kea4` does, and
    for a prefix that is not at most 96 bits long.
    """
    server, prefix = file_server(given.boot.url, IPv6Address), _prefix6(given.boot.prefix6)

    def row(one: Reservation) -> dict[str, Any]:
        address = str(prefix[int(one.address.ip)])
        found: dict[str, Any] = {"hostname": one.name, "hw-address": one.mac, "ip-addresses": [address]}
        if one.is_switch:
            container = _kea_data({"vendor-opts": str(JUNIPER), "bootfile-url": server.url(one.name)})
            found["option-data"] = [*container, *_kea_vendor(VENDOR6, server, one.name)]
        return found

    rows = [row(one) for one in reservations(given, by_serial=False)]
    subnet = {"id": 1, "subnet": str(prefix), "reservations": rows}
    identifiers = {"host-reservation-identifiers": ["hw-address"]}
    return _kea("Dhcp6", {"option-def": _kea_definitions(VENDOR6), **identifiers, "subnet6": [subnet]})


def isc(given: ExportInput) -> str:
    """Return `dhcpd.conf` of ISC DHCP. Raises UsageError as `kea4` does."""
    server = file_server(given.boot.url, IPv4Address)
    lines = [f"# Management ports of fabric {given.design.name}. Generated by ailb-gen.", "option space junos;"]
    lines += [f"option junos.{name} code {code} = text;" for name, code in SUBOPTIONS.items()]
    lines += ["option ztp-server code 150 = ip-address;"]
    networks = _by_network(reservations(given))
    for one in (one for rows in networks.values() for one in rows if not one.mac):
        lines += ["", *_isc_class(one, server)]
    for network, rows in networks.items():
        lines += ["", f"subnet {network.network_address} netmask {network.netmask} {{"]
        if router := _router(given.design, network):
            lines.append(f"    option routers {router};")
        for one in rows:
            lines += [f"    {line}" for line in _isc_host(one, server)]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _isc_host(one: Reservation, server: FileServer) -> list[str]:
    if not one.mac:
        return [f"pool {{ allow members of {_isc_text(_class(one))}; range {one.address.ip}; }}"]
    body = [f"hardware ethernet {one.mac}", f"fixed-address {one.address.ip}", *_isc_options(one, server)]
    return [f"host {one.name} {{", *(f"    {line};" for line in body), "}"]


def _isc_class(one: Reservation, server: FileServer) -> list[str]:
    """Return the class of a switch that is known by its serial number; `host-name` is what the switch calls itself."""
    by_vendor = f"suffix(option vendor-class-identifier, {len(one.serial) + 1}) = {_isc_text(f'-{one.serial}')}"
    match = f"match if {by_vendor} or option host-name = {_isc_text(one.serial)}"
    body = [match, *_isc_options(one, server)]
    return [f"class {_isc_text(_class(one))} {{", *(f"    {line};" for line in body), "}"]


def _isc_options(one: Reservation, server: FileServer) -> list[str]:
    found = [f"option host-name {_isc_text(one.name)}"]
    if one.is_switch:
        values = server.suboptions(one.name)
        found += ["vendor-option-space junos"]
        found += [f"option junos.{name} {_isc_text(value)}" for name, value in values.items()]
        found += [f"option tftp-server-name {_isc_text(str(server.host))}", f"option ztp-server {server.host}"]
    return found


def _isc_text(text: str) -> str:
    """Write a string of dhcpd.conf(5)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def reservations(given: ExportInput, *, by_serial: bool = True) -> list[Reservation]:
    """Return the reservations of switches, then servers, and name the devices that have none on the console.

    A serial number counts if `by_serial`. Raises UsageError where no switch can be told from another.
    """
    rows = [
        Reservation(switch.name, IPv4Interface(port.address), port.mac, port.serial, True)
        for switch, port in managed(given.design)
    ]
    known = [one for one in rows if one.mac or (by_serial and one.serial)]
    if not known:
        what = "mac or serial" if by_serial else "mac"
        reason = f"no switch has a {what}, by which DHCP knows it"
        raise UsageError(f"{reason}; add {what} to overrides, or the columns to the file of management: {{csv: FILE}}")
    servers = [one for one in given.design.servers if one.management]
    known += [
        Reservation(one.name, IPv4Interface(one.management), one.management_mac, "", False)
        for one in servers
        if one.management_mac
    ]
    reserved = {one.name for one in known}
    for noun, devices, what in (
        ("switch", rows, "mac or serial" if by_serial else "mac"),
        ("server", servers, "management_mac"),
    ):
        _tell_of(given.tell, [one.name for one in devices if one.name not in reserved], noun, what)
    return known


def _tell_of(tell: Callable[[str], None], names: list[str], noun: str, what: str) -> None:
    if names:
        tell(f"no reservation for {counted(len(names), noun)} without {what}: {some(names)}")


def file_server(url: str, kind: type[IPv4Address] | type[IPv6Address]) -> FileServer:
    """Read where day-0 files are fetched. Raises UsageError for a URL without an address of that kind."""
    sample = "http://192.0.2.5:8000/" if kind is IPv4Address else "http://[2001:db8::5]:8000/"
    given = f"--ztp-url {url[:80]!r}" if url else "--ztp-url is missing"
    hint = f"give the directory of the day-0 files as switches fetch it, with an address, not a name: {sample}"
    wrong = UsageError(f"{given}: {hint}")
    try:
        parts: SplitResult = urlsplit(url)
        host, port = kind(parts.hostname or ""), parts.port
    except (AddressValueError, ValueError):
        raise wrong from None
    if parts.scheme not in MODES or parts.query or parts.fragment or parts.username or not url.isprintable():
        raise wrong
    folder = quote(parts.path.strip("/"), safe="/%")
    return FileServer(parts.scheme, host, port or MODES[parts.scheme], f"{folder}/" if folder else "")


def _prefix6(text: str) -> IPv6Network:
    try:
        prefix = IPv6Network(text)
    except ValueError:
        prefix = None
    if prefix is None or prefix.prefixlen > 96:
        given = f"--prefix6 {text[:80]!r}" if text else "--prefix6 is missing"
        raise UsageError(f"{given}: write the prefix of the management network, such as 2001:db8::/64")
    return prefix


def _by_network(rows: Iterable[Reservation]) -> dict[IPv4Network, list[Reservation]]:
    found: dict[IPv4Network, list[Reservation]] = {}
    for one in rows:
        found.setdefault(one.address.network, []).append(one)
    return dict(sorted(found.items()))


def _router(design: Design, network: IPv4Network) -> str:
    """Return the default gateway of the management network if it lies in a network."""
    gateways = (port.gateway for _, port in managed(design) if port.gateway)
    return next((one for one in gateways if IPv4Address(one) in network), "")


def _kea(kind: str, top: Mapping[str, Any]) -> str:
    whole = {"interfaces-config": {"interfaces": ["*"]}, "lease-database": {"type": "memfile"}, **top}
    return json.dumps({kind: whole}, indent=2) + "\n"


def _definition(space: str, name: str, code: int, kind: str) -> dict[str, Any]:
    return {"space": space, "name": name, "code": code, "type": kind}


def _kea_definitions(space: str) -> list[dict[str, Any]]:
    return [_definition(space, name, code, "string") for name, code in SUBOPTIONS.items()]


def _kea_data(values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return options with values; a comma, which separates values in Kea, is escaped."""
    return [{"name": name, "data": value.replace(",", "\\,")} for name, value in values.items()]


def _kea_vendor(space: str, server: FileServer, name: str) -> list[dict[str, Any]]:
    return [{"space": space, **row} for row in _kea_data(server.suboptions(name))]
