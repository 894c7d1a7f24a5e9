"""The dialect of Nautobot: pages and errors with answers made here, pushes into the real one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynautobot
import pytest

from ailb_gen.api.inventory import source_of_truth
from ailb_gen.errors import UsageError
from ailb_gen.sot.dialect import SourceError, SourceScope
from ailb_gen.sot.nautobot import Nautobot
from ailb_gen.sot.nautobot_tables import RESOURCES, KnownNames
from ailb_gen.sot.push import SourceOfTruth, push
from ailb_gen.sot.records import Ref
from ailb_gen.sot.rest import PAGE, whose_mark
from tests.sot.services import Running
from tests.sot.test_pull import EXAMPLES

FABRIC = EXAMPLES / "lab" / "fabric.yaml"
HOSTILE = "=cmd|' /C calc'!A0\n{{ 7*7 }}$(id)<script>\"" + "x" * 100


class Answered(Nautobot):
    """A Nautobot whose requests a function answers; it gets the path and the query."""

    def __init__(self, answers: Callable[[str, dict[str, Any]], Any]) -> None:
        super().__init__("https://nautobot.example.net", "0" * 40)
        self.answers = answers

    @contextmanager
    def _request(self, path: str, query: dict[str, Any], **given: object) -> Iterator[Any]:
        def answer(add_params: Mapping[str, Any] | None = None) -> Any:
            return self.answers(path, query | dict(add_params or {}))

        yield SimpleNamespace(get=answer, _make_call=answer)


def page(count: int, rows: Sequence[object]) -> dict[str, Any]:
    return {"count": count, "next": None, "previous": None, "results": list(rows)}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"nautobot-version": "2.3.9"}, "this is Nautobot 2.3.9; 2.4 or later is needed"),
        ({"netbox-version": "4.7.3"}, "no Nautobot answers there"),
        ("hello", "no Nautobot answers there"),
    ],
)
def test_another_service_is_told(status: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Answered(lambda path, query: status).kinds()


def test_without_the_bgp_models_sessions_and_as_numbers_have_no_place() -> None:
    kinds = Answered(lambda path, query: {"nautobot-version": "3.2.7", "nautobot-apps": {}}).kinds()
    assert not {"asn", "bgp-session", "rir", "mac-address"} & kinds.keys()
    assert "primary_mac" in kinds["interface"] and "ports" in kinds["device-type"]


def test_pages_are_read_again_when_objects_vanish_meanwhile() -> None:
    """The object that moves to an earlier page would be left out."""
    rows = [{"id": str(number)} for number in range(PAGE + 2)]

    def answer(path: str, query: dict[str, Any]) -> object:
        shown = page(len(rows), rows[query["offset"] : query["offset"] + PAGE])
        if len(rows) > PAGE + 1:
            del rows[0]
        return shown

    found = list(Answered(answer)._rows("dcim/devices", {}))
    assert [row["id"] for row in found] == [str(number) for number in range(1, PAGE + 2)]


def test_objects_that_come_and_go_all_the_time_are_an_error() -> None:
    counts = iter(range(PAGE + 10, 10 * PAGE))
    with pytest.raises(SourceError, match="objects come and go while they are read"):
        list(Answered(lambda path, query: page(next(counts), [{}] * PAGE))._rows("dcim/devices", {}))


def test_an_answer_of_another_form_is_an_error() -> None:
    with pytest.raises(SourceError, match="the answer is no list of objects"):
        list(Answered(lambda path, query: ["x"])._rows("dcim/devices", {}))


def test_interfaces_of_hidden_devices_are_an_error() -> None:
    ports = [{"id": "p", "name": "eth0", "device": {"id": "hidden"}}]
    answers = {
        "status": {"nautobot-version": "3.2.7"},
        "dcim/locations": page(1, [{"id": "s", "name": "pod"}]),
        "dcim/interfaces": page(1, ports),
    }
    dialect = Answered(lambda path, query: answers.get(path, page(0, [])))
    with pytest.raises(SourceError, match="Nautobot hides 1 devices whose interfaces it shows"):
        list(dialect.read(("interface",), SourceScope("pod", "pod")))


def test_what_two_fabrics_have_is_known() -> None:
    names = {"ours": "ailb-gen-pod", "other": "ailb-gen-hall"}
    groups = [{"id": one, "name": one, "location": None, "tags": [{"id": tag} for tag in tags]}
              for one, tags in (("mine", ["ours", "theirs"]), ("both", ["ours", "other"]), ("none", []))]  # fmt: skip
    answers = {
        "status": {"nautobot-version": "3.2.7"},
        "dcim/locations": page(1, [{"id": "s", "name": "pod"}]),
        "extras/tags": page(2, [{"id": number, "name": name} for number, name in names.items()]),
        "ipam/vlan-groups": page(3, groups),
    }
    dialect = Answered(lambda path, query: answers.get(path, page(0, [])))
    found = {str(one.id): (one.owned, one.others) for one in dialect.read(("vlan-group",), SourceScope("pod", "pod"))}
    assert found == {"mine": (True, False), "both": (True, True), "none": (False, False)}


@pytest.mark.parametrize(("fabric", "whose"), [("pod", (True, False)), ("hall", (False, True)), (None, (False, False))])
def test_the_mark_of_another_fabric_is_known(fabric: str | None, whose: tuple[bool, bool]) -> None:
    assert whose_mark({"custom_fields": {"ailb_fabric": fabric}}, SourceScope("pod", "pod")) == whose


@pytest.mark.parametrize(
    ("kind", "end", "key"),
    [
        ("dcim.interface", "b", ("leaf1", "et-0/0/0", "spine1", "et-0/0/1")),
        ("dcim.frontport", "f", ("another", "frontport", "leaf1", "et-0/0/0")),
        (None, None, None),
    ],
)
def test_cables_to_other_ends_have_a_key(kind: str | None, end: str | None, key: tuple[str, ...] | None) -> None:
    names = KnownNames({"a": Ref("interface", ("leaf1", "et-0/0/0")), "b": Ref("interface", ("spine1", "et-0/0/1"))})
    near = {"termination_a_type": "dcim.interface", "termination_a_id": "a"}
    row = {**near, "termination_b_type": kind, "termination_b_id": end}
    assert RESOURCES["cable"].key(row, names) == key


def test_the_token_is_not_in_the_representation() -> None:
    assert repr(Nautobot("https://nautobot.example.net", "0" * 40)) == "Nautobot('https://nautobot.example.net/api')"


@pytest.fixture(scope="module")
def killed(nautobot: Running) -> Running:
    """Nautobot with a push of the lab that SIGKILL ended: nothing of it has ended in order."""
    command = (sys.executable, "-m", "ailb_gen", "inventory", "push", "nautobot", str(FABRIC), "--yes")
    environment = os.environ | {"NAUTOBOT_URL": nautobot.url, "NAUTOBOT_TOKEN": nautobot.token}
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    api = client(nautobot)
    while running.poll() is None and api.ipam.prefixes.count() < 5:
        time.sleep(0.1)
    running.kill()
    told = running.communicate()[1].decode()
    assert running.returncode == -signal.SIGKILL, told
    return nautobot


def client(nautobot: Running) -> Any:
    """Return Nautobot's API, for people who work there."""
    return pynautobot.api(nautobot.url, token=nautobot.token)


