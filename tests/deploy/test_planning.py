"""What a push would do: every device looked at, little kept of it, the waves of those to be changed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import pytest
from lxml import etree

from ailb_gen.deploy import planning
from ailb_gen.deploy.artifacts import Inputs
from ailb_gen.deploy.device_diff import SwitchDiff, switch_diff
from ailb_gen.deploy.inventory import Target, read_inventory
from ailb_gen.deploy.ownership import fingerprint, ownership
from ailb_gen.deploy.planning import Plan, Position, Wave, paths_of, plan_of, position_of
from ailb_gen.deploy.resource_limits import Kept
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import CommitEntry, DeviceError, Phase, once
from ailb_gen.deploy.transaction import FileSource
from ailb_gen.deploy.verification import read_forwarding
from ailb_gen.emulator.load_config import load
from ailb_gen.emulator.source import factory
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.junos.writer import to_curly
from tests.conftest import EXAMPLES, ROOT
from tests.deploy import lab
from tests.deploy.test_device_pool import device_pool
from tests.deploy.test_switch_state import Told
from tests.network.lab import LAB

LEAF, SPINE = "stripe1-leaf1", "spine1"
INPUTS = Inputs(
    LAB,
    {name: f"switches/{name}.conf" for name in lab.NAMES},
    "digest",
    texts={name: zlib.compress(lab.text_of(name).encode()) for name in lab.NAMES},
)
FACTORY = to_curly(factory("x", "admin"))
GOLDEN = ROOT / "tests" / "golden"
UP = ("et-0/0/0.0", "et-0/0/2.0")


def running(name: str) -> str:
    """Return the configuration of a switch that has its file."""
    return to_curly(load(factory(name, "admin"), read(lab.text_of(name)), "merge"))


@dataclass
class Fake:
    """A switch that has a text, and sessions that are up."""

    text: str
    up: tuple[str, ...] = UP
    alarms: tuple[str, ...] = ()
    log: str = ""
    closed: bool = False
    addresses: tuple[str, ...] = ()

    def rest(self) -> None:
        """Let go of what an answer took."""

    def close(self) -> None:
        self.closed = True

    def running(self) -> str:
        return self.text

    def commits(self) -> tuple[CommitEntry, ...]:
        return (CommitEntry(0, "admin", 0, self.log, None),)

    def ask(self, rpc: str, **arguments: str | bool) -> etree._Element:
        told = Told()
        told.alarms = [*self.alarms]
        told.peers = [
            (f"fe80::1%{name}", 1, "Established" if name in self.up else "Active", 0)
            for name in (*self.up, "et-0/0/3.0")
        ]
        told.peers += [(address, 1, "Established", 0) for address in self.addresses]
        return told.ask(rpc, **arguments)


def aim(name: str) -> FileSource:
    return FileSource(name, lambda: INPUTS.text(name), ownership())


def seen(name: str, fake: Fake) -> SwitchDiff:
    switch: Any = fake
    return switch_diff(name, aim(name), switch)


def test_sessions_with_static_neighbors_are_up_by_their_interfaces() -> None:
    """A switch shows these neighbors without the interface."""
    text = (GOLDEN / "static" / "switches" / f"{LEAF}.conf").read_text()
    switch: Any = Fake(text, addresses=("fd00::1:1:3", "fd00::1:1:9", "fd00::9"), up=())
    found = switch_diff(LEAF, FileSource(LEAF, lambda: text, ownership()), switch)
    assert found.up == {"et-0/0/0.0", "et-0/0/3.0", "fd00::9"}


def test_a_switch_from_the_factory() -> None:
    found = seen(LEAF, Fake(FACTORY, alarms=("fan",)))
    assert found.fingerprint == fingerprint(read(FACTORY))
    assert (found.up, found.alarms) == (frozenset(UP), frozenset({"fan"}))
    assert found.before.groups == ()
    assert len(found.after.groups) == 4
    assert "set system host-name stripe1-leaf1" in found.commands
    assert not [command for command in found.commands if "root-authentication" in command]


def test_a_switch_that_has_what_its_file_says() -> None:
    found = seen(LEAF, Fake(running(LEAF)))
    assert found.commands == ()
    assert found.after is found.before
    # What nothing is done with needs none.
    assert found.fingerprint == ""


def test_secrets_are_not_shown() -> None:
    text = f'{running(LEAF)}protocols {{ bgp {{ group x {{ authentication-key "$9$hunter2"; }} }} }}'
    found = seen(LEAF, Fake(text))
    assert [command for command in found.commands if "group x" in command] == ["delete protocols bgp group x"]
    switch: Any = Fake(FACTORY)
    back = switch_diff(LEAF, lambda switch, running: lambda tree: read(text), switch)
    assert "hunter2" not in repr(back)
    assert any(command.endswith("authentication-key ***") for command in back.commands)


def test_a_configuration_that_cannot_be_read() -> None:
    with pytest.raises(DeviceError, match=f"^{LEAF}: read: its configuration cannot be read: {LEAF}:1:"):
        seen(LEAF, Fake("system {"))


@pytest.mark.parametrize("block", ["class-of-service", "snmp"])
def test_long_names_around_many_statements(block: str) -> None:
    """Every set command would repeat them: gigabytes from a configuration of a hundred kilobytes."""
    text = f"{block} {{ {'a' * 100_000} {{ {''.join(f'b{number};' for number in range(200))} }} }}"
    with pytest.raises(DeviceError, match="as set commands it has more than 16 million letters; check for long names"):
        seen(LEAF, Fake(text))


def test_groups_of_a_switch() -> None:
    """A chain is no circle; a circle is an error of the switch, not of the program."""
    chain = "".join(f"g{n} {{ apply-groups g{n + 1}; }}\n" for n in range(24))
    found = seen(
        LEAF, Fake(f"groups {{ {chain} g24 {{ system {{ host-name x; }} }} }} apply-groups g0; system {{ services; }}")
    )
    assert found.name == LEAF
    circle = "groups { a { apply-groups b; } b { apply-groups a; } } apply-groups a; system { services; }"
    with pytest.raises(
        DeviceError, match=f"^{LEAF}: read: the effect of its configuration is not clear: groups .line 1.: a, b"
    ):
        seen(LEAF, Fake(circle))
    with pytest.raises(DeviceError, match="the effect of its configuration is not clear"):
        read_forwarding(LEAF, Fake(circle), ())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Target]:
    folder = tmp_path_factory.mktemp("inventory")
    (folder / "hosts.yaml").write_text("".join(f"{name}: {{hostname: {name}}}\n" for name in lab.NAMES))
    found = read_inventory(EXAMPLES / "lab" / "fabric.yaml", folder)
    return {name: found.targets[name] for name in lab.NAMES}


def planned(targets: Mapping[str, Target], picked: frozenset[str] = frozenset(lab.NAMES), **odd: Any) -> Plan:
    """Look at all switches: they match their files, but for some, whose names have `_` for `-`."""
    fakes: dict[str, Any] = {name: Fake(running(name), ALL) for name in lab.NAMES}
    fakes.update({name.replace("_", "-"): fake for name, fake in odd.items()})

    def connect(fake: object) -> object:
        if isinstance(fake, DeviceError):
            raise fake
        return fake

    pool = device_pool({name: partial(connect, fake) for name, fake in fakes.items()})
    intent, inventory = (cast("Any", None) for _ in range(2))
    found = plan_of(DeploySession(intent, inventory, INPUTS, targets, {}, picked, pool, str), aim, 1)
    # Hundreds of connections that are not needed any more would be hundreds of threads.
    assert all(fake.closed for fake in fakes.values() if isinstance(fake, Fake))
    return found


ALL = tuple(f"et-0/0/{port}.0" for port in range(4))
COLORS = ("green", "blue", "red", "orange")
OTHERS = ("spine2", "spine3", "spine4")


def test_where_devices_stand(targets: Mapping[str, Target]) -> None:
    assert [position_of(targets[name]) for name in ("stripe2-leaf2", "spine3")] == [
        Position("leaf", "1", "stripe2-leaf2"),
        Position("spine", "red", "spine3"),
    ]
    server = replace(targets[LEAF], name="gpu-s2-1", role="server", stripe=2, rail=None)
    assert position_of(server) == Position("server", "2", "gpu-s2-1")


def test_what_is_kept_of_all_switches_is_limited(
    targets: Mapping[str, Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that there is no room for are errors of their own; of switches that are not picked, no change is kept."""
    monkeypatch.setattr(planning, "Kept", lambda: Kept(150_000))
    monkeypatch.setattr(planning, "OWN_BYTES", 0)
    monkeypatch.setattr(planning, "PER_BYTE", 26)
    vlans = "".join(f"vn9{number} {{ description x; }}\n" for number in range(500))
    hostile: dict[str, Any] = {
        name.replace("-", "_"): Fake(f"{running(name)} vlans {{ {vlans} }}", ALL) for name in lab.NAMES
    }
    found = planned(targets, **hostile)
    assert len(found.switches) in range(1, 4)
    assert len(found.switches) + len(found.errors) == len(lab.NAMES)
    refused = "read: its model and its change take too much memory"
    assert all(f"{name}: {refused}" in str(error) for name, error in found.errors.items())
    assert all(
        "500 statements removed, 0 added; delete unneeded statements on it by hand" in str(error)
        for error in found.errors.values()
    )
    assert planned(targets, frozenset({LEAF}), **hostile).errors.keys() <= {LEAF}


