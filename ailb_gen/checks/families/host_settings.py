"""Check the settings of servers: addressing, sysctls, drop-ins, environment and units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import pairwise
from types import MappingProxyType

from ailb_gen import layout as files
from ailb_gen.checks import subjects as about
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.families.hosts import REGENERATE, HostFindings, per_group
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check
from ailb_gen.checks.subjects import Subject
from ailb_gen.hosts import harmless
from ailb_gen.hosts.harmless import setting_is_harmless
from ailb_gen.hosts.model import Setting, Value
from ailb_gen.hosts.text import conf_nic, device_unit
from ailb_gen.intent.nccl import NcclNetwork, faults
from ailb_gen.layout import drop_in_file

# By section and key.
Settings = dict[tuple[str, str], "Value"]
# netplan's settings of a GPU NIC, but for the MTU and what finds the NIC; `optional` lets the host boot without it.
ADDRESSING_SETTINGS: Settings = {
    ("", "optional"): True,
    ("", "dhcp4"): False,
    ("", "dhcp6"): False,
    ("", "accept-ra"): True,
    ("", "ipv6-privacy"): False,
    ("", "link-local"): ("ipv6",),
}
FINDING_SETTINGS = frozenset({"mtu", "set-name"})
NETPLAN_HEAD: Settings = {("", "version"): "2", ("", "renderer"): "networkd"}
# Linux keeps 16 addresses per interface, the link-local one included (ip-sysctl: max_addresses).
LINUX_MAX_ADDRESSES = 16
DROP_IN: Settings = {("IPv6AcceptRA", "UseGateway"): "no", ("IPv6AcceptRA", "UseDNS"): "no"}
ONESHOT = (("Service", "Type", "oneshot"), ("Service", "RemainAfterExit", "yes"))
WANTED_BY = ("Install", "WantedBy", "multi-user.target")
UNIT_SETTINGS = {
    files.SCRIPT_UNIT: (
        ("Unit", "ConditionPathExists", "!/usr/sbin/netplan"),
        ("Unit", "After", "network.target systemd-sysctl.service"),
        *ONESHOT,
        ("Service", "ExecStart", f"/{files.SCRIPT} apply"),
        ("Service", "ExecStop", f"/{files.SCRIPT} remove"),
        WANTED_BY,
    ),
    files.QOS_UNIT: (
        ("Unit", "After", "network.target"),
        *ONESHOT,
        ("Service", "ExecStart", f"/{files.QOS}"),
        WANTED_BY,
    ),
}
# How like two names are of which one may be the other, misspelled.
NEARLY = 0.9
UNIT_TEXTS = frozenset({"Description", "Documentation"})


def text_of(value: Value) -> str:
    """Return a value of YAML as text for messages."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "nothing" if value is None else str(value)


