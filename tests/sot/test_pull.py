"""Pulling: the files of a site, the way back to the same fabric, and what no file may hold."""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ailb_gen.api.generate import generate
from ailb_gen.api.pull import PullReport, pull
from ailb_gen.checks.model import Finding
from ailb_gen.errors import IntentError, OutputError, UsageError
from ailb_gen.intent.load import load, parse
from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.pull import UnusableError
from ailb_gen.sot.records import Key, Ref
from tests.conftest import ROOT
from tests.sot.store import Store, store_of

EXAMPLES = ROOT / "examples"
FILES = "management: {csv: switches.csv}\ncabling: {csv: cabling.csv}\n"


def with_files(name: str) -> str:
    """Return the text of an example that takes its servers, addresses and cables from CSV files."""
    text = (EXAMPLES / name / "fabric.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("servers:")]
    return "\n".join([*lines, "servers: {csv: servers.csv}", FILES])


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "fabric.yaml").write_text(with_files("lab"), encoding="utf-8")
    return tmp_path / "fabric.yaml"


@pytest.fixture
def store() -> Store:
    return store_of(load(EXAMPLES / "lab" / "fabric.yaml"))


def tree(folder: Path) -> dict[str, bytes]:
    """Return the generated files; the digest of the input in the manifest is another: the input is."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    content = {name: path.read_bytes() for name, path in files.items()}
    lines = content["manifest.json"].splitlines(keepends=True)
    content["manifest.json"] = b"".join(line for line in lines if b"input_sha256" not in line)
    return content


def findings(report: PullReport) -> list[Finding]:
    return [*report.report.findings]


def texts(report: PullReport) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in findings(report):
        found.setdefault(finding.check, []).append(finding.message)
    return found


def changed(report: PullReport) -> Sequence[str]:
    return [file.path.name for file in report.files if file.changed]


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "static"])
def test_what_was_pushed_comes_back_as_the_same_fabric(name: str, tmp_path: Path) -> None:
    generate(EXAMPLES / name / "fabric.yaml", tmp_path / "before")
    (tmp_path / "fabric.yaml").write_text(with_files(name), encoding="utf-8")
    store = store_of(load(EXAMPLES / name / "fabric.yaml"))
    first = pull(tmp_path / "fabric.yaml", store)
    assert findings(first) == []
    first.write()
    generate(tmp_path / "fabric.yaml", tmp_path / "after")
    assert tree(tmp_path / "after") == tree(tmp_path / "before")
    assert (tmp_path / "cabling.csv").read_bytes() == (tmp_path / "before" / "cabling.csv").read_bytes()
    again = pull(tmp_path / "fabric.yaml", store)
    assert (findings(again), changed(again)) == ([], [])


def test_addresses_and_macs_come_back(tmp_path: Path) -> None:
    text = with_files("lab").replace("servers: {csv: servers.csv}\n", "")
    more = """
management: {leaves: 192.0.2.11/24, spines: 192.0.2.31/24, servers: 192.0.2.101/24}
servers:
  - {name: gpu-s1-2, stripe: 1, nics: [{mac: "a0:88:c2:01:02:01", rdma: mlx5_9}, {name: ens3, port: et-0/0/30}]}
  - {name: gpu-s1-10, stripe: 1, management_mac: "A0:88:C2:0F:01:0A"}
  - {name: gpu-s2-1, stripe: 2}
