"""What Batfish is known not to know: the patterns against recorded lines, our own lines and typing errors."""

from __future__ import annotations

from functools import cache

import pytest

from ailb_gen.batfish.unsupported import INFERRED, MEASURED, UNRECOGNIZED, WILDCARD_ADD, unrecognized
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_set
from tests.batfish.recorded import FILES, SHADOWS, rows
from tests.conftest import ROOT, need_shared

# Every pattern, in order: whether it was measured, and the lines that it claims; * is a word, ** any number of words.
KINDS = (
    (MEASURED, "set policy-options as-list * members *"),
    (MEASURED, "set protocols bgp group * fabric-color *"),
    (MEASURED, "set protocols bgp group * peer-as-list *"),
    (MEASURED, "set protocols bgp group * dynamic-neighbor * peer-auto-discovery family inet6 ipv6-nd"),
    (MEASURED, "set protocols bgp group * dynamic-neighbor * peer-auto-discovery interface *"),
    (MEASURED, "set protocols bgp fabric-advertise route * color *"),
    (MEASURED, "set protocols bgp fabric-advertise route * backup-color *"),
    (MEASURED, "set protocols bgp group * family inet6 unicast aigp"),
    (MEASURED, "set protocols bgp global-load-balancing **"),
    (MEASURED, "set routing-options forwarding-table ecmp-fast-reroute"),
    (MEASURED, "set interfaces * number-of-sub-ports *"),
    (MEASURED, "set class-of-service **"),
    (MEASURED, "set system management-instance"),
    (MEASURED, "set interfaces re0:mgmt-0 **"),
    (MEASURED, "annotate **"),
    (INFERRED, "set protocols bgp group * neighbor * fabric-color *"),
    (INFERRED, "set protocols bgp graceful-shutdown **"),
)
# Kinds of which the golden trees have no line.
NOT_WRITTEN = ("set protocols bgp global-load-balancing **", "set protocols bgp graceful-shutdown **")
# `annotate` stands between these.
MOVES = ("edit **", "top")
# Lines of each kind that the golden trees have not: other forms of the same statement.
OTHERS = (
    (0, 'set policy-options as-list "a b" members 65001'),
    (1, 'set protocols bgp group "it\'s green" fabric-color green'),
    (1, "set protocols bgp fabric-color green"),
    (1, "set groups fabric protocols bgp group <*> fabric-color green"),
    (2, 'set groups "a b" protocols bgp group g peer-as-list spines'),
    (4, "set protocols bgp group g dynamic-neighbor n peer-auto-discovery interface et-0/0/0:3.0"),
    (5, "set protocols bgp fabric-advertise route fc00::/64"),
    (5, "  set protocols bgp fabric-advertise route fc00::/64 color green\n"),
    (8, "set protocols bgp global-load-balancing"),
    (8, "set protocols bgp global-load-balancing helper-only"),
    (13, "set interfaces re1:mgmt-0 unit 0 family inet dhcp"),
    (14, "top"),
    (14, "edit policy-options"),
    (16, "set protocols bgp graceful-shutdown sender"),
    (16, "set groups fabric protocols bgp graceful-shutdown sender local-preference 5"),
    (16, "set protocols bgp group g graceful-shutdown receiver disable"),
    (16, "set protocols bgp group g neighbor fd00::1 graceful-shutdown receiver local-preference 5"),
)
WRONG = (
    "set policy-options as-list SPINES member 65001",
    "set policy-options as-lists SPINES members 65001",
    "set policy-options as-list SPINES",
    "set policy-option as-list SPINES members 65001",
    "set protocols bgp group spine1 fabric-colour green",
    "set protocols bgp group spine1 fabric-colors green",
    "set protocols bgp group spine1 fabric-color",
    "set protocols bgp groups spine1 fabric-color green",
    "set protocols bgp group spine1 neighbor fc00::1 fabric-color",
    "set protocols bgp group spine1 peer-as-lists SPINES",
    "set protocols bgp group spine1 peer-as-list",
    "set protocols bgp group spine1 dynamic-neighbour DN peer-auto-discovery family inet6 ipv6-nd",
    "set protocols bgp group spine1 dynamic-neighbor DN peer-auto-discovery family inet6 ipv6-nds",
    "set protocols bgp group spine1 dynamic-neighbor DN peer-auto-discovery family inet ipv6-nd",
    "set protocols bgp group spine1 dynamic-neighbor DN peer-auto-discovery family inet6",
    "set protocols bgp group spine1 dynamic-neighbor DN auto-discovery interface et-0/0/0.0",
    "set protocols bgp group spine1 dynamic-neighbor DN peer-auto-discovery interfaces et-0/0/0.0",
    "set protocols bgp group spine1 dynamic-neighbor DN peer-auto-discovery interface",
    "set protocols bgp fabric-advertise rout fc00::/64 color green",
    "set protocols bgp fabric-advertise route fc00::/64 colour green",
    "set protocols bgp fabric-advertise route fc00::/64 color",
    "set protocols bgp fabric-advertise route fc00::/64 backup-colour green",
    "set protocols bgp fabric-advertise route fc00::/64 backup-color",
    "set protocols bgp fabric-advertise routes fc00::/64",
    "set protocols bgp fabric-advertise",
    "set protocols bgp group spine1 family inet6 unicast aigps",
    "set protocols bgp group spine1 family inet6 unicast aigp disable",
    "set protocols bgp group spine1 family inet unicast aigp",
    "set protocols bgp global-load-balance",
    "set protocols bgp graceful-shutdown senders",
    "set protocols bgp graceful-shutdown",
    "set routing-options forwarding-table ecmp-fast-rerout",
    "set routing-options forwarding-table ecmp-fast-reroute off",
    "set interfaces et-0/0/0 number-of-subports 4",
    "set class-of-services schedulers x",
    "set system management-instances",
    "set interfaces re0:mgmt unit 0",
    "annotated policy-options",
    "top level",
    "delete protocols bgp group spine1 fabric-color green",
    "deactivate protocols bgp group spine1 fabric-color green",
    "protocols bgp group spine1 fabric-color green",
    "",
)


