"""Pushes into a real NetBox: everything the design computes, once, and nothing of others."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests

from ailb_gen.api.inventory import source_of_truth
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.netbox import NetBox
from ailb_gen.sot.push import SourceOfTruth, push
from tests.conftest import EXAMPLES, ROOT, SMALL, intent_of
from tests.sot.services import Running

pytestmark = pytest.mark.long
WRITING = {"POST", "PUT", "PATCH", "DELETE"}
# One stripe with management addresses and a MAC, small enough to be pushed many times.
TINY = """\
name: tiny
platform: box
platforms:
  box: {port_groups: [{ports: 0-7, native: 800g, speeds: {800g: [1], 400g: [1, 2]}}]}
host_ports: {speed: 400g, first_port: 4}
uplinks: {speed: 400g}
stripes: 1
rails: 2
spines: 2
servers: [{name: gpu-a, nics: {0: {mac: "a0:88:c2:3b:50:66"}}}, {name: gpu-b}]
management: {leaves: 192.0.2.1/24, spines: 192.0.2.101/24, servers: 198.51.100.1/24}
"""


@pytest.fixture
def empty(netbox: Running) -> Iterator[Running]:
    """NetBox as after installation."""
    netbox.reset()
    yield netbox


class Rest:
    """NetBox as somebody else uses it."""

    def __init__(self, running: Running) -> None:
        self.url, self.session = f"{running.url}/api/", requests.Session()
        self.session.headers["Authorization"] = f"Bearer {running.token}"

    def get(self, path: str, **query: Any) -> list[dict[str, Any]]:
        answer = self.session.get(f"{self.url}{path}/", params={"limit": 1000, **query}, timeout=120)
        assert answer.ok, answer.text
        return list(answer.json()["results"])

    def post(self, path: str, **body: Any) -> int:
        answer = self.session.post(f"{self.url}{path}/", json=body, timeout=120)
        assert answer.ok, answer.text
        return int(answer.json()["id"])

    def patch(self, path: str, number: int, **body: Any) -> None:
        answer = self.session.patch(f"{self.url}{path}/{number}/", json=body, timeout=120)
        assert answer.ok, answer.text

    def changes(self, path: str, number: int) -> list[str]:
        """Return what NetBox's own log says was done with an object."""
        kind = {"dcim/devices": "dcim.device", "ipam/prefixes": "ipam.prefix", "dcim/interfaces": "dcim.interface"}[
            path
        ]
        rows = self.get("core/object-changes", changed_object_type=kind, changed_object_id=number)
        return [row["action"]["value"] for row in rows]


def source(running: Running, text: str, delete: bool = False, adopt: bool = False) -> SourceOfTruth:
    return source_of_truth(intent_of(text), NetBox(running.url, running.token), delete=delete, adopt=adopt)


def written(one: SourceOfTruth) -> Mapping[str, int]:
    """Push; return how many objects were written by kind."""
    return push(one, one.plan())


def requests_of(one: SourceOfTruth) -> Mapping[str, int]:
    assert isinstance(one.dialect, NetBox)
    return one.dialect.session.counts


@pytest.mark.parametrize("name", [pytest.param("jvd", marks=pytest.mark.exhaustive), "lab", "static"])
def test_a_second_push_writes_nothing(empty: Running, name: str) -> None:
    text = (EXAMPLES / name / "fabric.yaml").read_text()
    first = source(empty, text)
    plan = first.plan()
    assert not plan.conflicts
    assert not plan.unsupported
    assert sum(written(first).values()) == len(first.desired)
    second = source(empty, text, delete=True, adopt=True)
    assert not written(second)
    assert not WRITING & requests_of(second).keys()
    assert {record.ref for record in first.desired} <= {one.record.ref for one in second.stored}