overrides: {leaves: {stripe1-leaf1: {mac: "00:00:5e:00:53:01"}}}
"""
    text = text.replace(FILES, "")
    source = parse(text + more, "fabric.yaml", tmp_path)
    (tmp_path / "fabric.yaml").write_text(with_files("lab"), encoding="utf-8")
    report = pull(tmp_path / "fabric.yaml", store_of(source))
    assert findings(report) == []
    report.write()
    assert (tmp_path / "servers.csv").read_text().splitlines() == [
        "name,stripe,kind,management,management_mac,mac0,mac1,port0,port1,rdma0,nic1",
        "gpu-s1-2,1,,192.0.2.101/24,,a0:88:c2:01:02:01,,et-0/0/16,et-0/0/30,mlx5_9,ens3",
        "gpu-s1-10,1,,192.0.2.102/24,a0:88:c2:0f:01:0a,,,et-0/0/17,et-0/0/17,,",
        "gpu-s2-1,2,,192.0.2.103/24,,,,et-0/0/16,et-0/0/16,,",
    ]
    assert (tmp_path / "switches.csv").read_text().splitlines()[:2] == [
        "name,role,management,mac,serial",
        "stripe1-leaf1,leaf,192.0.2.11/24,00:00:5e:00:53:01,",
    ]
    (tmp_path / "source.yaml").write_text(text + more, encoding="utf-8")
    generate(tmp_path / "source.yaml", tmp_path / "before")
    generate(tmp_path / "fabric.yaml", tmp_path / "after")
    assert tree(tmp_path / "after") == tree(tmp_path / "before")


def test_what_only_the_intent_knows_of_management_ports_stays(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(with_files("lab"), encoding="utf-8")
    text = with_files("lab").replace("servers: {csv: servers.csv}\n", "servers: 1\n").replace(FILES, "")
    text += "management: {leaves: 192.0.2.11/24, spines: 192.0.2.31/24, servers: 192.0.2.101/24}\n"
    store = store_of(parse(text, "fabric.yaml", tmp_path))
    pull(tmp_path / "fabric.yaml", store).write()
    for name in ("switches.csv", "servers.csv"):
        lines = (tmp_path / name).read_text().splitlines()
        cells = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
        switch = {"mac": "00:00:5e:00:53:01", "serial": "AB1"}
        own = switch if name == "switches.csv" else {"management_mac": "00:00:5e:00:53:02"}
        assert cells | dict.fromkeys(own, "") == cells
        lines[1] = ",".join((cells | own).values())
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    assert changed(pull(tmp_path / "fabric.yaml", store)) == []


def mixed_with_files() -> str:
    """Return the text of the example with kinds of servers, which takes them from a CSV file."""
    text = (EXAMPLES / "mixed" / "fabric.yaml").read_text(encoding="utf-8")
    first, last = text.index("servers:"), text.index("server_kinds:")
    return f"{text[:first]}servers: {{csv: servers.csv}}\n{FILES}{text[last:]}"


def test_servers_keep_their_order(tmp_path: Path) -> None:
    """In the intent, then in the file: other orders give other ports to what no column says."""
    example = EXAMPLES / "mixed" / "fabric.yaml"
    store = store_of(load(example))
    pull(example, store, output=tmp_path).write()
    (tmp_path / "fabric.yaml").write_text(mixed_with_files(), encoding="utf-8")
    generate(example, tmp_path / "before")
    generate(tmp_path / "fabric.yaml", tmp_path / "after")
    assert tree(tmp_path / "after") == tree(tmp_path / "before")
    header, *rows = (tmp_path / "servers.csv").read_text().splitlines()
    (tmp_path / "servers.csv").write_text("\n".join([header, *reversed(rows)]) + "\n")
    assert changed(pull(tmp_path / "fabric.yaml", store)) == []
    store.put("mac-address", ("b200-01", "b200_0", "a0:88:c2:00:00:01"), {})
    report = pull(tmp_path / "fabric.yaml", store)
    assert changed(report) == ["servers.csv"]
    report.write()
    _, *now = (tmp_path / "servers.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in now] == [row.partition(",")[0] for row in reversed(rows)]


def test_overrides_of_servers_that_no_file_has_yet_are_judged_after_the_pull(lab: Path, store: Store) -> None:
    override = "overrides: {servers: {gpu-s2-1: {nics: [{rdma: mlx5_7}]}, gpu-s2-9: {management: 192.0.2.9/24}}}\n"
    text = lab.read_text(encoding="utf-8")
    lab.write_text(text + override, encoding="utf-8")
    with pytest.raises(IntentError) as error:
        pull(lab, store)
    (problem,) = [one for one in error.value.problems if one.severity == "error"]
    assert (problem.code, problem.path) == ("unknown-device", "overrides.servers.gpu-s2-9")
    lab.write_text(text + override.replace("gpu-s2-9", "gpu-s2-2"), encoding="utf-8")
    pull(lab, store).write()
    generate(lab, lab.parent / "build")
    assert changed(pull(lab, store)) == []


def test_kinds_of_servers_come_back(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(mixed_with_files(), encoding="utf-8")
    store = store_of(load(EXAMPLES / "mixed" / "fabric.yaml"))
    report = pull(tmp_path / "fabric.yaml", store)
    assert findings(report) == []
    report.write()
    kinds = [line.split(",")[2] for line in (tmp_path / "servers.csv").read_text().splitlines()[1:]]
    assert kinds == ["", "", "storage", "b200", "", "", "storage"]
    assert changed(pull(tmp_path / "fabric.yaml", store)) == []


def test_parallel_links_keep_their_numbers(tmp_path: Path) -> None:
    """The order of rows decides about colors: ports that are the intent's keep their link, then colors decide."""
    text = with_files("lab").replace("spines: 4", "spines: 2\nlinks_per_spine: 2")
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    before = parse(text.replace("csv: servers.csv", "count: 2"), "f", tmp_path, {"switches.csv", "cabling.csv"})
    store = store_of(before)
    pull(tmp_path / "fabric.yaml", store).write()
    rows = (tmp_path / "cabling.csv").read_text()
    key = store.cable_at("stripe1-leaf1", "et-0/0/0")
    store.move("stripe1-leaf1", "et-0/0/0", "et-0/0/50")
    moved = store.cable_at("stripe1-leaf1", "et-0/0/50")
    color = next(row.split(",")[6] for row in rows.splitlines() if row.startswith("stripe1-leaf1,et-0/0/0,"))
    store.set("cable", moved, color=color)
    store.set("interface", ("stripe1-leaf1", "et-0/0/50"), speed=400)
    report = pull(tmp_path / "fabric.yaml", store)
    assert texts(report)["AILBS06"] == [
        f"stripe1-leaf1 et-0/0/0 and {key[0]} {key[1]} are not connected: stripe1-leaf1 et-0/0/0 has no cable, "
        f"{key[0]} {key[1]} goes to stripe1-leaf1 et-0/0/50"
    ]
    report.write()
    assert (tmp_path / "cabling.csv").read_text() == rows.replace("stripe1-leaf1,et-0/0/0,", "stripe1-leaf1,et-0/0/50,")


