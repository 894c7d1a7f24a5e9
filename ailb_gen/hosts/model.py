"""The files of a GPU server as data.

Every fact carries the line where it stands; its file is one of ailb_gen/layout.py, relative to the server's
folder. Lines never take part in comparisons, so that what says the same compares equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ailb_gen.addresses import Prefix
from ailb_gen.errors import Place
from ailb_gen.textio import line_field

# A value of a YAML file: text, number, boolean or null; lists of them as tuples.
Value = str | int | float | bool | None | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A key with its value as written; `section` is that of an INI file, empty elsewhere, `heading` its line."""

    key: str
    value: Value
    section: str = ""
    line: int = line_field()
    heading: int = line_field()


@dataclass(frozen=True, slots=True)
class ServerRoute:
    """A route of netplan; `via` is None on the link itself, `table` None in the main table.

    `to` and `via` are None, too, when they are not IPv6; `text` is as written. `others` are keys that change
    the route beyond scope and on-link.
    """

    nic: str
    to: Prefix | None
    via: int | None
    table: int | None
    on_link: bool
    scope: str
    text: tuple[str, str] = ("", "")
    others: tuple[Setting, ...] = ()
    file: str = field(default="", compare=False)
    line: int = line_field()
    via_line: int = line_field()
    table_line: int = line_field()
    scope_line: int = line_field()
    on_link_line: int = line_field()


@dataclass(frozen=True, slots=True)
class Rule:
    """A routing rule of netplan: packets from a prefix use a table; lower priorities come first."""

    nic: str
    source: Prefix | None
    table: int | None
    priority: int | None
    text: str = ""
    others: tuple[Setting, ...] = ()
    file: str = field(default="", compare=False)
    line: int = line_field()
    table_line: int = line_field()
    priority_line: int = line_field()


@dataclass(frozen=True, slots=True)
class NetplanNic:
    """A NIC in netplan: plain settings by key, `match` and `routes` and `routing-policy` aside."""

    name: str
    settings: Mapping[str, Setting]
    match: tuple[Setting, ...]
    routes: tuple[ServerRoute, ...]
    rules: tuple[Rule, ...]
    file: str = field(default="", compare=False)
    line: int = line_field()

    def value(self, key: str) -> Value:
        """Return a setting; None when it is not there."""
        found = self.settings.get(key)
        return found.value if found is not None else None

    def line_of(self, key: str) -> int:
        """Return the line of a setting, or that of the NIC."""
        found = self.settings.get(key)
        return found.line if found is not None else self.line

    @property
    def mac(self) -> str | None:
        """The MAC address that netplan looks for, in lower case."""
        found = next((setting.value for setting in self.match if setting.key == "macaddress"), None)
        return str(found).lower() if found is not None else None


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the TABLES list of `ailb-net`; what is no number or address is None."""

    nic: str
    table: int | None
    name: str
    priority: int | None
    prefix: Prefix | None
    gateway: int | None
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class Code:
    """A line of a script that is neither data nor comment."""

    text: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class TableScript:
    """`ailb-net`: its tables, and the code that sets them."""

    rows: tuple[Row, ...]
    code: tuple[Code, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class TableName:
    """A line of `rt_tables.d`."""

    table: int
    name: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class RdmaNic:
    """A line of the NICS list of `ailb-qos`."""

    nic: str
    rdma: str
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class QosScript:
    """`ailb-qos`: its NICs, the values it sets by name of the setting, and the code around them.

    Settings are `trust`, `pfc` (eight 0 or 1), `dscp2prio` (DSCP, priority), `tos`, `traffic_class`, `cnp_dscp`,
    `cnp_priority`, `ecn_np` and `ecn_rp` (priority, 0 or 1).
    """

    nics: tuple[RdmaNic, ...]
    settings: tuple[Setting, ...]
    code: tuple[Code, ...]
    line: int = line_field()

    def get(self, key: str) -> Setting | None:
        """Return the last setting of that name: the one that counts."""
        return next((setting for setting in reversed(self.settings) if setting.key == key), None)


@dataclass(frozen=True, slots=True)
class HostColor:
    """A color of a NIC in the file of `ailb-host`; what is no prefix or address is None."""

    name: str
    prefix: Prefix | None
    gateway: int | None
    table: int
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class HostFileNic:
    """A NIC in the file of `ailb-host`; `dscp` is that of RoCE data, None without RoCE."""

    name: str
    rdma: str
    rail: int
    dscp: int | None
    mac: str
    mtu: int
    colors: tuple[HostColor, ...]
    line: int = line_field()


@dataclass(frozen=True, slots=True)
class HostDefect:
    """Why a file or folder of a server cannot be used; `place` is relative to the artifact directory."""

    folder: str
    reason: str
    place: Place


@dataclass(frozen=True, slots=True)
class Extra:
    """A file that is none of the fabric's: its path, and its text if it is a small regular file."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """Everything that the files of one folder say; `folder` is relative to the artifact directory.

    `nics`, `rules` (by priority) and `routes` (by table) are those of all netplan files, `network` are the other keys
    of the fabric's own. A file that is missing or unreadable leaves its part empty or None; `files` are those that
    were read. `drop_ins` are the settings of networkd by NIC, `units` those of services by path. `host_nics` is what
    `ailb-host` knows of the fabric, `program` the SHA-256 of that program. `extras` are files that are none of the
    fabric's, `modes` the permissions of the scripts.
    """

    folder: str
    files: frozenset[str]
    nics: Mapping[str, NetplanNic]
    network: tuple[Setting, ...]
    routes: Mapping[int, tuple[ServerRoute, ...]]
    rules: tuple[Rule, ...]
    names: tuple[TableName, ...]
    sysctls: tuple[Setting, ...]
    environment: tuple[Setting, ...]
    drop_ins: Mapping[str, tuple[Setting, ...]]
    units: Mapping[str, tuple[Setting, ...]]
    script: TableScript | None
    qos: QosScript | None
    defects: tuple[HostDefect, ...]
    extras: tuple[Extra, ...] = ()
    modes: Mapping[str, int] = field(default_factory=dict)
    host_nics: tuple[HostFileNic, ...] = ()
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """A server: its name and what its files say; servers that are configured alike share the profile."""

    name: str
    profile: ServerProfile