def _compare(
    findings: HostFindings,
    check: Check,
    file: str,
    line: int,
    found: Iterable[Setting],
    expected: Mapping[tuple[str, str], Value],
    nic: str = "",
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Compare settings by (section, key): each expected one must be there once, and no others.

    `line` is where the first setting belongs if it is missing; `reasons` say why a value does not work, by key.
    """
    findings.look(check, len(expected))
    found = list(found)
    seen = {(setting.section, setting.key) for setting in found}
    whole = f"{findings.place(file, line)} {nic}"
    sections = {section for section, _ in expected}
    again = surplus([(setting.section, setting.key) for setting in found], list(expected))
    for number, setting in enumerate(found):
        # With its heading gone or wrong, a whole section is: one thing.
        stray = "" not in sections and setting.section not in sections
        same_cause = whole if stray else ""
        key, value, at = (setting.section, setting.key), text_of(setting.value), setting.line
        right = text_of(expected[key]) if key in expected else ""
        if stray and setting.section:
            message, at, value = f"[{setting.section}] is not a section of this file", setting.heading, setting.section
        elif key not in expected:
            message = f"{setting.key} does not belong here"
        elif number in again:
            message, right = f"{setting.key} is written twice", ""
        elif value != right:
            message = f"{setting.key} must be {right}, not {value}"
        else:
            message = ""
        if message:
            reason = f": {reasons[setting.key]}" if setting.key in reasons else ""
            own = findings.about(*_subjects(findings, setting.key))
            own.add(check, f"{message}{reason}", file, at, right, value, nic, same_cause)
    # Where nothing is left, a whole section is missing: one thing that is wrong.
    same_cause = "" if expected.keys() & seen else whole
    lines = {(setting.section, setting.key): setting.line for setting in reversed(found)}
    for key, wanted in expected.items():
        # What is missing belongs behind what is in front of it.
        line = lines.get(key, line)
        if key in seen:
            continue
        right = text_of(wanted)
        own = findings.about(*_subjects(findings, key[1]))
        own.add(check, f"{key[1]} is missing; it must be {right}", file, line, right, "", nic, same_cause)


def _subjects(findings: HostFindings, key: str) -> Iterator[Subject]:
    """Yield the setting of a key as a subject, and the NIC that a kernel parameter belongs to."""
    yield about.setting(findings.scope, key)
    if name := conf_nic(key):
        yield about.nic(findings.scope, name)


def surplus(found: Sequence[Hashable], expected: Sequence[Hashable]) -> set[int]:
    """Return which of the items that are there too often are too much: those without their usual neighbors."""
    places: dict[Hashable, list[int]] = {}
    for number, item in enumerate(found):
        places.setdefault(item, []).append(number)
    wanted = Counter(expected)
    before = dict(zip(expected[1:], expected, strict=False))
    behind = dict(pairwise(expected))

    def neighbors(number: int) -> int:
        around = (found[number - 1] if number else None, found[number + 1] if number + 1 < len(found) else None)
        usual = (before.get(found[number]), behind.get(found[number]))
        in_place = number < len(expected) and expected[number] == found[number]
        return in_place + sum(one is not None and one == two for one, two in zip(around, usual, strict=True))

    return {
        number
        for item, numbers in places.items()
        # Of equal items the first one counts.
        for number in sorted(numbers, key=lambda number: (-neighbors(number), number))[wanted[item] :]
        if item in wanted
    }


@per_group
def _check_settings(group: HostGroup, findings: HostFindings) -> None:
    """Compare the settings of every file that is there with those that leave addresses and routes to the leaves."""
    profile, nics = group.profile, group.expected.nics
    if files.NETPLAN in profile.files and group.nics:
        _compare(findings, ADDRESSING, files.NETPLAN, 1, profile.network, NETPLAN_HEAD)
        for name, nic in group.nics.items():
            found = [setting for key, setting in nic.settings.items() if key not in FINDING_SETTINGS]
            _compare(findings, ADDRESSING, nic.file, nic.line, found, ADDRESSING_SETTINGS, name)
    if files.SYSCTL in profile.files:
        _compare(findings, SYSCTLS, files.SYSCTL, 1, own_sysctls(group), _sysctls(group))
    if files.ENVIRONMENT in profile.files and group.expected.environment is not None:
        reasons = variable_faults(group, profile.environment)
        found = own_settings(harmless.ENVIRONMENT, profile.environment, _environment(group), reasons)
        _compare(findings, ENVIRONMENT, files.ENVIRONMENT, 1, found, _environment(group), reasons=reasons)
        _check_asked(group, findings, reasons)
    for nic_name, settings in profile.drop_ins.items():
        file = drop_in_file(nic_name)
        if all(nic.name != nic_name for nic in nics):
            message = f"there is a drop-in for {nic_name}, but the intent has no such GPU NIC"
            findings.add(DROP_INS, message, file, 1, "", nic_name, nic_name)
        elif file in profile.files:
            _compare(findings, DROP_INS, file, 1, settings, DROP_IN, nic_name)


def _sysctls(group: HostGroup) -> Settings:
    expected: Settings = {}
    for nic in group.expected.nics:
        values = {
            "accept_ra": 2 if group.expected.forwarding else 1,
            "accept_ra_defrtr": 0,
            "autoconf": 1,
            "addr_gen_mode": 0,
            "use_tempaddr": 0,
        }
        if len(nic.tables) + 1 >= LINUX_MAX_ADDRESSES:
            values["max_addresses"] = len(nic.tables) + 2
        expected |= {("", f"net.ipv6.conf.{nic.name}.{key}"): value for key, value in values.items()}
    return expected


def own_sysctls(group: HostGroup) -> list[Setting]:
    """Return the kernel parameters of the fabric's file but for harmless ones and those of other NICs.

    Where a parameter of a GPU NIC is missing, one of another NIC may be that one under a wrong name.
    """
    expected = _sysctls(group)
    found = own_settings(harmless.SYSCTLS, group.profile.sysctls, expected)
    if {key for _, key in expected} - {one.key for one in found}:
        return found
    return [one for one in found if not is_of_another_nic(group, one)]


def is_of_another_nic(group: HostGroup, setting: Setting) -> bool:
    """Return whether a kernel parameter is that of an interface that is no GPU NIC."""
    nic = conf_nic(setting.key)
    names = {"all", "default", *(own.name for own in group.expected.nics)}
    return bool(nic) and nic not in names and not set("*?[") & set(nic)


def own_settings(
    table: harmless.Settings, found: Iterable[Setting], expected: Settings, wrong: Collection[str] = ()
) -> list[Setting]:
    """Return the settings of a file but for harmless ones that nobody asked for; `wrong` do harm as they stand.

    Where a setting is missing, one that is called nearly so may be that one under a wrong name.
    """
    found = list(found)
    missing = {key for _, key in expected} - {one.key for one in found}
    return [
        one
        for one in found
        if ("", one.key) in expected
        or one.key in wrong
        or not setting_is_harmless(table, one)
        or get_close_matches(one.key, missing, 1, NEARLY)
    ]


def _environment(group: HostGroup) -> Settings:
    expected: Settings = {("", key): value for key, value in group.expected.environment or ()}
    path = ("", "LD_LIBRARY_PATH")
    if path in expected:
        expected[path] = f"${{LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}}{expected[path]}"
    return expected


def variable_faults(group: HostGroup, environment: Iterable[Setting]) -> dict[str, str]:
    """Return why values of an environment do not work, by the name of the variable."""
    roce, nics = group.expected.roce, group.expected.nics
    dscp, pool = None if roce is None else roce.dscp, group.expected.pool
    network = NcclNetwork([nic.rdma for nic in nics], dscp, [nic.name for nic in nics], pool)
    own = {one.key: str(one.value) for one in environment if one.key != "LD_LIBRARY_PATH"}
    return {name: f"{why}; write {remedy}" for name, (why, remedy) in faults(own, network).items()}


def _check_asked(group: HostGroup, findings: HostFindings, reasons: Mapping[str, str]) -> None:
    """Find values that do not work although the intent specifies them."""
    expected = _environment(group)
    # Of a variable that is written twice the last value counts.
    for one in {one.key: one for one in group.profile.environment}.values():
        value = str(one.value)
        if one.key in reasons and expected.get(("", one.key)) == value:
            own = findings.about(*_subjects(findings, one.key))
            own.add(ENVIRONMENT, f"{one.key}: {reasons[one.key]}", files.ENVIRONMENT, one.line, "", value)


@per_group
def _check_units(group: HostGroup, findings: HostFindings) -> None:
    """Compare the programs of services, and the units that they wait for."""
    for file, plain in UNIT_SETTINGS.items():
        if file not in group.profile.files or (file == files.QOS_UNIT and group.expected.roce is None):
            continue
        devices = [device_unit(nic.name) for nic in group.expected.nics]
        expected = Counter([*plain, *(("Unit", key, device) for device in devices for key in ("Wants", "After"))])
        findings.look(UNITS, expected.total())
        found = [setting for setting in group.profile.units[file] if setting.key not in UNIT_TEXTS]
        keys = [(setting.section, setting.key, str(setting.value)) for setting in found]
        again = surplus(keys, list(expected.elements()))
        # With its heading gone or wrong, a whole section is: one thing.
        sections = {section for section, _, _ in expected}
        stray = any(setting.section not in sections for setting in group.profile.units[file])
        same_cause = f"{findings.place(file)}" if stray else ""
        for number, (setting, key) in enumerate(zip(found, keys, strict=True)):
            text = f"{setting.key}={setting.value}"
            if setting.section and setting.section not in sections:
                message = f"[{setting.section}] is not a section of this file"
                findings.add(UNITS, message, file, setting.heading, "", f"[{setting.section}]", same_cause=same_cause)
            elif expected[key] and number not in again:
                expected[key] -= 1
            else:
                message = f"{text} does not belong in [{setting.section}], or is written twice"
                findings.add(
                    UNITS, message, file, setting.line, "", text, same_cause="" if setting.section else same_cause
                )
        for section, name, value in expected.elements():
            text = f"{name}={value}"
            findings.add(UNITS, f"{text} is missing in [{section}]", file, 1, text, same_cause=same_cause)


_of_settings = partial(Check, run=_check_settings, layer=Layer.SERVERS)
ADDRESSING = _of_settings(
    "AILB609",
    "GPU NICs have no IPv4 and no DHCP, only addresses from router advertisements",
    "a GPU NIC has IPv4, DHCP or addresses that are not from router advertisements",
    "Extra addresses are extra GIDs: the plug-in would use addresses that no table routes.",
    REGENERATE,
)
SYSCTLS = _of_settings(
    "AILB610",
    "the kernel takes addresses, and no default route, from router advertisements",
    "the kernel takes default routes from router advertisements, or no addresses",
    "Without router advertisements a NIC has no address; their default routes lead into the fabric.",
    REGENERATE,
)
DROP_INS = _of_settings(
    "AILB611",
    "networkd ignores default routes and name servers from the leaves",
    "networkd accepts default routes or name servers from the leaves",
    "Every leaf announces itself as a default router, which would send management traffic into the fabric.",
    REGENERATE,
)
ENVIRONMENT = _of_settings(
    "AILB612",
    "NCCL has one queue pair per color, the plug-in, IPv6, and the RDMA devices in the order of the NICs",
    "NCCL's settings differ from what the fabric needs",
    "With another number of queue pairs the load is uneven; a missing device is a GPU without network.",
    REGENERATE,
)
UNITS = Check(
    "AILB615",
    "the services run the right program after every GPU NIC has appeared",
    "a service runs the wrong program, or at the wrong time",
    "A service that starts before the driver has loaded leaves NICs without tables or PFC.",
    REGENERATE,
    _check_units,
    layer=Layer.SERVERS,
)