def test_a_new_server_gets_its_row(lab: Path, store: Store) -> None:
    """Its stripe and its rails are those of the leaves that it is cabled to, whatever its NICs are called."""
    pull(lab, store).write()
    store.add_device("gpu-new", owned=False, like="gpu-s2-1")
    for port, name in (("gpu0_eth", "ens7"), ("gpu1_eth", "ens6")):
        store.records["interface", ("gpu-new", name)] = store.records.pop(("interface", ("gpu-new", port)))
        store.put("interface", ("gpu-new", name), {"enabled": True, "device": Ref("device", ("gpu-new",))})
    store.set("device", ("gpu-new",), context="")
    for leaf, nic in (("stripe2-leaf2", "ens6"), ("stripe2-leaf1", "ens7")):
        store.put("interface", (leaf, "et-0/0/33"), {"device": Ref("device", (leaf,)), "enabled": True})
        store.cable(leaf, "et-0/0/33", "gpu-new", nic)
    report = pull(lab, store)
    assert texts(report) == {
        "AILBS02": [
            "gpu-new is cabled to stripe2-leaf1 et-0/0/33, stripe2-leaf2 et-0/0/33, and is not in the intent",
        ]
    }
    assert report.report.passed
    report.write()
    assert (lab.parent / "servers.csv").read_text().splitlines()[-1] == "gpu-new,2,,,,,,et-0/0/33,et-0/0/33,ens7,ens6"
    generate(lab, lab.parent / "build")
    assert findings(pull(lab, store)) == []


@pytest.mark.parametrize(
    "name",
    [
        "../../etc",
        "=cmd|' /C calc'!A0",
        "a\nb,1",
        '"',
        "{{ 7*7 }}",
        "$(id)",
        "<script>",
        "x" * 300,
        "a\x1b[2J",
        "a\u202eb",
        "a\u200bb",
    ],
)
def test_hostile_names_are_refused_with_the_object(name: str, lab: Path, store: Store) -> None:
    store.add_device(name, like="gpu-s1-1")
    with pytest.raises(UnusableError) as error:
        pull(lab, store)
    first, *_, last = str(error.value).splitlines()
    assert first.startswith("Store, device ") and "is not a usable name" in first and len(first) < 500
    assert str(error.value).replace("\n", "").isprintable()
    assert last == "nothing was written; correct these objects there"
    assert [path.name for path in lab.parent.iterdir()] == ["fabric.yaml"]