def test_what_people_see(empty: Running) -> None:
    written(source(empty, TINY))
    rest = Rest(empty)
    (leaf,) = rest.get("dcim/devices", name="stripe1-leaf1")
    assert (leaf["role"]["name"], leaf["device_type"]["model"], leaf["platform"]["name"], leaf["site"]["name"]) == (
        "leaf",
        "box",
        "junos-evo",
        "tiny",
    )
    assert (leaf["primary_ip4"]["address"], leaf["status"]["value"]) == ("192.0.2.1/24", "active")
    assert {tag["name"] for tag in leaf["tags"]} == {"ailb-gen", "ailb-gen-tiny"}
    assert leaf["config_context"]["ailb"]["prefixes"][0] == {
        "prefix": "fc00:1:1:1::/64",
        "gateway": "fc00:1:1:1::1",
        "color": "green",
    }
    assert leaf["config_context"]["ailb"]["colors"][0]["community"] == "color:0:1"
    (nic,) = rest.get("dcim/interfaces", device="gpu-a", name="gpu0_eth")
    assert (nic["mac_address"], nic["speed"], nic["count_ipaddresses"]) == ("A0:88:C2:3B:50:66", 400_000_000, 2)
    cables = rest.get("dcim/cables", site="tiny")
    assert sorted(cable["color"] for cable in cables) == ["", "", "", "", "2196f3", "2196f3", "4caf50", "4caf50"]
    assert len(rest.get("dcim/interface-templates", device_type_id=leaf["device_type"]["id"])) == 8


def test_nothing_of_others_is_touched(empty: Running) -> None:
    rest = Rest(empty)
    site = rest.post("dcim/sites", name="tiny", slug="tiny")
    maker = rest.post("dcim/manufacturers", name="Juniper", slug="juniper")
    kind = rest.post("dcim/device-types", model="box", slug="juniper-box", manufacturer=maker)
    role = rest.post("dcim/device-roles", name="leaf", slug="leaf", color="ffffff")
    device = rest.post("dcim/devices", name="stripe1-leaf1", site=site, role=role, device_type=kind)
    port = rest.post("dcim/interfaces", device=device, name="et-0/0/0:0", type="other", description="theirs")
    prefix = rest.post("ipam/prefixes", prefix="fc00:1:2:1::/64", description="theirs")
    one = source(empty, TINY, delete=True)
    plan = one.plan()
    assert [str(conflict.ref) for conflict in plan.conflicts] == ["device stripe1-leaf1", "prefix fc00:1:2:1::/64"]
    assert plan.conflicts[0].waiting > 10
    push(one, plan)
    for path, number in (("dcim/devices", device), ("dcim/interfaces", port), ("ipam/prefixes", prefix)):
        assert rest.changes(path, number) == ["create"]
    (kept,) = rest.get("dcim/device-roles", name="leaf")
    assert (kept["color"], kept["tags"]) == ("ffffff", [])
    adopted = source(empty, TINY, adopt=True)
    written(adopted)
    assert not source(empty, TINY).plan().conflicts
    (taken,) = rest.get("ipam/prefixes", prefix="fc00:1:2:1::/64")
    assert taken["description"] == "stripe1-leaf2 green"


def test_a_server_that_goes_and_one_that_is_renamed(empty: Running) -> None:
    written(source(empty, TINY))
    rest = Rest(empty)
    note = rest.post("ipam/prefixes", prefix="203.0.113.0/24")
    renamed = TINY.replace("{name: gpu-b}", "{name: gpu-c}")
    kept = source(empty, renamed).plan()
    assert "device gpu-b" in {str(one.record) for one in kept.leftovers}
    assert all("--delete" in str(conflict) for conflict in kept.conflicts)
    written(source(empty, renamed, delete=True))
    assert {row["name"] for row in rest.get("dcim/devices", role="server")} == {"gpu-a", "gpu-c"}
    assert rest.get("dcim/devices", name="gpu-c")[0]["primary_ip4"]["address"] == "198.51.100.2/24"
    written(source(empty, TINY.replace(", {name: gpu-b}", ""), delete=True))
    assert {row["name"] for row in rest.get("dcim/devices", role="server")} == {"gpu-a"}
    assert rest.changes("ipam/prefixes", note) == ["create"]


