"""With Juniper's models a statement that they do not have is refused while it is loaded, by every way to load."""

from collections.abc import Iterator

import pytest
from jnpr.junos.exception import ConfigLoadError
from jnpr.junos.utils.config import Config
from lxml import etree
from ncclient.operations.rpc import RPCError

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import LEAF, fleet_of, netconf, netmiko, pyez, two_devices
from tests.junos.models import schema

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with fleet_of(LEAF, schema=schema()) as found:
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
    with netmiko(fleet) as connection:
        assert "syntax error." in connection.send_config_set(["set system frobnicate 1"], exit_config_mode=False)
    assert not fleet.devices[LEAF].database.modified


def test_without_models_as_before() -> None:
    with two_devices() as fleet, netconf(fleet) as session:
        session.load_configuration(action="set", config=["set system frobnicate 1"])
        assert fleet.devices[LEAF].database.candidate.has("system", "frobnicate", "1")
