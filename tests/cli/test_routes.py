"""`ailb-gen rib` and `ailb-gen fib`: what an operator reads, what a script reads, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from tests.checks.trees import GOLDEN
from tests.cli.verbs import Told, changed, run
from tests.routing.test_rib import ring

LAB, JVD = str(GOLDEN / "lab"), str(GOLDEN / "jvd")
NUMBER = {"type": ["integer", "null"]}
TEXT = {"type": "string"}


def closed(**properties: object) -> dict[str, object]:
    """The schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def listed(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


PATH = closed(
    protocol={"enum": ["bgp", "direct"]},
    status={"enum": ["active", "multipath", "inactive", "hidden"]},
    reason=TEXT,
    peer=TEXT,
    interface=TEXT,
    group=TEXT,
    as_path=listed({"type": "integer"}),
    local_preference={"type": "integer"},
    aigp=NUMBER,
    med=NUMBER,
    communities=listed(TEXT),
)
ENTRY = closed(direct={"type": "boolean"}, next_hops=listed(closed(interface=TEXT, peer=TEXT)))
RIB = closed(switch=TEXT, routes={"type": "object", "additionalProperties": listed(PATH)})
OUT = closed(
    peer=TEXT,
    interface=TEXT,
    group=TEXT,
    color={"type": ["string", "null"]},
    as_path=listed({"type": "integer"}),
    aigp=NUMBER,
    med=NUMBER,
    communities=listed(TEXT),
)
SENT = closed(
    switch=TEXT,
    advertised={
        "type": "object",
        "additionalProperties": closed(color={"type": ["string", "null"]}, sent=listed(OUT)),
    },
)
FIB = closed(switch=TEXT, routes={"type": "object", "additionalProperties": ENTRY})


def rib(*words: str) -> Told:
    return run("rib", *words, "-C", LAB)


def fib(*words: str) -> Told:
    return run("fib", *words, "-C", LAB)


def rows(out: str) -> list[list[str]]:
    """The rows of a forwarding table."""
    return [line.split() for line in out.splitlines()[3:]]


def test_every_path_with_its_attributes_and_why_it_lost() -> None:
    """The words of `show route extensive`: the color's own spine wins by AIGP, the backups have none."""
    assert rib("stripe2-leaf1", "fc00:1:1:2::/64") == (
        0,
        """\
stripe2-leaf1: 1 destination, 4 paths (0 hidden)

fc00:1:1:2::/64 (4 entries)
 *[BGP/170]  active, to spine2 via et-0/0/1.0, group fabric-blue
    AS path: 65002 65101 I   Localpref: 100   AIGP: 0
    Communities: 0:15 color:0:2
  [BGP/170]  inactive, to spine1 via et-0/0/0.0, group fabric-green
    AS path: 65001 65101 I   Localpref: 100
    Communities: 0:15 color:0:1
    Inactive reason: AIGP
  [BGP/170]  inactive, to spine3 via et-0/0/2.0, group fabric-red
    AS path: 65003 65101 I   Localpref: 100
    Communities: 0:15 color:0:3
    Inactive reason: AIGP
  [BGP/170]  inactive, to spine4 via et-0/0/3.0, group fabric-orange
    AS path: 65004 65101 I   Localpref: 100
    Communities: 0:15 color:0:4
    Inactive reason: AIGP
""",
        "",
    )


def test_a_direct_route() -> None:
    code, out, _ = rib("stripe1-leaf1", "fc00:1:1:2::")
    assert (code, out.splitlines()[-1]) == (0, " *[Direct/0]  active")


def test_a_failure_shares_the_load() -> None:
    code, out, _ = rib("stripe2-leaf1", "fc00:1:1:2::/64", "--fail", "stripe1-leaf1:et-0/0/1")
    assert code == 0
    marks = [line.split("]")[0] for line in out.splitlines() if "BGP" in line]
    assert marks == [" *[BGP/170", " #[BGP/170", " #[BGP/170"]


def test_hidden_paths_say_why(lab_copy: Path) -> None:
    """A spine that calls the color blue green hides what the leaves send it, and its own sessions' color is wrong."""
    changed(lab_copy, "switches/spine2.conf", "community blue members color:0:2;", "community blue members color:0:1;")
    code, out, err = run("rib", "spine2", "fc00:1:1:2::/64", "-C", str(lab_copy))
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "spine2: 1 destination, 1 path (1 hidden)"
    assert out.splitlines()[3].startswith(" -[BGP/170]  hidden, to stripe1-leaf1 via et-0/0/0.0")
    assert "    Hidden reason: color mismatch: the route has color:0:2, the session color:0:1\n" in out
    assert fib_of(lab_copy, "spine2", "fc00:1:1:2::/64") == [["fc00:1:1:2::/64", "no", "route"]]


def fib_of(folder: Path, *words: str) -> list[list[str]]:
    code, out, _ = run("fib", *words, "-C", str(folder))
    assert code == 0
    return rows(out)


def test_what_a_prefix_picks() -> None:
    """A prefix, those within it, those that hold an address, or a narrower prefix."""
    for text, count in (
        ("fc00:1:1:2::/64", 1),
        ("fc00:1:1::/48", 4),
        ("fc00::/16", 16),
        ("fc00:1:1:2::5", 1),
        ("fc00:1:1:2:8000::/65", 1),
        ("fc00:1:1:2::5/64", 1),
    ):
        code, out, _ = rib("spine1", text)
        assert (code, out.split(": ")[1].split(",")[0]) == (0, f"{count} destination{'s' * (count > 1)}")
    assert rib("spine1")[1] == rib("spine1", "::/0")[1]


def test_rib_as_json() -> None:
    code, out, err = rib("stripe2-leaf1", "fc00:1:1::/48", "--json", "--fail", "stripe1-leaf1:spine2")
    assert (code, err) == (0, "")
    found = json.loads(out)
    jsonschema.validate(found, RIB)
    assert found["switch"] == "stripe2-leaf1"
    assert list(found["routes"]) == [f"fc00:1:1:{k}::/64" for k in range(1, 5)]
    assert [path["status"] for path in found["routes"]["fc00:1:1:2::/64"]] == ["active", "multipath", "multipath"]
    assert found["routes"]["fc00:1:1:1::/64"][0] == {
        "protocol": "bgp",
        "status": "active",
        "reason": "",
        "peer": "spine1",
        "interface": "et-0/0/0.0",
        "group": "fabric-green",
        "as_path": [65001, 65101],
        "local_preference": 100,
        "aigp": 0,
        "med": None,
        "communities": ["0:15", "color:0:1"],
    }


ADVERTISED = """\
stripe1-leaf1: 2 prefixes advertised over 4 sessions
PREFIX           COLOR  TO      INTERFACE   FABRIC COLOR  COMMUNITIES  AIGP
---------------  -----  ------  ----------  ------------  -----------  ----
fc00:1:1:2::/64  blue   spine1  et-0/0/0.0  green         color:0:1    -
fc00:1:1:2::/64  blue   spine2  et-0/0/1.0  blue          color:0:2    0
fc00:1:1:2::/64  blue   spine3  et-0/0/2.0  red           color:0:3    -
fc00:1:1:2::/64  blue   spine4  et-0/0/3.0  orange        color:0:4    -
fc00:1:1:3::/64  red    spine1  et-0/0/0.0  green         color:0:1    -
fc00:1:1:3::/64  red    spine2  et-0/0/1.0  blue          color:0:2    -
fc00:1:1:3::/64  red    spine3  et-0/0/2.0  red           color:0:3    0
fc00:1:1:3::/64  red    spine4  et-0/0/3.0  orange        color:0:4    -
"""


def test_routes_that_a_leaf_advertises() -> None:
    """The guide's table: over every session its own color's community, AIGP only over the prefix's color."""
    assert rib("--advertised", "stripe1-leaf1", "fc00:1:1:2::/63") == (0, ADVERTISED, "")
    assert rib("--advertised", "stripe1-leaf1", "fc00:1:2::/48")[1] == (
        "stripe1-leaf1: advertises nothing of fc00:1:2::/48\n"
    )
    code, out, _ = rib("--advertised", "stripe1-leaf1", "--fail", "spine2")
    assert (code, out.splitlines()[0]) == (0, "stripe1-leaf1: 4 prefixes advertised over 3 sessions")
    assert "spine2" not in out


def test_without_a_backup_color_a_prefix_is_advertised_to_its_own_spine_only(lab_copy: Path) -> None:
    """AIGP is for preference over a backup: here there is none."""
    file = "switches/stripe1-leaf1.conf"
    changed(lab_copy, file, "color green;\n                backup-color all-colors;", "color green;")
    code, out, _ = run("rib", "--advertised", "stripe1-leaf1", "fc00:1:1:1::/64", "-C", str(lab_copy))
    assert code == 0
    assert [line.split() for line in out.splitlines()[3:]] == [
        ["fc00:1:1:1::/64", "green", "spine1", "et-0/0/0.0", "green", "color:0:1", "-"]
    ]


def test_advertised_routes_as_json() -> None:
    code, out, err = rib("--advertised", "spine2", "fc00:1:1:2::/64", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    jsonschema.validate(found, SENT)
    assert found["switch"] == "spine2"
    row = found["advertised"]["fc00:1:1:2::/64"]
    assert row["color"] is None, "it is a leaf's prefix"
    # Not to the leaf that it came from.
    assert [one["peer"] for one in row["sent"]] == ["stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2"]
    assert row["sent"][1] == {
        "peer": "stripe2-leaf1",
        "interface": "et-0/0/2.0",
        "group": "fabric-blue",
        "color": "blue",
        "as_path": [65002, 65101],
        "aigp": 0,
        "med": None,
        "communities": ["0:15", "color:0:2"],
    }
    own = json.loads(rib("--advertised", "stripe1-leaf1", "fc00:1:1:2::/64", "--json")[1])
    assert own["advertised"]["fc00:1:1:2::/64"]["color"] == "blue"


def test_a_forwarding_table() -> None:
    code, out, err = fib("stripe1-leaf2", "fc00:1::/32")
    assert (code, err) == (0, "")
    assert (
        out
        == """\
stripe1-leaf2: forwarding table
PREFIX           INTERFACE   TO
---------------  ----------  ------
fc00:1:1:1::/64  et-0/0/0.0  spine1
fc00:1:1:2::/64  et-0/0/1.0  spine2
fc00:1:1:3::/64  et-0/0/2.0  spine3
fc00:1:1:4::/64  et-0/0/3.0  spine4
fc00:1:2:1::/64  direct
fc00:1:2:2::/64  direct
fc00:1:2:3::/64  direct
fc00:1:2:4::/64  direct
"""
    )


def test_the_longest_prefix_of_an_address() -> None:
    assert rows(fib("spine3", "fc00:2:1:4::17")[1]) == [["fc00:2:1:4::/64", "et-0/0/2.0", "stripe2-leaf1"]]
    assert fib("spine3", "2001:db8::1") == (0, "spine3: no route to 2001:db8::1\n", "")


def test_fib_as_json() -> None:
    code, out, _ = fib("stripe1-leaf1", "--json")
    assert code == 0
    found = json.loads(out)
    jsonschema.validate(found, FIB)
    assert len(found["routes"]) == 16
    assert found["routes"]["fc00:1:1:1::/64"] == {"direct": True, "next_hops": []}
    hop = {"interface": "et-0/0/0.0", "peer": "spine1"}
    assert found["routes"]["fc00:2:1:1::/64"] == {"direct": False, "next_hops": [hop]}
    assert json.loads(fib("spine3", "2001:db8::1", "--json")[1]) == {"switch": "spine3", "routes": {}}


SPELLINGS = [
    ("stripe1-leaf1:et-0/0/1",),
    ("stripe1-leaf1:et-0/0/1.0",),
    ("stripe1-leaf1 et-0/0/1",),
    ("spine2:et-0/0/0",),
    ("stripe1-leaf1:spine2",),
    ("spine2:stripe1-leaf1",),
    ("stripe1-leaf1:et-0/0/1 - spine2:et-0/0/0",),
    ("spine2 - stripe1-leaf1",),
    ("stripe1-leaf1:et-0/0/1", "spine2:et-0/0/0"),
]


@pytest.mark.parametrize("words", SPELLINGS, ids=str)
def test_a_failed_link_by_any_spelling(words: tuple[str, ...]) -> None:
    down = [part for word in words for part in ("--fail", word)]
    code, out, err = fib("stripe2-leaf1", "fc00:1:1:2::/64", *down)
    assert (code, err) == (0, "")
    assert [row[2] for row in rows(out)] == ["spine1", "spine3", "spine4"]
    # The others still go over spine 2.
    assert [row[2] for row in rows(fib("stripe2-leaf1", "fc00:1:2:2::/64", *down)[1])] == ["spine2"]


def test_a_dead_spine() -> None:
    for target in ("fc00:1:1:2::/64", "fc00:1:2:2::/64"):
        code, out, _ = fib("stripe2-leaf1", target, "--fail", "spine2")
        assert (code, [row[2] for row in rows(out)]) == (0, ["spine1", "spine3", "spine4"])


def test_a_dead_leaf_takes_its_prefixes_along() -> None:
    assert rows(fib("spine1", "fc00:1:1:2::/64", "--fail", "stripe1-leaf1")[1]) == [["fc00:1:1:2::/64", "no", "route"]]


def test_a_cable_to_a_server_changes_no_route() -> None:
    for word in ("stripe1-leaf1:et-0/0/16", "gpu-s1-1:gpu0_eth", "gpu-s1-1"):
        assert fib("spine1", "--fail", word) == fib("spine1")


BAD = [
    (["rib", "stripe1-leaf"], "'stripe1-leaf': no switch of the files is called that; did you mean 'stripe1-leaf"),
    (["rib", "--advertised", "x"], "'x': no switch of the files is called that; there are 8: spine1, spine2, spine3"),
    (["rib", "spine1", "hello", "--advertised"], "'hello': not an IPv6 address or prefix\n"),
    (["rib", "x"], "'x': no switch of the files is called that; there are 8: spine1, spine2, spine3 and 5 more\n"),
    (["fib", "gpu-s1-1"], "'gpu-s1-1': this is a server, on stripe1-leaf1, stripe1-leaf2; name a switch\n"),
    (["rib", "spine1", "hello"], "'hello': not an IPv6 address or prefix\n"),
    (["rib", "spine1", "10.0.0.1"], "'10.0.0.1': not an IPv6 address or prefix\n"),
    (["rib", "spine1", "fc00::/129"], "'fc00::/129': not an IPv6 address or prefix\n"),
    (["fib", "spine1", "fc00:/64"], "'fc00:/64': not an IPv6 address or prefix\n"),
    (["rib", "spine1", "2001:db8::/32"], "2001:db8::/32: no switch has a prefix there; 'ailb-gen fib SWITCH' lists"),
    (["rib", "spine1", "2001:db8::1"], "2001:db8::1: no switch has a prefix there; "),
    (
        ["fib", "spine1", "--fail", "spin2"],
        "--fail 'spin2': there is no such cable or switch; did you mean 'spine2'?\n",
    ),
    (["fib", "spine1", "--fail", "spine2:et-0/0/9"], "there is no such cable or switch; did you mean 'spine2:et-0/0/"),
    (["fib", "spine1", "--fail", "spine2:spine3"], "--fail 'spine2:spine3': there is no such cable or switch; "),
    (["fib", "spine1", "--fail", "???"], "name one end as DEVICE:PORT, both as DEVICE:DEVICE, or a switch\n"),
    (["fib", "spine1", "--fail", ""], "--fail '': there is no such cable or switch; name one end "),
    (["rib", "spine1", "--fail", "spine1"], "'spine1': this switch is down (--fail)\n"),
]


@pytest.mark.parametrize(
    ("words", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_bad_input(words: list[str], message: str) -> None:
    code, out, err = run(*words, "-C", LAB)
    assert (code, out) == (2, "")
    assert message in err and err.startswith("ailb-gen: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["rib", "spine1"], "spine1.dc1.example.net"),
        (["fib", "SPINE1"], "spine1.dc1.example.net"),
        (["path", "gpu-s1-1:gpu1_eth", "gpu-s2-1"], "gpu-s1-1.dc1.example.net"),
        (["path", "fc00:1:1:1::1", "gpu-s1-1"], "gpu-s1-1.dc1.example.net"),
    ],
)
def test_a_name_without_its_domain_is_told_before_files_are_read(
    lab_copy: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], name: str
) -> None:
    file = lab_copy / "topology.json"
    text = file.read_text().replace('"spine1"', '"spine1.dc1.example.net"')
    file.write_text(text.replace('"gpu-s1-1"', '"gpu-s1-1.dc1.example.net"'))
    (lab_copy / "switches" / "spine1.conf").rename(lab_copy / "switches" / "spine1.dc1.example.net.conf")

    def read(*given: object) -> None:
        raise AssertionError(given)

    monkeypatch.setattr("ailb_gen.network.read.read_network", read)
    code, out, err = run(*words, "-C", str(lab_copy))
    assert (code, out) == (2, "")
    assert f"did you mean {name!r}?" in err


def test_bad_directories(tmp_path: Path) -> None:
    told = "name the directory that 'ailb-gen generate -o DIR' wrote\n"
    missing = tmp_path / "none"
    assert run("rib", "spine1", "-C", str(missing)) == (
        2,
        "",
        f"ailb-gen: {missing}: there is no such directory; {told}",
    )
    assert run("rib", "spine1", "-C", str(tmp_path)) == (
        2,
        "",
        f"ailb-gen: {tmp_path}: there is no switches/ in it; {told}",
    )
    file = tmp_path / "file"
    file.touch()
    assert run("fib", "spine1", "-C", str(file)) == (2, "", f"ailb-gen: {file}: this is a file; {told}")
    (tmp_path / "switches").mkdir()
    code, out, err = run("fib", "spine1", "-C", str(tmp_path))
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "ailb-gen: 'spine1': no switch of the files is called that; there are 0: none"


def test_a_switch_without_a_file_is_said_to_be_missing(lab_copy: Path) -> None:
    """Nobody should take the routes without it for the truth."""
    (lab_copy / "switches/spine2.conf").unlink()
    warning = "warning: spine2: it has cables but no usable file: it is treated as down\n"
    code, out, err = run("fib", "stripe1-leaf1", "fc00:2:1:2::/64", "-C", str(lab_copy))
    assert (code, err) == (0, warning)
    assert [row[2] for row in rows(out)] == ["spine1", "spine3", "spine4"]
    message = f"{warning}ailb-gen: 'spine2': there is no usable file of this switch\n"
    assert run("rib", "spine2", "-C", str(lab_copy)) == (2, "", message)


def test_a_switch_with_a_damaged_file(lab_copy: Path) -> None:
    (lab_copy / "switches/spine1.conf").write_text("system {\n  host-name spine1;\n}}\n")
    reason = "not Junos text: '}' without '{'"
    warning = f"warning: switches/spine1.conf:3:2: {reason}\n"
    message = f"{warning}ailb-gen: 'spine1': there is no usable file of this switch: {reason}\n"
    assert run("fib", "spine1", "-C", str(lab_copy)) == (2, "", message)
    code, out, err = run("fib", "spine2", "-C", str(lab_copy))
    assert (code, err, len(rows(out))) == (0, warning, 16)


def test_many_problems_are_counted(lab_copy: Path) -> None:
    for name in ("spine1", "spine2", "spine3", "stripe1-leaf2", "stripe2-leaf2"):
        (lab_copy / f"switches/{name}.conf").unlink()
    code, _, err = run("fib", "spine4", "-C", str(lab_copy))
    assert (code, len(err.splitlines())) == (0, 4)
    assert err.endswith("warning: 2 more; 'ailb-gen validate' lists all\n")


def test_routes_that_never_come_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown is a moment: that is said."""
    reading = SimpleNamespace(network=ring(3))
    monkeypatch.setattr("ailb_gen.network.read.read_network", lambda root, inspect: reading)
    monkeypatch.setattr("ailb_gen.api.routes.check_device", lambda *device: None)
    warning = "warning: the routes of fc00:1::/64 do not converge; this is one of several states\n"
    for verb in ("rib", "fib"):
        code, out, err = run(verb, "n1", "fc00:1::/64")
        assert (code, err) == (0, warning)
        assert "fc00:1::/64" in out


def test_lines_fit_a_terminal() -> None:
    for words in (["rib", "stripe1-leaf1"], ["rib", "spine1"], ["fib", "stripe1-leaf1"], ["fib", "spine4"]):
        for tree in (LAB, JVD):
            code, out, _ = run(*words, "-C", tree)
            assert code == 0
            assert max(map(len, out.splitlines())) <= 80