def test_nothing_to_do(targets: Mapping[str, Target]) -> None:
    found = planned(targets)
    assert (found.changed, found.changed_switches, found.errors, found.waves) == ({}, {}, {}, ())
    assert found.switches.keys() == found.devices.keys() == set(lab.NAMES)
    assert len(found.fabric_model.sessions.up) == 16


def test_only_what_is_picked_is_changed_and_everything_looked_at(targets: Mapping[str, Target]) -> None:
    bare = {name.replace("-", "_"): Fake(FACTORY, ()) for name in lab.NAMES}
    found = planned(targets, frozenset({"spine2", LEAF}), **bare)
    assert found.waves == (Wave("canary leaf", (LEAF,)), Wave("spines of blue", ("spine2",)))
    assert list(found.changed_switches) == list(found.changed) == [LEAF, "spine2"]
    assert found.switches.keys() == set(lab.NAMES)


def test_a_switch_that_cannot_be_looked_at(targets: Mapping[str, Target]) -> None:
    gone = DeviceError("spine1", Phase.CONNECT, "no answer")
    found = planned(targets, spine1=gone, spine2=Fake("system {"), spine3=Fake(FACTORY))
    assert found.errors.keys() == {"spine1", "spine2"}
    assert found.errors["spine1"] is gone
    assert found.waves == (Wave("canary spine", ("spine3",)),)
    assert found.switches.keys().isdisjoint({"spine1", "spine2"})


