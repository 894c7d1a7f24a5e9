"""A small fabric with static routes: two servers on two leaves, two spines; prefix k goes through spine k."""

from __future__ import annotations

from ailb_gen.addresses import address_value
from ailb_gen.lab.namespaces import add, batch, write_sysctl

SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
# Of the servers' NICs, by prefix.
ADDRESSES = {"h1": ("fc00:1:1::10", "fc00:1:2::10"), "h2": ("fc00:2:1::10", "fc00:2:2::10")}
LOOPBACKS = {name: f"fd6c:6162::{number}" for number, name in enumerate(SWITCHES, 1)}


def value(text: str) -> int:
    """Read an address."""
    found = address_value(text)
    assert found is not None
    return found


def build() -> None:
    """Make the namespaces, links, addresses and routes."""
    add((*SWITCHES, "h1", "h2"))
    for name in (*SWITCHES, "h1", "h2"):
        write_sysctl(name, {"net.ipv6.conf.default.accept_dad": 0, "net.ipv6.conf.all.accept_dad": 0})
        write_sysctl(name, {"net.ipv6.icmp.ratelimit": 0, "net.ipv6.icmp.ratemask": ""})
    for name in SWITCHES:
        write_sysctl(name, {"net.ipv6.conf.all.forwarding": 1, "net.ipv6.fib_multipath_hash_policy": 1})
    batch(
        [
            f"link add {spine} netns {leaf} type veth peer name {leaf} netns {spine}"
            for leaf in ("leaf1", "leaf2")
            for spine in ("spine1", "spine2")
        ]
        + [f"link add irb netns leaf{n} type veth peer name gpu0 netns h{n}" for n in (1, 2)]
    )
    for name in SWITCHES:
        batch([f"addr add {LOOPBACKS[name]}/128 dev lo"], name)
    for n, leaf in enumerate(("leaf1", "leaf2"), 1):
        other = 3 - n
        lines = [f"addr add fc00:{n}:{k}::1/64 dev irb" for k in (1, 2)]
        lines += [f"link set {link} up" for link in ("irb", "spine1", "spine2")]
        lines += [f"addr add fd00:{n}:{k}::1/64 dev spine{k}" for k in (1, 2)]
        lines += [f"route add fc00:{other}:{k}::/64 via fd00:{n}:{k}::2 dev spine{k}" for k in (1, 2)]
        batch(lines, leaf, "-6")
        for k in (1, 2):
            lines = [f"link set {leaf} up", f"addr add fd00:{n}:{k}::2/64 dev {leaf}"]
            lines += [f"route add fc00:{n}:{prefix}::/64 via fd00:{n}:{k}::1 dev {leaf}" for prefix in (1, 2)]
            batch(lines, f"spine{k}", "-6")
        lines = ["link set gpu0 up"]
        for k in (1, 2):
            lines += [
                f"addr add fc00:{n}:{k}::10/64 dev gpu0 noprefixroute",
                f"rule add from fc00:{n}:{k}::/64 lookup {k}",
            ]
            lines += [f"route add fc00:{n}:{k}::/64 dev gpu0 table {k}"]
            lines += [f"route add default via fc00:{n}:{k}::1 dev gpu0 table {k}"]
        batch(lines, f"h{n}", "-6")