def test_a_cable_that_was_moved_there_is_a_conflict(empty: Running) -> None:
    written(source(empty, TINY))
    rest = Rest(empty)
    cables = {tuple(sorted(_ends(cable))): cable["id"] for cable in rest.get("dcim/cables", site="tiny")}
    moved = min(cables.values())
    device = rest.get("dcim/devices", name="gpu-b")[0]["id"]
    spare = rest.post("dcim/interfaces", device=device, name="spare", type="other")
    rest.patch("dcim/cables", moved, b_terminations=[{"object_type": "dcim.interface", "object_id": spare}])
    (conflict,) = source(empty, TINY).plan().conflicts
    assert "has the cable" in str(conflict)
    written(source(empty, TINY, delete=True))
    assert not source(empty, TINY).plan().conflicts
    assert {tuple(sorted(_ends(cable))) for cable in rest.get("dcim/cables", site="tiny")} == set(cables)


def test_what_the_service_refuses_is_told_and_the_rest_written(empty: Running) -> None:
    rest = Rest(empty)
    # Roles of this slug, and the host with another mask: NetBox takes neither twice.
    for name in ("Leaf", "Server"):
        rest.post("dcim/device-roles", name=name, slug=name.lower(), color="ffffff")
    rest.post("ipam/ip-addresses", address="192.0.2.1/32")
    one = source(empty, TINY)
    written(one)
    assert [str(ref) for ref in one.refused] == ["ip-address 192.0.2.1/24"]
    assert "192.0.2.1" in next(iter(one.refused.values())).reason
    (left,) = source(empty, TINY).plan().creates
    assert left.ref in one.refused
    assert {row["name"] for row in rest.get("dcim/device-roles")} == {"Leaf", "Server", "leaf", "server", "spine"}


def test_a_cable_through_a_patch_panel_is_a_conflict(empty: Running) -> None:
    written(source(empty, TINY))
    rest = Rest(empty)
    (leaf,) = rest.get("dcim/devices", name="stripe1-leaf1")
    site, role = leaf["site"]["id"], leaf["role"]["id"]
    panel = rest.post("dcim/devices", name="panel", site=site, role=role, device_type=leaf["device_type"]["id"])
    rear = rest.post("dcim/rear-ports", device=panel, name="R1", type="mpo")
    ports = [{"position": 1, "rear_port": rear, "rear_port_position": 1}]
    front = rest.post("dcim/front-ports", device=panel, name="F1", type="mpo", rear_ports=ports)
    cable = min(one["id"] for one in rest.get("dcim/cables", device="stripe1-leaf1"))
    rest.patch("dcim/cables", cable, b_terminations=[{"object_type": "dcim.frontport", "object_id": front}], tags=[])
    plan = source(empty, TINY).plan()
    assert plan.writes == 0
    assert re.search(r"has the cable .*panel F1", str(plan.conflicts[0]))


def test_fabrics_whose_names_have_the_same_slug_are_apart(empty: Running) -> None:
    written(source(empty, TINY.replace("name: tiny", "name: Hall.1")))
    other = source(empty, TINY.replace("name: tiny", "name: hall-1"), delete=True)
    plan = other.plan()
    assert not plan.deletes
    assert {conflict.ref.kind for conflict in plan.conflicts} == {"asn", "prefix", "ip-address"}
    push(other, plan)
    assert other.plan().writes == 0
    assert source(empty, TINY.replace("name: tiny", "name: Hall.1"), delete=True).plan().writes == 0


def _ends(cable: Mapping[str, Any]) -> list[str]:
    ends = [*cable["a_terminations"], *cable["b_terminations"]]
    return [f"{end['object']['device']['name']} {end['object']['name']}" for end in ends]


HOSTILE = "=cmd|' /C calc'!A0 {{ 7*7 }} $(reboot) <script>\x1b[31m\r\nset system root"


