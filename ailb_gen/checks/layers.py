"""The families of checks, which their ids begin with, and the layers of a fabric, by which causes are found.

Importing this takes no time.
"""

from __future__ import annotations

from enum import IntEnum

# The beginning of an id, with the name that `--checks` takes, and a title.
FAMILIES = {
    "AILB0": ("files", "Files, topology and waivers"),
    "AILB1": ("addresses", "Addresses and VLANs"),
    "AILB2": ("sessions", "BGP sessions"),
    "AILB3": ("colors", "Colors and BGP-DPF"),
    "AILB4": ("paths", "Paths and balance"),
    "AILB5": ("failures", "Failures"),
    "AILB6": ("hosts", "Hosts"),
    "AILB7": ("roce", "RoCE"),
    "AILB8": ("batfish", "Batfish, with `--batfish`"),
    "AILB9": ("junos", "Junos commit check"),
    "AILBA": ("acceptance", "Acceptance, checked by `ailb-gen accept`"),
    "AILBD": ("devices", "Devices, checked by `ailb-gen drift` and `ailb-gen verify`"),
    "AILBL": ("lab", "Lab, checked by `ailb-gen lab check`"),
    "AILBS": ("source", "Source of truth, checked by `ailb-gen inventory pull`"),
    "AILBX": ("cluster", "Clusters: several fabrics together"),
}


class FamilyNames(dict[str, str]):
    """The name of every family of checks; one of an extension is called as the ids of its checks begin."""

    def __missing__(self, family: str) -> str:
        return family.lower()


NAMES = FamilyNames({start: name for start, (name, _) in FAMILIES.items()})


def title_of(family: str) -> str:
    """Return the title of a family of checks; one of an extension has its name only."""
    return FAMILIES[family][1] if family in FAMILIES else NAMES[family]


class Layer(IntEnum):
    """The layers, the more fundamental first: a cause comes before its consequences."""

    # Files that are there and can be read, statements that Junos knows; cables, the
    # topology, that both agree, and descriptions.
    FILES = 1
    SYNTAX = 2
    CABLES = 3
    TOPOLOGY = 4
    AGREEMENT = 5
    DESCRIPTIONS = 6
    # Statements that this program does not read, and values that nothing else depends on.
    UNMODELED = 7
    SETTINGS = 8
    # Statements that decide about routes: definitions, ports, whatever uses those, names, policies.
    DEFINITIONS = 9
    PORTS = 10
    USES = 11
    REFERENCES = 12
    ORIGINS = 13
    ROUTE_SETTINGS = 14
    POLICIES = 15
    TERMS = 16
    # Class of service.
    QOS_REFERENCES = 17
    QOS_PORTS = 18
    QOS = 19
    # What follows for the two ends of a link, for routes, for paths, for traffic and failures.
    DRAINS = 20
    LINKS = 21
    SESSIONS = 22
    ROUTES = 23
    PATHS = 24
    TRAFFIC = 25
    # Servers: their NICs, the tables of these, everything else, and the scripts that repeat it.
    NICS = 26
    TABLES = 27
    GATEWAYS = 28
    SERVERS = 29
    SCRIPTS = 30
    PROGRAMS = 31
    # What Batfish says of files and of the model that it makes of them, and of routes.
    BATFISH_FILES = 32
    BATFISH_MODEL = 33
    BATFISH_GAPS = 34
    BATFISH_ROUTES = 35
    BATFISH_DIFFERENCES = 36
    # A running lab: its devices, what it leaves out, advertisements and MTUs, addresses and tables, sessions, routes,
    # packets, failures, and the comparison with this program.
    LAB_DEVICES = 37
    LAB_GAPS = 38
    LAB_LINKS = 39
    LAB_SERVERS = 40
    LAB_SESSIONS = 41
    LAB_ROUTES = 42
    LAB_PACKETS = 43
    LAB_FAILURES = 44
    LAB_SESSION_DIFFERENCES = 45
    LAB_DIFFERENCES = 46
    # Repetitions: constraints of the commit check, the manifest, waivers.
    COMMIT = 47
    REPETITIONS = 48
