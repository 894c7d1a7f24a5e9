"""Router advertisements of a file as BIRD sends them, within what BIRD accepts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ailb_gen.lab.bird.config import render
from ailb_gen.lab.bird.model import Untranslated
from ailb_gen.lab.bird.radv import router_advertisements
from ailb_gen.lab.plan import plan
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import RaPrefix, RouterAdvertisement, SessionBfd, Switch
from tests.lab.bird.test_config import checked, first_group, translated
from tests.routing.fabrics import prefix

PREFIX = prefix("fc00:1:1:1::/64")


def irb(leaf: Switch, *prefixes: RaPrefix, **times: int | None) -> Switch:
    found = RouterAdvertisement("irb.2", prefixes, (), times.get("longest"), times.get("least"), times.get("lifetime"))
    return replace(leaf, advertisements={"irb.2": found})


@pytest.mark.parametrize(
    ("longest", "least", "lifetime", "expected"),
    [
        # Junos's defaults: RFC 4861, section 6.2.1.
        (None, None, None, (600, 200, 1800)),
        (30, 10, 1800, (30, 10, 1800)),
        (30, None, None, (30, 10, 90)),
        (30, 10, 0, (30, 10, 0)),
        (4, 3, 4, (4, 3, 4)),
        (4, None, None, (4, 3, 12)),
        (1800, 1350, 9000, (1800, 1350, 9000)),
        # What Junos would refuse is brought into BIRD's bounds.
        (1, 9999, 1, (4, 3, 4)),
        (4294967295, 4294967295, 4294967295, (1800, 1350, 9000)),
        (30, 30, 10, (30, 22, 30)),
    ],
)
def test_intervals_and_lifetime(
    network: Network,
    leaf: Switch,
    longest: int | None,
    least: int | None,
    lifetime: int | None,
    expected: tuple[int, int, int],
    tmp_path: Path,
) -> None:
    text = translated(network, "stripe1-leaf1", irb(leaf, longest=longest, least=least, lifetime=lifetime)).text
    found = re.search(r"max ra interval (\d+); min ra interval (\d+); default lifetime (\d+);", text)
    assert found is not None
    assert tuple(map(int, found.groups())) == expected
    checked(text, tmp_path)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            RaPrefix(PREFIX, True, True),
            "onlink yes; autonomous yes; valid lifetime 2592000; preferred lifetime 604800;",
        ),
        (
            RaPrefix(PREFIX, False, True, "60", "30"),
            "onlink no; autonomous yes; valid lifetime 60; preferred lifetime 30;",
        ),
        (RaPrefix(PREFIX, True, False, "30", "60"), "autonomous no; valid lifetime 30; preferred lifetime 30;"),
        (RaPrefix(PREFIX, True, True, "infinity"), "valid lifetime 4294967295; preferred lifetime 604800;"),
        (RaPrefix(PREFIX, True, True, "x", "99999999999"), "valid lifetime 2592000; preferred lifetime 604800;"),
    ],
)
def test_prefixes(network: Network, leaf: Switch, entry: RaPrefix, expected: str, tmp_path: Path) -> None:
    text = translated(network, "stripe1-leaf1", irb(leaf, entry)).text
    (line,) = (line for line in text.splitlines() if "prefix fc00" in line)
    assert expected in line
    checked(text, tmp_path)


def test_interfaces_that_send_none(network: Network, leaf: Switch) -> None:
    """Disabled ports and units, ports without family inet6 or cable, and the loopback."""
    known = plan(network).switches["stripe1-leaf1"]
    ports = dict(leaf.ports)
    ports["et-0/0/0"] = replace(ports["et-0/0/0"], disabled=True)
    off, without = (ports[name].units[0] for name in ("et-0/0/1", "et-0/0/2"))
    ports["et-0/0/1"] = replace(ports["et-0/0/1"], units=(replace(off, disabled=True),))
    ports["et-0/0/2"] = replace(ports["et-0/0/2"], units=(replace(without, inet6=False),))
    others = {
        name: RouterAdvertisement(name, (), (), None, None, None) for name in ("lo0.0", "et-9/9/9.0", "et-0/0/3.7")
    }
    untranslated: list[Untranslated] = []
    changed = replace(leaf, ports=ports, advertisements={**leaf.advertisements, **others})
    text = router_advertisements(changed, known, untranslated)
    assert re.findall(r'interface "(.*)"', text) == ["irb.2", "et-0-0-3"]
    assert not untranslated
    assert router_advertisements(replace(leaf, advertisements={}), known, untranslated) == ""


@pytest.mark.parametrize("bfd", [SessionBfd(1, 1), SessionBfd(255_000, 255), SessionBfd(300, None)])
def test_bfd_within_the_bounds_of_junos(network: Network, leaf: Switch, bfd: SessionBfd, tmp_path: Path) -> None:
    text = translated(network, "stripe1-leaf1", first_group(leaf, lambda group: replace(group, bfd=bfd))).text
    expected = f"interval {bfd.interval_ms} ms; multiplier {bfd.multiplier or 3};"
    assert f'interface "et-0-0-0" {{ {expected} }};' in text
    checked(text, tmp_path)


def test_no_bfd_without_the_statement(network: Network, leaf: Switch, tmp_path: Path) -> None:
    silent = replace(leaf, groups=tuple(replace(group, bfd=None) for group in leaf.groups))
    text = translated(network, "stripe1-leaf1", silent).text
    assert "bfd" not in text
    checked(text, tmp_path)
    assert "bfd" not in render(leaf, plan(network).switches["stripe1-leaf1"], {}).text
