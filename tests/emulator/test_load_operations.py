"""With Juniper's models a statement that they do not have is refused while it is loaded, by every way to load."""

from collections.abc import Iterator

import pytest
from jnpr.junos.exception import ConfigLoadError
from jnpr.junos.utils.config import Config
from lxml import etree
from ncclient.operations.rpc import RPCError
from netmiko import ConnectHandler

from ailb_gen.emulator.device import Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.emulator.host import FleetLogin
from ailb_gen.emulator.source import factory
from tests.emulator.fleets import LEAF, PASSWORD, USER, netconf, pyez, two_devices
from tests.junos.models import schema

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with Fleet(
        [Spec(LEAF, factory(LEAF, USER))], EmulatedFabric([]), FleetLogin(USER, PASSWORD), schema=schema()
    ) as found:
        yield found


@pytest.mark.parametrize(
    ("form", "text", "element"),
    [
        ("set", "set system frobnicate 1", "frobnicate"),
        ("set", "set protocols bgp group g neighbour 10.0.0.1", "neighbour"),
        ("text", "system { host-name x; frobnicate; }", "frobnicate"),
        ("text", "groups { g { system { frobnicate; } } }", "frobnicate"),
        ("set", "set interfaces et-0/0/0 mtu many", "many"),
        ("set", "set system root-authentication", None),
    ],
)
def test_unknown_statements_fail_at_load(fleet: Fleet, form: str, text: str, element: str | None) -> None:
    with pyez(fleet) as device, Config(device, mode="exclusive") as config:
        if element is None:
            # What is only incomplete is a matter of the commit.
            config.load(text, format=form)
            return
        with pytest.raises(ConfigLoadError) as refused:
            config.load(text, format=form)
        (error,) = refused.value.errs
        assert (error["severity"], error["bad_element"]) == ("error", element)
        assert error["message"].startswith("syntax error")
        assert config.diff() is None


def test_other_ways_to_load(fleet: Fleet) -> None:
    bad = "<configuration><system><frobnicate/></system></configuration>"
    with netconf(fleet) as session:
        with pytest.raises(RPCError, match="syntax error, <frobnicate>"):
            session.edit_config(target="candidate", config=f"<config>{bad}</config>")
        with pytest.raises(RPCError, match="syntax error, <frobnicate>"):
            session.load_configuration(format="xml", config=etree.fromstring(bad)[0])
    connection = ConnectHandler(
        device_type="juniper_junos", host=fleet.address, port=fleet.port(LEAF), username=USER, password=PASSWORD
    )
    said = connection.send_config_set(["set system frobnicate 1"], exit_config_mode=False)
    assert "syntax error." in said
    connection.disconnect()
    assert not fleet.devices[LEAF].database.modified


def test_what_was_there_before_does_not_stop_a_load(fleet: Fleet) -> None:
    device = fleet.devices[LEAF]
    with netconf(fleet) as session:
        session.load_configuration(action="set", config=["set system domain-name d"])
        assert device.database.modified


def test_without_models_as_before() -> None:
    with two_devices() as fleet, netconf(fleet) as session:
        session.load_configuration(action="set", config=["set system frobnicate 1"])
        assert fleet.devices[LEAF].database.candidate.has("system", "frobnicate", "1")