def test_paths_are_those_that_are_up_at_both_ends(targets: Mapping[str, Target]) -> None:
    odd = Fake(running("spine2"), ALL[1:])
    gone = DeviceError("spine4", Phase.CONNECT, "no answer")
    found = planned(targets, spine2=odd, spine4=gone)
    paths = paths_of(found.fabric_model, found.switches)
    assert paths.spines == {
        LEAF: frozenset({"spine1", "spine3"}),
        **{name: frozenset({"spine1", "spine2", "spine3"}) for name in lab.NAMES if "leaf" in name and name != LEAF},
    }


def test_an_order_that_would_cut_two_leaves_off(targets: Mapping[str, Target]) -> None:
    down: dict[str, Any] = {name: Fake(running(name), ()) for name in OTHERS}
    with pytest.raises(UsageError, match=r"while spine1 is changed, .* would have 0 of their 1 paths left"):
        planned(targets, spine1=Fake(lab.edited(SPINE, ("mtu 9216", "mtu 9000")), ALL), **down)


def test_such_an_order_where_switches_cannot_be_looked_at(targets: Mapping[str, Target]) -> None:
    gone: dict[str, Any] = {name: DeviceError(name, Phase.CONNECT, "no answer") for name in OTHERS}
    with pytest.raises(UsageError) as error:
        planned(targets, spine1=Fake(lab.edited(SPINE, ("mtu 9216", "mtu 9000")), ALL), **gone)
    told = str(error.value).split("\n")
    assert told[0].startswith("while spine1 is changed, ")
    assert told[1:] == once(gone.values())
