"""The checks of servers as entries of the catalogue, and the groups of servers that they run on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.errors import Place
from ailb_gen.layout import NETPLAN, server_folder

if TYPE_CHECKING:
    from ailb_gen.checks.expected_devices import ExpectedHost
    from ailb_gen.checks.findings import Findings
    from ailb_gen.hosts.model import Nic, Profile

REGENERATE = "Generate the files again, or correct the line by hand on every server that has it."

FILES = Check(
    "AILB601",
    Severity.ERROR,
    "every server has a folder with all its files, and each can be read",
    "a server has no folder, or a file of it is missing or cannot be read",
    "A server without its files has no addresses, no tables or no RoCE settings; it falls out of every job.",
    "Generate the fabric again; a link under servers/ must lead to a folder under profiles/.",
)
NICS = Check(
    "AILB602",
    Severity.ERROR,
    "every file names the same GPU NICs: those of the intent and of the cabling",
    "a file of a server names other GPU NICs than the intent or the cabling",
    "A NIC that one of the files forgets is up but unusable, or carries RDMA without being lossless.",
    REGENERATE,
)
TABLES = Check(
    "AILB603",
    Severity.ERROR,
    "every NIC has one routing table per color, numbered first + colors x NIC + (color - 1)",
    "a NIC has the wrong routing tables",
    "A table that is missing, or shared by two prefixes, sends traffic of one color over another.",
    REGENERATE,
)
RULES = Check(
    "AILB604",
    Severity.ERROR,
    "one rule per table picks it by the source prefix, with a priority of its own before the main table's",
    "the rule of a routing table is missing, wrong, or one too many",
    "Without its rule a prefix uses the main table: packets leave through any NIC, or through none.",
    REGENERATE,
)
ROUTES = Check(
    "AILB605",
    Severity.ERROR,
    "every table holds its prefix on the link and a default route by a gateway inside the prefix, and nothing else",
    "a routing table has wrong, missing or further routes",
    "Other routes in a table send part of the traffic another way; a gateway elsewhere is unreachable.",
    REGENERATE,
)
GATEWAYS = Check(
    "AILB606",
    Severity.ERROR,
    "prefix and gateway of every table are those of the leaf that the NIC is cabled to, in the order of the colors",
    "a prefix or gateway is not that of the leaf that the NIC is cabled to",
    "A gateway of another rail never answers: the queue pairs of that color time out, and NCCL hangs.",
    "Correct the table, or the cable: the message names the leaf, its port and its prefixes.",
)
SCRIPT = Check(
    "AILB607",
    Severity.ERROR,
    "ailb-net sets the same tables, rules and gateways as netplan",
    "ailb-net and netplan set different tables, rules or gateways",
    "Hosts with and without netplan would be routed differently; `ailb-net verify` would blame the right one.",
    REGENERATE,
)
NAMES = Check(
    "AILB608",
    Severity.ERROR,
    "rt_tables.d gives every table the name that belongs to its number",
    "a routing table has the wrong name, or none",
    "The NCCL plug-in and operators find tables by name: a wrong name is a wrong table.",
    REGENERATE,
)
ADDRESSING = Check(
    "AILB609",
    Severity.ERROR,
    "GPU NICs have no IPv4 and no DHCP; their addresses come from router advertisements alone",
    "a GPU NIC has IPv4, DHCP or addresses that no router advertisement gave",
    "Further addresses are further GIDs: the plug-in would pair queue pairs with addresses that no table routes.",
    REGENERATE,
)
SYSCTLS = Check(
    "AILB610",
    Severity.ERROR,
    "the kernel takes addresses, and no default route, from router advertisements",
    "the kernel takes default routes from router advertisements, or no addresses",
    "Without them a NIC has no address; with the leaves' default routes the main table leads into the fabric.",
    REGENERATE,
)
DROP_INS = Check(
    "AILB611",
    Severity.ERROR,
    "networkd keeps the default routes and name servers of the leaves out of the host",
    "networkd lets default routes or name servers of the leaves into the host",
    "Every leaf announces itself as a default router: the main table would send management traffic into the fabric.",
    REGENERATE,
)
ENVIRONMENT = Check(
    "AILB612",
    Severity.ERROR,
    "NCCL has one queue pair per color, the plug-in, IPv6, and the RDMA devices in the order of the NICs",
    "NCCL's settings differ from what the fabric needs",
    "With another number of queue pairs colors carry uneven load; a device too few is a GPU without network.",
    REGENERATE,
)
MTUS = Check(
    "AILB613",
    Severity.ERROR,
    "the MTU of every NIC is the intent's, and fits the leaf's IRB and port",
    "the MTU of a NIC is not the intent's, or does not fit its leaf",
    "Packets larger than the leaf's MTU are dropped without a word: small messages pass, large ones hang.",
    "Lower the host's MTU, or raise those of the leaf: host <= IRB, and host + 14 <= port.",
)
MACS = Check(
    "AILB614",
    Severity.ERROR,
    "every NIC is matched by its own MAC address where the intent knows one, and no two NICs share one",
    "a NIC is not matched by its own MAC address, or shares it with another",
    "netplan configures the wrong NIC: rails are crossed though every cable is right.",
    "Correct the MAC in the intent or its CSV file, and generate again.",
)
UNITS = Check(
    "AILB615",
    Severity.ERROR,
    "the services run the right program after every GPU NIC has appeared",
    "a service runs the wrong program, or at the wrong time",
    "A service that does not wait runs before the driver has loaded, and leaves NICs without tables or PFC.",
    REGENERATE,
)
PROGRAMS = Check(
    "AILB616",
    Severity.ERROR,
    "the scripts hold the commands that set tables, rules and RoCE, and are the same on all servers",
    "a script lacks commands, or differs from that of other servers",
    "A script that was edited on one profile does something else there than everywhere.",
    REGENERATE,
)
EXTRAS = Check(
    "AILB617",
    Severity.ERROR,
    "no other file of the server overrides, shadows or joins the fabric's, as far as its name and contents tell",
    "a file of the server overrides or shadows the fabric's, or is not known to be harmless",
    "What was checked is not what the server does: a later file of sysctl.d, a drop-in or a udev rule wins silently.",
    "Take the file away, or put what it says into the template; one that is meant to be there can be waived.",
)
MODES = Check(
    "AILB618",
    Severity.ERROR,
    "the scripts can be executed, and only their owner and group can write them",
    "a script cannot be executed, or everybody can write it",
    "systemd fails to start the service (203/EXEC): the server has no tables, no rules or no RoCE settings.",
    "Set the mode to 0755 (`chmod 755`), and copy trees with their modes (`cp -p`, `rsync -p`, `tar -p`).",
)
CHECKS = (
    FILES,
    NICS,
    TABLES,
    RULES,
    ROUTES,
    GATEWAYS,
    SCRIPT,
    NAMES,
    ADDRESSING,
    SYSCTLS,
    DROP_INS,
    ENVIRONMENT,
    MTUS,
    MACS,
    UNITS,
    PROGRAMS,
    EXTRAS,
    MODES,
)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Servers that share a folder and of which the same is asked."""

    profile: Profile
    servers: tuple[str, ...]
    intended: ExpectedHost

    @property
    def scope(self) -> str:
        """What findings are about: the server when the folder is its own, else the folder."""
        return self.servers[0] if self.profile.folder == server_folder(self.servers[0]) else self.profile.folder

    @property
    def nics(self) -> dict[str, Nic]:
        """The GPU NICs in netplan; a host may have files of its own for other NICs."""
        names = {nic.name for nic in self.intended.nics}
        return {name: nic for name, nic in self.profile.nics.items() if nic.file == NETPLAN or name in names}

    def place(self, file: str, line: int = 1) -> Place:
        """Return a place in one of the files."""
        return Place(f"{self.profile.folder}/{file}", line or 1)

    def add(
        self,
        collected: Findings,
        check: Check,
        message: str,
        place: Place,
        expected: object = "",
        found: object = "",
        nic: str = "",
        alike: str = "",
        involves: tuple[str, ...] = (),
    ) -> None:
        """Note a finding about the group; says how many servers it concerns."""
        concerned = f" ({len(self.servers)} servers)" if len(self.servers) > 1 else ""
        collected.add(
            check, f"{self.scope} {nic}".rstrip(), message + concerned, place, expected, found, involves, alike
        )