def claims(line: str) -> list[int]:
    """Return the numbers of all patterns that claim a line."""
    return [number for number, row in enumerate(UNRECOGNIZED) if row.pattern.match(line.strip())]


def fits(line: str, kind: str) -> bool:
    """Tell whether a line has the words of a kind."""
    words, intended = line.split(), kind.split()
    if intended[-1] == "**":
        return len(words) >= len(intended) and fits(" ".join(words[: len(intended) - 1]), kind.removesuffix(" **"))
    return len(words) == len(intended) and all(one in ("*", word) for word, one in zip(words, intended, strict=True))


@cache
def golden() -> frozenset[str]:
    """Return the `set` form of every switch of every golden tree."""
    found = set()
    for file in (ROOT / "tests" / "golden").glob("*/switches/*"):
        text = to_set(read(file.read_text("utf-8"), file.name))
        found |= {line for line in text.splitlines() if not line.startswith("##")}
    return frozenset(found)


def recorded(name: str) -> frozenset[str]:
    """Return the `set` form of every switch of a recorded snapshot."""
    found: set[str] = set()
    for file in need_shared(f"batfish-rows/snapshots/{name}/configs").iterdir():
        found |= set(to_set(read(file.read_text("utf-8"), file.name)).splitlines())
    return frozenset(found)


def test_the_table_is_that_of_the_program() -> None:
    assert [row.basis for row in UNRECOGNIZED] == [basis for basis, _ in KINDS]
    assert all(row.why for row in UNRECOGNIZED)


def test_every_measured_kind_is_among_the_recorded_lines() -> None:
    lines = [str(row["Text"]) for row in rows("a_v6", "parseWarning")]
    new = "set protocols bgp group spine2 family inet6 unicast extended-nexthop"
    assert [claims(line) for line in lines] == [[0], [0], [0], [5], [6], [1], [2], [3], [4], []]
    assert lines[-1] == new
    assert [unrecognized(line) for line in lines] == [
        *(UNRECOGNIZED[number] for number in (0, 0, 0, 5, 6, 1, 2, 3, 4)),
        None,
    ]


def test_of_the_file_with_everything_exactly_the_recorded_lines_are_claimed() -> None:
    lines = recorded("a_v6")
    texts = {str(row["Text"]) for row in rows("a_v6", "parseWarning")}
    assert texts <= lines
    claimed = {line for line in lines if claims(line)}
    assert claimed == texts - {"set protocols bgp group spine2 family inet6 unicast extended-nexthop"}


@pytest.mark.parametrize("name", [name for name in (*FILES, *SHADOWS) if name != "a_v6"])
def test_lines_that_batfish_recognizes_are_not_claimed(name: str) -> None:
    assert {row["Status"] for row in rows(name, "fileParseStatus")} == {"PASSED"}
    assert rows(name, "parseWarning") == []
    lines = recorded(name)
    assert len(lines) > 50
    assert [line for line in sorted(lines) if claims(line)] == []


def test_of_our_own_lines_every_pattern_claims_its_kind_and_no_other() -> None:
    seen = set()
    for line in sorted(golden()):
        if any(fits(line, kind) for kind in MOVES):
            continue
        expected = [number for number, (_, kind) in enumerate(KINDS) if fits(line, kind)]
        assert claims(line) == expected, line
        seen |= {KINDS[number][1] for number in expected}
    assert sorted(kind for _, kind in KINDS if kind not in seen) == sorted(NOT_WRITTEN)


@pytest.mark.parametrize(("number", "line"), OTHERS)
def test_other_forms(number: int, line: str) -> None:
    assert claims(line) == [number]
    assert unrecognized(line) is UNRECOGNIZED[number]


@pytest.mark.parametrize("line", WRONG)
def test_typing_errors_are_not_claimed(line: str) -> None:
    assert unrecognized(line) is None


def test_the_issue_about_wildcards() -> None:
    text = "FATAL: '{}' community contains no non-wildcard members in an add action"
    texts = [str(row["Details"]) for row in rows("a_v6", "initIssues")]
    assert [found[1] for found in map(WILDCARD_ADD.fullmatch, texts) if found is not None] == ["green"]
    for name in ("green", "a b", "it's", "it's 'green' community"):
        found = WILDCARD_ADD.fullmatch(text.format(name))
        assert found is not None
        assert found[1] == name
    for other in (text.format(""), text.format("green") + ".", text.format("green").replace("add", "set")):
        assert WILDCARD_ADD.fullmatch(other) is None