def test_what_was_changed_there_is_set_back_and_never_leaves_its_field(empty: Running) -> None:
    written(source(empty, TINY))
    rest = Rest(empty)
    (port,) = rest.get("dcim/interfaces", device="stripe1-leaf1", name="et-0/0/0:0")
    rest.patch("dcim/interfaces", port["id"], description=HOSTILE, label=HOSTILE[:60])
    plan = source(empty, TINY).plan()
    (change,) = plan.updates
    assert dict(change.fields) == {"description": "facing_spine1:et-0/0/0:0"}
    written(source(empty, TINY))
    (port,) = rest.get("dcim/interfaces", device="stripe1-leaf1", name="et-0/0/0:0")
    assert (port["description"], port["label"]) == ("facing_spine1:et-0/0/0:0", HOSTILE[:60])


def program(running: Running, *words: str) -> list[str]:
    return [sys.executable, "-m", "ailb_gen", "inventory", "push", "netbox", *words, "--url", running.url]


def environment(running: Running) -> Mapping[str, str]:
    return {**os.environ, "NETBOX_TOKEN": running.token}


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in (signal.SIGINT, signal.SIGTERM))],
)
def test_a_push_that_was_ended_goes_on(empty: Running, tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(TINY)
    rest = Rest(empty)
    with subprocess.Popen(
        program(empty, str(file), "--yes"),
        env=environment(empty),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while not rest.get("dcim/interfaces", name="et-0/0/0:0") and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(number)
        _, errors = running.communicate(timeout=120)
    assert running.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert "Traceback" not in errors
    one = source(empty, TINY)
    plan = one.plan()
    assert 0 < plan.writes < len(one.desired)
    push(one, plan)
    last = source(empty, TINY)
    assert not written(last)
    assert not WRITING & requests_of(last).keys()


def test_two_pushes_at_once_do_no_harm(empty: Running) -> None:
    def run(_: int) -> None:
        # Whichever comes second may find that an object is there already.
        with suppress(SourceError):
            written(source(empty, TINY))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    written(source(empty, TINY))
    last = source(empty, TINY)
    assert not written(last)
    # NetBox looks for another address or prefix of the same before it stores one, not while: it may store one twice.
    counts = Counter(one.record.ref for one in last.stored)
    assert {ref for ref, count in counts.items() if count > 1} == {one.ref for one in last.plan().conflicts}


def test_the_verb(empty: Running, tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(SMALL)

    def run(*words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            program(empty, str(file), *words), env=environment(empty), capture_output=True, text=True, check=False
        )
        assert empty.token not in done.stdout + done.stderr
        return done.returncode, done.stdout, done.stderr

    code, out, _ = run("--plan-only", "--json")
    plan = json.loads(out)
    assert (code, plan["kinds"]["device"]["create"], plan["written"]) == (0, 10, {})
    code, _, errors = run()
    assert (code, "--yes" in errors) == (2, True)
    code, out, _ = run("--yes")
    assert (code, out.splitlines()[-1]) == (0, f"NetBox is up to date: {_total(plan)} objects written.")
    code, out, _ = run()
    assert (code, out.splitlines()[-1]) == (0, "Nothing to do.")
    Rest(empty).post("ipam/prefixes", prefix="fc00:1:9:1::/64")
    file.write_text(SMALL.replace("name: small", "name: other"))
    code, out, _ = run("-n", "--site", "pod 2")
    assert (code, "Conflicts: these objects stay as they are" in out) == (1, True)


def _total(plan: Mapping[str, Any]) -> int:
    rows: Sequence[Mapping[str, int]] = list(plan["kinds"].values())
    return sum(row["create"] for row in rows)


def test_the_commands_of_the_page(empty: Running, tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/netbox.md").read_text()
    commands = re.findall(r"^\$ ailb-gen (inventory push .*)$", page, re.MULTILINE)
    assert len(commands) == page.count("\n$ ailb-gen inventory") > 0
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    codes = []
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "ailb_gen", *shlex.split(command)],
            env={**environment(empty), "NETBOX_URL": empty.url},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
        assert "error" not in done.stderr
    assert codes == [0] * len(commands)
