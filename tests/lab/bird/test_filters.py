"""Policies as BIRD runs them against `routing.policy.evaluate`, term by term, on routes that BIRD itself holds."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ailb_gen.addresses import Prefix
from ailb_gen.errors import LabError
from ailb_gen.lab.bird.communities import value
from ailb_gen.lab.bird.control import Bird
from ailb_gen.lab.bird.filters import Policies, Reasons, Symbols, chain, prefix_pattern, set_preference
from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.lab.bird.parse import read_routes
from ailb_gen.lab.bird.wildcards import patterns
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Community, Policy, PrefixList, RouteFilter, Term
from ailb_gen.routing.policy import Lists, evaluate
from ailb_gen.routing.route import Route
from tests.conftest import examples, need_tool
from tests.routing.fabrics import prefix

PREFIXES = tuple(
    prefix(text)
    for text in (
        "fc00::/16",
        "fc00:1::/32",
        "fc00:1:1::/48",
        "fc00:1:1:1::/64",
        "fc00:1:1:2::/64",
        "fc00:1:1:2::7/128",
        "fc00:1:2::/48",
        "fc00:1:2:1::/64",
        "fd00::/16",
        "fd00:ff::1/128",
        "::/0",
    )
)
VALUES: tuple[str, ...] = (
    "0:15",
    "0:99",
    "65000:1",
    "65000:22",
    "65001:1",
    "color:0:1",
    "color:0:2",
    "color:1:1",
    "large:65000:1:2",
)
VALUES += ("large:4200000000:1:3", "target:65000:7", "target:4200000000L:7", "origin:192.0.2.1:7", "65535:65281")
WILD: tuple[str, ...] = (
    "65000:*",
    "*:1",
    "^6500[01]:.*$",
    "65000:2.",
    "color:0:*",
    "color:*:1",
    "large:65000:*:*",
    "color:0:[12]",
)
WILD += (
    "target:65000:*",
    "origin:192.0.2.1:[67]",
    "target:4200000000L:.*",
    "no-export",
    "0:(15|99)",
    "color:0:(1|9)",
    "large:*:*:*",
)
NAMES = ("one", "two", "three", "nothing", "empty")
MATCHES = ("exact", "orlonger", "longer", "upto", "prefix-length-range")


@st.composite
def route_filters(draw: st.DrawFn) -> RouteFilter:
    found, match = draw(st.sampled_from(PREFIXES)), draw(st.sampled_from(MATCHES))
    low = draw(st.integers(0, 128)) if match == "prefix-length-range" else found.length
    high = draw(st.sampled_from((16, 48, 64, 127, 128))) if match in MATCHES[3:] else 128
    return RouteFilter(found, match, low, high)


@dataclass(frozen=True)
class Shown:
    """A switch of which only the policies are worth a look."""

    switch: Switch

    def __repr__(self) -> str:
        return f"{self.switch.policies} {self.switch.communities}"


def several(values: st.SearchStrategy[str], most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, max_size=most, unique=True).map(tuple)


@st.composite
def terms(draw: st.DrawFn, name: str) -> Term:
    listed = st.sampled_from(("pool", "hosts", "missing"))
    kinds = draw(
        st.sets(st.sampled_from(("communities", "lists", "list filters", "route filters", "families")), max_size=2)
    )
    change = st.tuples(st.sampled_from(("add", "set", "delete")), st.sampled_from(NAMES))
    return Term(
        name,
        families=draw(st.sampled_from((("inet6",), ("inet",)))) if "families" in kinds else (),
        protocols=draw(st.sampled_from(((), (), ("bgp", "direct"), ("static",)))),
        communities=draw(several(st.sampled_from(NAMES))) if "communities" in kinds else (),
        prefix_lists=draw(several(listed)) if "lists" in kinds else (),
        prefix_list_filters=tuple(
            draw(st.lists(st.tuples(listed, st.sampled_from(MATCHES[:3])), max_size=2))
            if "list filters" in kinds
            else ()
        ),
        route_filters=tuple(draw(st.lists(route_filters(), max_size=5)) if "route filters" in kinds else ()),
        changes=tuple(draw(st.lists(change, max_size=2))),
        local_preference=draw(st.sampled_from((None, None, 0, 150, (1 << 31) - 1))),
        metric=draw(st.sampled_from((None, None, 0, 7, (1 << 32) - 1))),
        verdict=draw(st.sampled_from(("", "", "accept", "reject", "next-term", "next-policy"))),
        unknown=draw(st.sampled_from(((), (), (), (("from as-path X", 1),), (("then origin igp", 2),)))),
    )


@st.composite
def policies(draw: st.DrawFn, name: str) -> Policy:
    count = draw(st.integers(1, 4))
    return Policy(name, tuple(draw(terms(f"t{number}")) for number in range(count)))


@st.composite
def switches(draw: st.DrawFn, base: Switch) -> Switch:
    member = st.one_of(st.sampled_from(VALUES), st.sampled_from(WILD))
    communities = {name: Community(name, draw(several(member))) for name in NAMES[:3]}
    communities["empty"] = Community("empty", ())
    lists = {
        "pool": PrefixList("pool", (PREFIXES[2], PREFIXES[8]), 0),
        "hosts": PrefixList("hosts", (PREFIXES[9], PREFIXES[5], PREFIXES[3]), 1),
    }
    found = (draw(policies("FIRST")), draw(policies("SECOND")))
    return replace(base, communities=communities, prefix_lists=lists, policies={one.name: one for one in found})


def config(switch: Switch, held: Mapping[Prefix, frozenset[str]]) -> tuple[str, list[Untranslated]]:
    """Write a daemon whose static routes pass the policies as if they came in over a session."""
    names = Symbols()
    untranslated: list[Untranslated] = []
    translated = Policies(switch, names, Reasons(), untranslated)
    functions = [translated.function(one) for one in switch.policies.values()]
    called = [names.symbol("policy", one) for one in switch.policies]
    routes = [
        f"route {one} blackhole {{ {''.join(_add(text) for text in sorted(values))} }};" for one, values in held.items()
    ]
    text = "\n".join((
        "router id 192.0.2.1;",
        "attribute int ailb_hidden;",
        "attribute int ailb_verdict;",
        *functions,
        "filter all_of_them int verdict; {",
        *set_preference(100),
        "verdict = 0;",
        *chain(called),
        "ailb_verdict = verdict; ailb_hidden = 0; accept; }",
        f"protocol static {{ ipv6 {{ import filter all_of_them; }}; {' '.join(routes)} }}",
    ))  # fmt: skip
    return text, untranslated


def _add(text: str) -> str:
    found = value(text)
    assert found is not None, text
    return f"{found.attribute}.add({found.literal});"


def run(folder: Path, text: str) -> str:
    (folder / "bird.conf").write_text(text)
    words = (need_tool("bird"), "-f", "-c", folder / "bird.conf", "-s", folder / "bird.ctl", "-P", folder / "bird.pid")
    log = (folder / "bird.log").open("wb")
    daemon = subprocess.Popen([str(word) for word in words], stderr=log)
    log.close()
    try:
        bird, until = Bird(folder / "bird.ctl"), time.monotonic() + 10
        while True:
            try:
                return bird.command("show route all")
            except LabError:
                assert daemon.poll() is None, f"{(folder / 'bird.log').read_text()}\n{text}"
                assert time.monotonic() < until
                time.sleep(0.005)
    finally:
        daemon.kill()
        daemon.wait()
        (folder / "bird.ctl").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_tool("bird")
    return tmp_path_factory.mktemp("bird")


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_policies_decide_and_change_as_computed(folder: Path, leaf: Switch, data: st.DataObject) -> None:
    switch = data.draw(switches(leaf).map(Shown)).switch
    held = {one: frozenset(data.draw(several(st.sampled_from(VALUES), 4))) for one in PREFIXES}
    text, _ = config(switch, held)
    answer = run(folder, text)
    found = {route.prefix: route for route in read_routes(answer)}
    verdicts = dict(_verdicts(answer))
    lists = Lists(switch.communities, switch.prefix_lists)
    for one, values in held.items():
        expected = evaluate(tuple(switch.policies.values()), lists, one, Route(communities=values), default=True)
        seen = (verdicts[one] != 2, found[one].route)
        assert seen == (expected.accepted, expected.route), (str(one), sorted(values), expected.by)


def _verdicts(answer: str) -> list[tuple[Prefix, int]]:
    found, at = [], None
    for line in answer.splitlines():
        words = line[5 if line[:4].isdigit() else 1 :].split()
        if len(words) > 1 and "/" in words[0]:
            at = prefix(words[0])
        elif words and words[0] == "ailb_verdict:":
            assert at is not None
            found.append((at, int(words[1])))
    return found


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (RouteFilter(PREFIXES[2], "exact"), "fc00:1:1::/48"),
        (RouteFilter(PREFIXES[2], "orlonger"), "fc00:1:1::/48+"),
        (RouteFilter(PREFIXES[2], "longer"), "fc00:1:1::/48{49,128}"),
        (RouteFilter(PREFIXES[2], "upto", 48, 64), "fc00:1:1::/48{48,64}"),
        (RouteFilter(PREFIXES[2], "upto", 48, 40), ""),
        (RouteFilter(PREFIXES[2], "prefix-length-range", 16, 64), "fc00:1:1::/48{48,64}"),
        (RouteFilter(PREFIXES[9], "longer"), ""),
    ],
)
def test_match_types(entry: RouteFilter, expected: str) -> None:
    assert prefix_pattern(entry) == expected


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ("65000:*", ("bgp_community", "[(65000, *)]")),
        ("65000:1.", ("bgp_community", "[(65000, 10..19)]")),
        ("color:0:*", ("bgp_ext_community", "[(generic, 0x030b0000, *)]")),
        ("large:1:[2-4]:*", ("bgp_large_community", "[(1, 2..4, *)]")),
        ("large:*:1:*", None),
        ("1:2|3:4", None),
        ("65000:[", None),
        ("color:0:1.*", None),
        ("bandwidth:65000:*", None),
        ("*", None),
        ("target:.*:1", None),
        ("target:65000:*", ("bgp_ext_community", "[(generic, 0x0002fde8, *)]")),
        ("target:65536:*", ("bgp_ext_community", "[(generic, 0x02020001, 0..65535)]")),
        ("target:192.0.2.1:7.", ("bgp_ext_community", "[(generic, 0x0102c000, 33620038..33620047)]")),
    ],
)
def test_wildcards(member: str, expected: tuple[str, str] | None) -> None:
    assert patterns(member) == (expected,)


def test_a_wildcard_without_a_type_stands_for_colors_too() -> None:
    standard, color, large = patterns("*:1")
    assert standard == ("bgp_community", "[(*, 1)]")
    assert color is not None
    assert color[1].startswith("[(generic, 0x030b0000, 1), ")
    assert large is None
    assert patterns("*:*")[2] == ("bgp_large_community", "[(*, *, *)]")


@pytest.mark.parametrize(
    ("term", "statement"),
    [
        (Term("t", communities=("odd",)), "community member bandwidth:1:2"),
        (Term("t", changes=(("add", "odd"),)), "community member bandwidth:1:2"),
        (Term("t", communities=("wild",)), "community member target:.*:1"),
        (Term("t", local_preference=(1 << 32) - 1), "then local-preference"),
        (Term("t", unknown=(("then origin igp", 3),)), "then origin igp"),
        (Term("t", unknown=(("from as-path X", 3),)), "from as-path X"),
    ],
)
def test_what_is_not_translated_is_listed(leaf: Switch, term: Term, statement: str) -> None:
    odd = {"odd": Community("odd", ("bandwidth:1:2",)), "wild": Community("wild", ("target:.*:1",))}
    switch = replace(leaf, communities=odd, policies={"P": Policy("P", (term,))})
    _, untranslated = config(switch, {})
    assert [entry.statement for entry in untranslated] == [f"policy-options policy-statement P term t {statement}"]