def source(nautobot: Running, *, adopt: bool = False, delete: bool = False) -> SourceOfTruth:
    return source_of_truth(FABRIC, Nautobot(nautobot.url, nautobot.token), adopt=adopt, delete=delete)


def methods(of: SourceOfTruth) -> set[str]:
    """Return the methods of all requests."""
    assert isinstance(of.dialect, Nautobot)
    return set(of.dialect.session.counts)


@pytest.mark.long
def test_pushes(killed: Running) -> None:
    """One after the other: a push that goes on, one without changes, conflicts, adoption, hostile text, deletes."""
    _goes_on(killed)
    _leaves_foreign_objects(killed)
    _overwrites_hostile_text(killed)
    _deletes(killed)


def _goes_on(nautobot: Running) -> None:
    rest = source(nautobot)
    plan = rest.plan()
    already = sum(plan.unchanged.values())
    assert already > 50 and plan.writes > 20 and not plan.conflicts, plan.counts()
    push(rest, plan)
    again = source(nautobot)
    assert (again.plan().writes, methods(again)) == (0, {"GET"})
    assert sum(again.compare().unchanged.values()) == len(again.desired) - sum(again.compare().unsupported.values())


def _leaves_foreign_objects(nautobot: Running) -> None:
    """A device without our tag is another's, until it is adopted; its own tags stay."""
    api = client(nautobot)
    api.extras.tags.create(name="keep", content_types=["dcim.device"])
    device = api.dcim.devices.get(name="gpu-s2-2")
    device.update({"tags": [{"name": "keep"}], "comments": "mine"})
    api.dcim.devices.get(name="gpu-s2-1").update({"status": {"name": "Planned"}})
    before = api.dcim.devices.get(name="gpu-s2-2").last_updated

    others = source(nautobot)
    plan = others.plan()
    assert [conflict.ref for conflict in plan.conflicts] == [Ref("device", ("gpu-s2-2",))]
    assert [str(change.stored.record) for change in plan.updates] == ["device gpu-s2-1"]
    push(others, plan)
    assert api.dcim.devices.get(name="gpu-s2-2").last_updated == before

    adopting = source(nautobot, adopt=True)
    push(adopting, adopting.plan())
    device = api.dcim.devices.get(name="gpu-s2-2")
    tags = {api.extras.tags.get(tag.id).name for tag in device.tags}
    assert (tags, device.comments) == ({"keep", "ailb-gen", "ailb-gen-lab"}, "mine")
    assert source(nautobot).plan().writes == 0


