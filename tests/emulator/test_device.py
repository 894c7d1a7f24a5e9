"""What a device refuses to commit."""

import pytest

from ailb_gen.emulator.device import EmulatedDevice, Spec
from ailb_gen.emulator.fabric import EmulatedFabric
from ailb_gen.emulator.load_config import load_set
from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.source import factory
from tests.junos.models import schema


def refusal(device: EmulatedDevice, commands: str) -> RpcRefusedError:
    """Edit, and return why the commit is refused; nothing has changed then."""
    session = device.session("admin")
    before = device.committed()
    device.database.edit(session, load_set(device.database.candidate, commands)[0])
    with pytest.raises(RpcRefusedError) as refused:
        device.database.commit(session)
    assert device.committed() is before
    assert refused.value.errors[-1].message == "configuration check-out failed"
    return refused.value


def test_what_the_models_say() -> None:
    device = EmulatedDevice(Spec("leaf1", factory("leaf1", "admin")), EmulatedFabric([]), schema=schema())
    errors = refusal(
        device,
        "set system frobnicate\nset interfaces et-0/0/0 mtu many\n"
        "set protocols bgp fabric-advertise route fc00::/64 backup-color all-colors",
    ).errors
    found = {(error.path, error.element) for error in errors}
    assert {("[edit system]", "frobnicate"), ("[edit interfaces et-0/0/0 mtu]", "many")} <= found
    assert any("fc00::/64" in error.path for error in errors)


def test_without_models_there_is_little_to_say() -> None:
    device = EmulatedDevice(Spec("leaf1", factory("leaf1", "admin")), EmulatedFabric([]))
    circle = "set groups a apply-groups b\nset groups b apply-groups a\nset apply-groups a"
    assert refusal(device, circle).errors[0].path == "[edit groups]"
    device.database.discard(device.session("admin"))
    assert refusal(device, "delete system root-authentication").errors[0].element == "root-authentication"


def test_sessions_and_serial_numbers() -> None:
    first, second = (
        EmulatedDevice(Spec(name, factory(name, "admin")), EmulatedFabric([])) for name in ("leaf1", "leaf2")
    )
    assert first.serial != second.serial
    assert first.session("ann").number != first.session("ann").number
    assert first.alarms() == ()
