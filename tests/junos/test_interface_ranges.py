"""Interface ranges copied to their members."""

import pickle

import pytest

from ailb_gen.errors import ExpansionError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_set

PORTS = "et-0/0/0:0 { mtu 9216; } et-0/0/1:0 { mtu 9216; unit 0 { family inet6; } }"


def lines(text: str) -> list[str]:
    root = read(text)
    before = to_set(read(text))
    found = to_set(effective(root), comments=False).splitlines()
    assert to_set(root) == before, "the tree itself must not change"
    return found


def test_without_ranges_nothing_is_copied() -> None:
    root = read(f"interfaces {{ {PORTS} }}")
    assert effective(root) is root


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ("member et-0/0/3;", ["et-0/0/3"]),
        ('member "et-0/0/[1-3]";', ["et-0/0/1", "et-0/0/2", "et-0/0/3"]),
        ('member "et-0/0/[8-11]";', ["et-0/0/8", "et-0/0/9", "et-0/0/10", "et-0/0/11"]),
        ('member "et-0/0/[1,5]:[0-1]";', ["et-0/0/1:0", "et-0/0/1:1", "et-0/0/5:0", "et-0/0/5:1"]),
        ("member et-0/0/[1-2];", ["et-0/0/1", "et-0/0/2"]),
        ("member et-0/0/1; member et-0/0/2;", ["et-0/0/1", "et-0/0/2"]),
        ("member-range et-0/0/2 to et-0/0/4;", ["et-0/0/2", "et-0/0/3", "et-0/0/4"]),
        ("member-range et-0/0/2:0 to et-0/0/2:1;", ["et-0/0/2:0", "et-0/0/2:1"]),
        ("member-range et-0/0/46 to et-1/0/1;", ["et-0/0/46", "et-0/0/47", "et-1/0/0", "et-1/0/1"]),
        ("member-range et-0/0/1 to et-0/0/1; member ae0;", ["ae0", "et-0/0/1"]),
    ],
)
def test_members(members: str, expected: list[str]) -> None:
    found = lines(f"interfaces {{ interface-range r {{ {members} disable; }} }}")
    assert sorted(found) == sorted(f"set interfaces {name} disable" for name in expected)


@pytest.mark.parametrize("pattern", ["et-0/0/*", "et-*", "et-0/0/*:0", "et-*/*/*", "et-0/0/[0-1]:0", "et-0/*/[0-1]:*"])
def test_patterns_reach_what_is_configured(pattern: str) -> None:
    found = lines(f'interfaces {{ interface-range r {{ member "{pattern}"; disable; }} {PORTS} }}')
    assert {f"set interfaces et-0/0/{port}:0 disable" for port in (0, 1)} <= set(found)


def test_a_star_means_numbers_up_to_47() -> None:
    found = lines('interfaces { interface-range r { member "et-0/0/*"; mtu 1500; } et-0/0/60 { unit 0; } }')
    assert "set interfaces et-0/0/60 mtu 1500" in found
    assert len(found) == 50 and not any("/48 " in line for line in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The member's own value wins; what it does not say comes from the range; the earlier range wins.
        (
            f"interfaces {{ interface-range a {{ member et-0/0/0:0; mtu 1500; disable; }} {PORTS} }}",
            {"et-0/0/0:0 mtu 9216", "et-0/0/0:0 disable", "et-0/0/1:0 mtu 9216", "et-0/0/1:0 unit 0 family inet6"},
        ),
        (
            'interfaces { interface-range a { member ge-0/0/0; mtu 1; } interface-range b { member "ge-0/0/*"; mtu 2; }'
            " ge-0/0/0 { unit 0; } }",
            {"ge-0/0/0 mtu 1", "ge-0/0/0 unit 0", *(f"ge-0/0/{port} mtu 2" for port in range(1, 48))},
        ),
        # Blocks grow together.
        (
            "interfaces { interface-range a { member et-0/0/0; unit 0 { disable; } } "
            "et-0/0/0 { unit 0 { family inet6; } } }",
            {"et-0/0/0 unit 0 family inet6", "et-0/0/0 unit 0 disable"},
        ),
        # An inactive range, an inactive statement of one, an inactive member.
        (
            "interfaces { inactive: interface-range a { member et-0/0/0; disable; } et-0/0/0 { mtu 1; } }",
            {"et-0/0/0 mtu 1"},
        ),
        ("interfaces { interface-range a { member et-0/0/0; inactive: disable; mtu 1; } }", {"et-0/0/0 mtu 1"}),
        (
            "interfaces { interface-range a { inactive: member et-0/0/0; member et-0/0/1; mtu 1; } }",
            {"et-0/0/1 mtu 1"},
        ),
    ],
)
def test_what_members_inherit(text: str, expected: set[str]) -> None:
    assert set(lines(text)) == {f"set interfaces {line}" for line in expected}
    assert set(lines(to_set(read(text)))) == {f"set interfaces {line}" for line in expected}


GROUPS = """groups {
    OFF { interfaces { interface-range r { member et-0/0/0:0; disable; } } }
    DOWN { interfaces { interface-range <*> { disable; } } }
    ALL { interfaces { <et-*> { disable; } } }
}
"""


