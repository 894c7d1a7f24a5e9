"""Small IPv4 shadows for the tests of the plain interpreter."""

from __future__ import annotations

from tests.batfish.plain import Snapshot, from_texts

# Two switches: what `a` announces goes through its policies OUT, and through the policies IN of `b`.
A = """
set system host-name a
set routing-options router-id 1.0.0.1
set routing-options autonomous-system 65001
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31
set interfaces lo0 unit 0 family inet address 10.1.0.0/24
set interfaces lo0 unit 0 family inet address 10.1.1.0/24
set interfaces lo0 unit 0 family inet address 10.1.1.128/25
set policy-options prefix-list ZERO 10.1.0.0/24
set policy-options community ONE members 1:1
set policy-options community TWO members 1:2
set policy-options community BOTH members [ 1:1 1:2 ]
set protocols bgp group g neighbor 10.0.0.1 peer-as 65002
set protocols bgp group g export [ OUT LAST ]
set policy-options policy-statement LAST term all from protocol direct
set policy-options policy-statement LAST term all from route-filter 10.1.0.0/16 orlonger
set policy-options policy-statement LAST term all then accept
"""
B = """
set system host-name b
set routing-options router-id 1.0.0.2
set routing-options autonomous-system 65002
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.1/31
set protocols bgp group g type external
set protocols bgp group g neighbor 10.0.0.0 peer-as 65001
set policy-options community ONE members 1:1
set policy-options community BOTH members [ 1:1 1:2 ]
"""


def of(policy: str, *lines: str) -> str:
    """Write lines of a policy's first term as `set` lines; `2 then reject` is one of its second term."""
    head = f"set policy-options policy-statement {policy} term"
    return "".join(f"{head} {line if line[0].isdigit() else f'1 {line}'}\n" for line in lines)


def pair(a: str = "", b: str = "") -> Snapshot:
    return from_texts({"configs/a.cfg": A + a, "configs/b.cfg": B + b})


def fan(first: str = "", *, multipath: str = "multipath multiple-as", last: str = "") -> Snapshot:
    """Two switches `x` and `y` between `a` and `b`; `first` is added to `x`, `last` to `b`."""
    files = {"a": ["set interfaces lo0 unit 0 family inet address 10.1.0.0/24"], "b": [last]}
    for number, name in enumerate(("x", "y"), 1):
        files[name] = [first if name == "x" else ""]
        for at, (end, asn) in enumerate((("a", 65001), ("b", 65002))):
            link, own = f"10.0.{number}.{2 * at}", f"10.0.{number}.{2 * at + 1}"
            files[end] += [
                f"set interfaces et-0/0/{number} unit 0 family inet address {link}/31",
                f"set protocols bgp group {name} neighbor {own} peer-as {65010 + number}",
                f"set protocols bgp group {name} export OUT",
                f"set protocols bgp group {name} {multipath}",
            ]
            files[name] += [
                f"set interfaces et-0/0/{at} unit 0 family inet address {own}/31",
                f"set protocols bgp group all neighbor {link} peer-as {asn}",
            ]
    asns = {"a": 65001, "b": 65002, "x": 65011, "y": 65012}
    out = of("OUT", "from route-filter 10.1.0.0/24 exact", "then accept")
    head = (
        "set system host-name {0}\nset routing-options router-id 1.1.1.{1}\nset routing-options autonomous-system {2}\n"
    )
    return from_texts(
        {
            f"configs/{name}.cfg": head.format(name, at, asns[name]) + out + "\n".join(lines)
            for at, (name, lines) in enumerate(sorted(files.items()), 1)
        }
    )
