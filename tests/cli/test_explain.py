"""`ailb-gen explain`: the tables of one device."""

import json
import re
from pathlib import Path

from tests.cli.verbs import program
from tests.conftest import EXAMPLES, Cli

JVD = str(EXAMPLES / "jvd" / "fabric.yaml")


def test_explain_shows_the_tables_of_the_guide(cli: Cli) -> None:
    code, out, _ = cli("explain", JVD, "stripe2-leaf5")
    assert code == 0
    assert re.search(r"^irb\.14 +14 +3 +fc00:2:5:3::/64 +fc00:2:5:3::1 +red +all-colors +gpu4_eth$", out, re.M)
    assert re.search(r"^fabric-blue +blue +color:0:2 +4200000002 +et-0/0/1:0\.0$", out, re.M)
    code, out, _ = cli("explain", JVD, "h100-01")
    assert re.search(r"^gpu7_eth +10031 +gpu7_subnet4 +fc00:1:8:4::/64 +fc00:1:8:4::1 +10031 +orange$", out, re.M)
    assert "NCCL_IB_QPS_PER_CONNECTION  4" in out
    code, out, _ = cli("explain", JVD, "spine3")
    assert "Links to leaves" in out


def test_explain_as_json(cli: Cli) -> None:
    code, out, _ = cli("explain", str(EXAMPLES / "brownfield" / "fabric.yaml"), "a-gpu1", "--json")
    body = json.loads(out)
    assert code == 0
    assert body["SLAAC addresses"][0] == {"INTERFACE": "eth0_gpu", "ADDRESS": "fd12:3456:789a:1041:a288:c2ff:fe01:100"}
    code, out, _ = cli("explain", str(EXAMPLES / "brownfield" / "fabric.yaml"), "core-a", "--json")
    assert {"what": "management", "value": "192.0.2.1/24 on re0:mgmt-0"} in json.loads(out)["core-a"]
    assert {"what": "loopback", "value": "fd00:9::1"} in json.loads(out)["core-a"]


def test_explain_with_several_kinds_of_servers(cli: Cli) -> None:
    """Speeds, the NICs of all GPU servers on a leaf, its spare ports; storage has no environment."""
    mixed = str(EXAMPLES / "mixed" / "fabric.yaml")
    _, out, _ = cli("explain", mixed, "stripe2-leaf1", "--json")
    leaf = json.loads(out)
    assert {row["GPU NIC"] for row in leaf["IRB, prefixes and fabric-advertise"]} == {"gpu0_eth, b200_0"}
    assert [row["SPEED"] for row in leaf["Server ports"]] == ["400g", "400g", "800g", "200g"]
    assert leaf["Spare ports"][0] == {"PORT": "et-0/0/60", "DESCRIPTION": "spare"}
    _, out, _ = cli("explain", mixed, "store-1-1", "--json")
    storage = json.loads(out)
    assert {row["SPEED"] for row in storage["NICs"]} == {"200g"}
    assert "NCCL environment" not in storage


def test_long_values_stay_whole_in_a_pipe_unless_its_width_is_given(tmp_path: Path) -> None:
    words = ("explain", JVD, "h100-01")
    told = {columns: program(*words, cwd=tmp_path, env={"COLUMNS": columns}).stdout for columns in ("", "80")}
    assert "mlx5_0:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_9:1,mlx5_10:1,mlx5_11:1" in told[""]
    assert max(map(len, told[""].splitlines())) > 80
    assert max(map(len, told["80"].splitlines())) <= 80


def test_explain_with_static_neighbors(cli: Cli) -> None:
    code, out, _ = cli("explain", str(EXAMPLES / "static" / "fabric.yaml"), "spine1", "--json")
    assert code == 0
    green, _ = json.loads(out)["BGP groups"]
    assert list(green.values()) == ["fabric", "green", "color:0:1", "65101, 65102", "et-0/0/0.0, et-0/0/2.0"]


def test_explain_of_a_whole_fabric(cli: Cli) -> None:
    code, out, err = cli("explain", JVD)
    assert (code, err) == (0, "")
    assert re.search(r"^asn\.leaves +AS numbers +4200100001-4200199999 +16 +99,983$", out, re.M)
    assert re.search(r"^0-7 +16 +800g +1,600g +0\.50:1$", out, re.M)
    assert re.search(r"^stripe +2 +1 +6 +downlinks$", out, re.M)
    assert re.search(r"^rail +8 +- +none +hosts\.rdma$", out, re.M)
    assert re.search(r"^ports of spine1 to spine4 +8: et-0/0/16:0 to et-0/0/23:0$", out, re.M)
    assert max(map(len, out.splitlines())) <= 80


def test_explain_of_a_whole_fabric_as_json(cli: Cli) -> None:
    code, out, _ = cli("explain", JVD, "--json")
    body = json.loads(out)
    assert code == 0
    assert body["headroom"][0] | {"refused": len(body["headroom"][0]["refused"])} == {
        "unit": "stripe", "step": 1, "more": 6, "refused": 1
    }  # fmt: skip
    assert body["headroom"][0]["refused"][0]["code"] == "ports-exhausted"
    assert set(body["next"]) == {"stripe", "spine", "server"}
    assert {row["ratio"] for row in body["oversubscription"]} == {0.5}


def test_explain_of_a_whole_fabric_in_a_project(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ailb.toml").write_text(f'fabric = "{JVD}"\n')
    assert cli("explain")[:2] == cli("explain", JVD)[:2]
    assert cli("explain", "spine1")[1].startswith("spine1\n")


def test_explain_of_a_whole_fabric_that_has_no_design(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("name: f\nstripes: 2\nspines: 70\nuplinks: {speed: 800g}\n")
    code, out, err = cli("explain", "f.yaml")
    assert (code, out) == (2, "")
    assert "error[ports-exhausted]: uplinks:" in err


def test_explain_of_a_fabric_of_one_stripe_without_servers(cli: Cli, tmp_path: Path) -> None:
    """Neither servers nor spare ports; stripes say their rails; drained parts are told."""
    text = "name: f\nplatform: generic\nstripes: [{rails: 1}]\nspines: 1\nservers: 0\n"
    (tmp_path / "f.yaml").write_text(text)
    code, out, _ = cli("explain", "f.yaml")
    assert code == 0
    assert re.search(r"^rail +1 +- +none +-$", out, re.M)
    assert "every stripe says its own rails" in " ".join(out.split())
    (tmp_path / "f.yaml").write_text(text.replace("spines: 1", "spines: 2") + "drain: spine1\n")
    assert re.search(r"^drained +spine1", cli("explain", "f.yaml")[1], re.M)