def test_hostile_values_are_refused_with_the_object(lab: Path, store: Store) -> None:
    old = store.cable_at("gpu-s1-1", "gpu0_eth")
    store.remove("cable", *old)
    store.put("interface", ("gpu-s1-1", "=1+1"), {"device": Ref("device", ("gpu-s1-1",)), "enabled": True})
    store.remove("interface", "gpu-s1-1", "gpu0_eth")
    store.cable("gpu-s1-1", "=1+1", "stripe1-leaf1", "et-0/0/16")
    store.put("mac-address", ("gpu-s1-2", "gpu0_eth", "ff:ff:ff:ff:ff:ff"), {})
    store.set("device", ("spine1",), primary_ip=Ref("ip-address", ("10.0.0.1\n/24",)))
    with pytest.raises(UnusableError) as error:
        pull(lab, store)
    lines = str(error.value).splitlines()
    assert [line.partition(": ")[0] for line in lines[:3]] == [
        "Store, interface gpu-s1-1 =1+1",
        "Store, MAC address of gpu-s1-2 gpu0_eth",
        "Store, primary address of spine1",
    ]


def test_names_of_others_do_no_harm(lab: Path, store: Store) -> None:
    """A device of somebody else at the site may have any name."""
    store.add_device("Rack PDU #4 =cmd\n<b>", "pdu", owned=False, like="gpu-s1-1")
    assert findings(pull(lab, store)) == []


def test_a_part_of_the_answers_is_an_error(lab: Path, store: Store) -> None:
    """Devices without interfaces, interfaces without devices, cables at ports that are not shown."""
    pull(lab, store).write()
    before = {path: path.read_bytes() for path in lab.parent.glob("*.csv")}
    cases: dict[str, tuple[str, Callable[[Key], bool]]] = {
        "hides devices whose interfaces it shows": ("device", lambda key: key[0] == "gpu-s1-1"),
        "shows devices, but none of their interfaces": ("interface", lambda key: True),
        r"hides interfaces that have a cable \(spine1": ("interface", lambda key: key[0] == "spine1"),
    }
    for message, (kind, hidden) in cases.items():
        part = Store(row for (of, key), row in store.records.items() if of != kind or not hidden(key))
        with pytest.raises(SourceError, match=f"Store {message}.*the token may see only a part"):
            pull(lab, part)
    with pytest.raises(UsageError, match=r"shows no switch of lab in site other; name the site with --site"):
        pull(lab, store, site="other")
    bare = Store(row for (of, _), row in store.records.items() if of != "cable")
    with pytest.raises(UsageError, match=r"shows nothing for .*cabling\.csv, which has 24 rows"):
        pull(lab, bare)
    assert {path: path.read_bytes() for path in lab.parent.glob("*.csv")} == before


def test_devices_of_other_sites_stay_there(lab: Path, store: Store) -> None:
    store.add_device("gpu-far", like="gpu-s1-1", site="elsewhere")
    report = pull(lab, store)
    assert findings(report) == [] and b"gpu-far" not in report.files[0].content


def test_a_device_at_another_site_is_no_hidden_one(lab: Path, store: Store) -> None:
    """Its ports are not read: a cable to it is told, and a wrong name of the site is no lack of rights."""
    pull(lab, store).write()
    store.set("device", ("gpu-s1-1",), site=Ref("site", ("elsewhere",)))
    for row in [row for row in store.records if row[0] == "interface" and row[1][0] == "gpu-s1-1"]:
        store.remove(*row[:1], *row[1])
    foreign = texts(pull(lab, store))["AILBS02"]
    assert "gpu-s1-1 gpu0_eth: Store shows no such device in site lab" in foreign[0]
    for row in [row for row in store.records if row[0] != "device"]:
        store.records.pop(row)
    with pytest.raises(UsageError, match=r"shows no switch of lab in site other; name the site with --site"):
        pull(lab, store, site="other")