def _overwrites_hostile_text(nautobot: Running) -> None:
    """Text of others in our fields is data, and goes with the next push; a name is shown on one line."""
    api = client(nautobot)
    api.dcim.interfaces.get(device="stripe1-leaf1", name="et-0/0/0").update({"description": HOSTILE})
    api.dcim.devices.create(
        name=HOSTILE[:100],
        status={"name": "Active"},
        role={"name": "server"},
        location={"name": "lab"},
        device_type={"model": "Server"},
    )
    changed = source(nautobot)
    plan = changed.plan()
    assert [str(change.stored.record) for change in plan.updates] == ["interface stripe1-leaf1 et-0/0/0"]
    assert (plan.creates, plan.conflicts) == ((), ())
    push(changed, plan)
    assert source(nautobot).plan().writes == 0
    assert api.dcim.devices.get(name=HOSTILE[:100]) is not None


def _deletes(nautobot: Running) -> None:
    """Everything of the fabric is deleted on request, and nothing else."""
    gone = source(nautobot, delete=True)
    gone.desired = ()
    plan = gone.plan()
    assert plan.writes == len(plan.deletes) > 100
    push(gone, plan)
    api = client(nautobot)
    assert [device.name for device in api.dcim.devices.all()] == [HOSTILE[:100]]
    assert (api.dcim.cables.count(), api.ipam.ip_addresses.count()) == (0, 0)
    assert api.dcim.locations.get(name="lab") is not None


@pytest.mark.long
def test_an_object_that_nautobot_refuses_is_named(nautobot: Running, tmp_path: Path) -> None:
    """A location type of that name that holds no devices is not changed: it is somebody's."""
    nautobot.reset()
    api = client(nautobot)
    api.dcim.location_types.create(name="Site", content_types=[])
    one = source(nautobot)
    push(one, one.plan())
    reason = one.refused[Ref("vlan-group", ("lab-stripe1",))].reason
    assert "location" in reason
    # Nautobot answers 500 for the prefixes, and names none.
    assert "500 Internal Server Error" in one.refused[Ref("prefix", ("fc00::/16",))].reason
    assert nautobot.token not in str(one.refused)
    assert {conflict.ref.kind for conflict in one.plan().conflicts} == {ref.kind for ref in one.refused}