@pytest.mark.parametrize(
    "text",
    [
        f"apply-groups OFF; interfaces {{ {PORTS} }}",
        f"interfaces {{ apply-groups OFF; {PORTS} }}",
        f"apply-groups DOWN; interfaces {{ interface-range r {{ member et-0/0/0:0; }} {PORTS} }}",
        f"interfaces {{ interface-range r {{ apply-groups DOWN; member et-0/0/0:0; }} {PORTS} }}",
        f"interfaces {{ interface-range r {{ apply-groups ALL; member et-0/0/0:0; }} {PORTS} }}",
        "apply-groups ALL; interfaces { interface-range r { member et-0/0/0:0; mtu 9216; } }",
        "apply-groups OFF;",
    ],
)
def test_ranges_by_groups(text: str) -> None:
    found = lines(GROUPS + text)
    assert "set interfaces et-0/0/0:0 disable" in found
    assert not any("interface-range" in line or "groups" in line for line in found)


def test_exceptions_from_groups() -> None:
    spared = "interface-range r { member et-0/0/0:0; apply-groups-except ALL; }"
    text = f"{GROUPS} apply-groups ALL; interfaces {{ {spared} {PORTS} }}"
    found = lines(text)
    assert "set interfaces et-0/0/0:0 disable" not in found
    assert "set interfaces et-0/0/1:0 disable" in found


def test_the_device_wins_over_a_group_through_its_range() -> None:
    group = "groups { G { interfaces { <*> { mtu 1; } } } } apply-groups G;"
    text = f"{group} interfaces {{ interface-range r {{ member et-0/0/0; mtu 2; }} }}"
    assert lines(text) == ["set interfaces et-0/0/0 mtu 2"]


def test_a_wildcard_of_a_group_is_no_range() -> None:
    group = "groups { G { interfaces { <*> { disable; } } } } apply-groups G;"
    assert lines(f"{group} interfaces {{ interface-range r {{ member et-0/0/0; }} }}") == ["set interfaces"]


def test_where_a_range_is_named_its_members_are_meant() -> None:
    text = """interfaces { interface-range r { member et-0/0/0; member et-0/0/1; } }
        protocols { lldp { interface r { disable; } interface et-0/0/1 { power-negotiation; } } }
        vlans { v { interface r.0; } }"""
    assert set(lines(text)) - {"set interfaces"} == {
        "set protocols lldp interface et-0/0/0 disable",
        "set protocols lldp interface et-0/0/1 disable",
        "set protocols lldp interface et-0/0/1 power-negotiation",
        "set vlans v interface et-0/0/0.0",
        "set vlans v interface et-0/0/1.0",
    }


def test_statements_keep_the_line_of_their_range() -> None:
    root = effective(read("interfaces {\n interface-range r {\n  member et-0/0/0;\n  disable;\n }\n}\n"))
    found = root.get("interfaces", "et-0/0/0", "disable")
    assert found is not None and found.line == 4


def ranges(count: int, body: str) -> str:
    return "interfaces {\n" + "".join(f"interface-range r{number} {{ {body} }}\n" for number in range(count)) + "}\n"


@pytest.mark.sampled(4, 6)
@pytest.mark.parametrize(
    "text",
    [
        ranges(1500, "member-range et-0/0/0 to et-0/0/399; mtu 9216; description d;"),
        ranges(1500, 'member "et-0/0/*"; member "et-[0-9]/0/[0-399]"; mtu 9216;'),
        ranges(9000, "member-range et-0/0/0 to et-0/0/399; mtu 9216;"),
        ranges(1, "mtu 9216; " + "".join(f"member-range et-{n}/0/0 to et-{n}/0/3999; " for n in range(900))),
        ranges(1, 'mtu 1; member "et-0/0/[' + "0-9999," * 10000 + '0]";'),
        ranges(1, "mtu 1; " + "".join(f'member "{"*a" * 20}{n}";\n' for n in range(30000))),
        # The range is named in as many places as there are groups of interfaces.
        ranges(200, "member-range et-0/0/0 to et-0/0/399; mtu 9216;")
        + "class-of-service { interfaces {"
        + "".join(f"interface r{number} {{ unit 0 {{ a b; c d; }} }} " for number in range(200))
        + "} }",
        "protocols { lldp {" + "".join(f"interface r{number} {{ a; b; c; d; }} " for number in range(1500)) + "} }"
        # Groups come last, and ranges of groups are copied then.
        "groups { G { interfaces { interface-range <*> { disable; } } } } apply-groups G; "
        + ranges(1500, "member-range et-0/0/0 to et-0/0/399; mtu 9216;"),
    ],
)
def test_what_takes_too_many_steps_ends_soon(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A tenth of the steps that there are shows the same.
    monkeypatch.setattr("ailb_gen.junos.groups.MAX_STEPS", 100_000)
    root = read(text)
    with pytest.raises(ExpansionError) as caught:
        effective(root)
    assert "interface ranges (line" in str(caught.value)
    assert "takes more than 100,000 steps; delete unused ones" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line) == (str(caught.value), caught.value.line)


def test_large_switches_take_few_steps() -> None:
    text = ranges(40, "member-range et-0/0/0 to et-0/0/127; mtu 9216; unit 0 { family inet6 { mtu 9170; } }")
    found = lines(text + "protocols { lldp { interface r1 { disable; } interface r2; } }")
    assert len(found) == 3 * 128


def test_numbers_without_end_are_no_range() -> None:
    far = "9" * 30
    found = lines(f"interfaces {{ interface-range r {{ member-range et-0/0/0 to et-0/0/{far}; disable; }} }}")
    assert found == ["set interfaces et-0/0/0 disable", f"set interfaces et-0/0/{far} disable"]