def test_a_full_disk_changes_no_file(lab: Path, store: Store) -> None:
    """The largest file, the last one, does not fit; the others are as before, too."""
    report = pull(lab, store)
    assert [file.path.name for file in report.files][-1] == "cabling.csv"
    most = sorted(len(file.content) for file in report.files)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most[-1] - 1, before[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot write .*cabling\.csv: File too large; pull again"):
            report.write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert most[-2] < most[-1]
    assert [path.name for path in lab.parent.iterdir()] == ["fabric.yaml"]


def test_a_file_that_cannot_be_used_is_pulled_anew(lab: Path, store: Store) -> None:
    """A cable on the wrong rail stops `generate`; corrected there, the next pull goes on."""
    pull(lab, store).write()
    right = (lab.parent / "cabling.csv").read_text()
    wrong = right.replace("stripe1-leaf1,et-0/0/16,gpu-s1-1", "stripe1-leaf2,et-0/0/40,gpu-s1-1")
    assert wrong != right
    (lab.parent / "cabling.csv").write_text(wrong)
    warnings: list[str] = []
    report = pull(lab, store, warn=warnings.append)
    assert warnings[0].startswith("cabling.csv cannot be used, and is compared with nothing: cabling.csv:18:1: error")
    assert (findings(report), changed(report)) == ([], ["cabling.csv"])
    report.write()
    assert (lab.parent / "cabling.csv").read_text() == right


@pytest.mark.parametrize("name", ["servers.csv", "switches.csv"])
def test_a_file_that_is_no_table_is_not_replaced(name: str, lab: Path, store: Store) -> None:
    """Written by hand, with a comment: the order of its rows and its serial numbers are nowhere else."""
    pull(lab, store).write()
    header, *rows = (lab.parent / name).read_text().splitlines()
    by_hand = "\n".join([header, "# ours", *rows, ""])
    (lab.parent / name).write_text(by_hand)
    with pytest.raises(IntentError, match=rf"{name}:2:1: .*the row has 1 cell.*correct or delete the file"):
        pull(lab, store)
    assert (lab.parent / name).read_text() == by_hand
    (lab.parent / name).unlink()
    pull(lab, store).write()
    assert findings(pull(lab, store)) == []


def test_forms_of_a_table_by_hand_make_no_difference(tmp_path: Path) -> None:
    """Semicolons, quotes, columns in another order, CRLF and a byte order mark: rows and facts stay."""
    (tmp_path / "fabric.yaml").write_text(with_files("lab"), encoding="utf-8")
    store = store_of(load(EXAMPLES / "lab" / "fabric.yaml"))
    rows = [("port1", "stripe", "name", "management_mac", "port0")]
    rows += [
        (
            f"et-0/0/{15 + one}",
            str(stripe),
            f"gpu-s{stripe}-{one}",
            f"02:00:00:00:0{stripe}:0{one}",
            f"et-0/0/{15 + one}",
        )
        for stripe in (2, 1)
        for one in (2, 1)
    ]
    text = "\r\n".join(";".join(f'"{cell}"' for cell in row) for row in rows)
    (tmp_path / "servers.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    pull(tmp_path / "fabric.yaml", store).write()
    header, *now = (line.split(",") for line in (tmp_path / "servers.csv").read_text().splitlines())
    columns = [header.index(column) for column in rows[0]]
    assert [tuple(row[column] for column in columns) for row in now] == rows[1:]


def test_a_fabric_file_that_does_not_read_them_is_told(store: Store, tmp_path: Path) -> None:
    warnings: list[str] = []
    pull(EXAMPLES / "lab" / "fabric.yaml", store, output=tmp_path, warn=warnings.append)
    assert warnings == [
        f"{EXAMPLES / 'lab' / 'fabric.yaml'} does not read all of these files; to take facts from them, add servers: "
        "{csv: servers.csv}, management: {csv: switches.csv}, cabling: {csv: cabling.csv}"
    ]
    with pytest.raises(UsageError, match="no such directory"):
        pull(EXAMPLES / "lab" / "fabric.yaml", store, output=tmp_path / "none")
