"""BIRD's answers about sessions and routes, read; a full table has millions of lines, so they are not taken one by one.

Local preference and AIGP are given as Junos would have them: see `filters` for how BIRD holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NoReturn

from ailb_gen.addresses import Prefix, prefix_value
from ailb_gen.errors import LabError
from ailb_gen.lab.bird import communities
from ailb_gen.lab.bird.control import REFUSED, Bird, without_codes
from ailb_gen.lab.bird.model import BfdState, RibRoute, SessionState
from ailb_gen.routing.route import Route

# A route starts a line; its attributes follow on lines that start with a tab.
ROUTE = re.compile(r"\n(?:1007-| )(?!\t)")
HEAD = re.compile(r"(\S*) +([a-z]+) \[(\S+) [^\]]*\](?: (\*))?")
PROTOCOL = re.compile(r"(\S+) +(\S+) +\S+ +(\S+) +(\S+(?: \d\S*)?) *(.*)")
FIELD = re.compile(r" +([A-Z][A-Za-z ]*): +(.*)")
BFD = re.compile(r" *\S+ +(\S+) +(\S+) +\S+(?: \d\S*)? +([0-9.]+) +([0-9.]+) *$")
ROUTES = re.compile(r"(\d+) (imported|filtered|exported|preferred)")
UP = "Up"
NO_BFD = "There is no BFD protocol running"
# The code of an answer about a prefix without routes, and the text of one about a session that is down.
NOT_FOUND, NO_SESSION = 8001, "No valid tables"
# RFC 7311 lets BIRD's smallest AIGP be that of a route without one: BIRD originates what igp_metric says.
NO_METRIC = 1 << 31
COMMUNITIES = ("BGP.community", "BGP.ext_community", "BGP.large_community")


def routes(bird: Bird, which: str = "") -> tuple[RibRoute, ...]:
    """Return routes in BIRD's order; `which` is what `show route all` may be followed by, such as `filtered`.

    None of a prefix without routes. Raises LabError.
    """
    answer = bird.ask(f"show route all {which}".rstrip())
    if answer.code >= REFUSED and answer.code != NOT_FOUND and NO_SESSION not in answer.text:
        raise LabError(f"{bird}: BIRD does not show routes {which}: {' '.join(without_codes(answer.text).split())}")
    return read_routes(answer.text) if answer.code < REFUSED else ()


def rib(bird: Bird, prefix: str = "") -> tuple[RibRoute, ...]:
    """Return the routes of the main table, all or those of a prefix, hidden ones last. Raises LabError."""
    return routes(bird, prefix) + routes(bird, f"{prefix} filtered".lstrip())


def exported(bird: Bird, protocol: str) -> tuple[RibRoute, ...]:
    """Return the routes that a protocol is sent, none if it is down; the path still lacks the own AS number.

    Raises LabError.
    """
    return routes(bird, f"export '{protocol}'")


def read_routes(answer: str) -> tuple[RibRoute, ...]:
    """Read an answer to `show route all`. Raises LabError for one that is none."""
    return tuple(_routes(f"\n{answer}"))


def _routes(text: str) -> Iterator[RibRoute]:
    prefix: Prefix | None = None
    for entry in ROUTE.split(text)[1:]:
        head, _, rest = entry.partition("\n")
        found = HEAD.match(head)
        if found is None:
            if head.startswith("Table ") or not head.strip():
                continue
            _refuse(head)
        network, _, protocol, star = found.groups()
        if network:
            prefix = prefix_value(network)
        if prefix is None:
            _refuse(head)
        route, hidden = _attributes(rest)
        # BIRD marks the first of the hidden routes, too.
        yield RibRoute(prefix, protocol, star is not None and not hidden, route, hidden)


@lru_cache(maxsize=1 << 16)
def _attributes(text: str) -> tuple[Route, int]:
    """Parse the lines below a route, and the number of the reason that hides it; many routes have the same."""
    pairs = (line.strip().partition(": ") for line in without_codes(text).splitlines())
    values = {name: value for name, colon, value in pairs if colon}
    try:
        return _route(values), int(values.get("ailb_hidden", 0))
    except ValueError as error:
        raise LabError(f"BIRD's answer cannot be parsed: {error}") from error


def _route(values: dict[str, str]) -> Route:
    path = tuple(int(word) for word in values.get("BGP.as_path", "").split())
    found = [communities.read(values[name]) for name in COMMUNITIES if name in values]
    aigp = int(values["BGP.aigp"]) if "BGP.aigp" in values else None
    if aigp is not None:
        # Every speaker adds one (RFC 7311, section 3.4.3), single-hop EBGP of Junos nothing.
        aigp -= max(len(path) - 1, 0)
    elif int(values.get("igp_metric", NO_METRIC)) < NO_METRIC:
        aigp = int(values["igp_metric"])
    return Route(
        as_path=path,
        communities=frozenset().union(*found),
        aigp=aigp,
        local_preference=int(values.get("BGP.local_pref", 200)) // 2,
        med=int(values["BGP.med"]) if "BGP.med" in values else None,
    )


def sessions(bird: Bird) -> dict[str, SessionState]:
    """Return the BGP sessions by the names of their protocols. Raises LabError."""
    return read_sessions(bird.command("show protocols all"))


def read_sessions(answer: str) -> dict[str, SessionState]:
    """Read an answer to `show protocols all`. Raises LabError for one that is none."""
    found = {}
    for entry in f"\n{answer}".split("\n1002-")[1:]:
        head, _, rest = entry.partition("\n")
        words = PROTOCOL.match(head)
        if words is None:
            _refuse(head)
        if words[2] == "BGP":
            found[words[1]] = _session(words, _fields(rest), head)
    return found


def _fields(text: str) -> dict[str, str]:
    """Return values by the name before the colon; of a repeated name the first, which is the session's own."""
    fields: dict[str, str] = {}
    for line in without_codes(text).splitlines():
        if (found := FIELD.fullmatch(line)) is not None:
            fields.setdefault(found[1], found[2])
    return fields


def _session(words: re.Match[str], fields: dict[str, str], head: str) -> SessionState:
    neighbor, _, link = fields.get("Neighbor address", "").partition("%")
    counts = {name: int(count) for count, name in ROUTES.findall(fields.get("Routes", ""))}
    try:
        return SessionState(
            state=fields["BGP state"] if words[3] != "down" else "Idle",
            since=words[4],
            neighbor=neighbor,
            link=link,
            neighbor_as=int(fields["Neighbor AS"]),
            local_as=int(fields["Local AS"]),
            imported=counts.get("imported", 0),
            hidden=counts.get("filtered", 0),
            exported=counts.get("exported", 0),
            active=counts.get("preferred", 0),
            updates_received=int(fields.get("Import updates", "0").split()[0]),
            updates_sent=int(fields.get("Export updates", "0").split()[-1]),
            last_error=fields.get("Last error", ""),
        )
    except (KeyError, ValueError) as error:
        raise LabError(f"BIRD's answer cannot be parsed: {head[:100]!r}: {error}") from error


def bfd(bird: Bird) -> dict[str, BfdState]:
    """Return the BFD sessions by link; none if BFD does not run. Raises LabError."""
    try:
        lines = bird.lines("show bfd sessions")
    except LabError as error:
        if NO_BFD in str(error):
            return {}
        raise
    rows = filter(None, map(BFD.match, lines))
    return {one[1]: BfdState(one[2] == UP, round(1000 * float(one[3])), round(1000 * float(one[4]))) for one in rows}


def _refuse(line: str) -> NoReturn:
    raise LabError(f"BIRD's answer cannot be parsed: {line[:100]!r}")
