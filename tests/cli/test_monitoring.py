"""`ailb-gen monitoring`: whose directory it writes to, and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.verbs import refused, run
from tests.conftest import EXAMPLES
from tests.golden_trees import GOLDEN

LAB, TREE = str(EXAMPLES / "lab" / "fabric.yaml"), str(GOLDEN / "lab")
ONE_LEAF = "name: one\nplatform: generic\nstripes: 1\nrails: 1\nspines: 2\nservers: 2\n"


def test_another_collector_replaces_the_files_of_the_first(tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = f"{out}: 11 files for gnmic, Prometheus and Grafana\n"
    assert run("monitoring", LAB, TREE, "-o", str(out)) == (0, told, "")
    first = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (out / "mine").write_text("kept")
    assert run("monitoring", LAB, TREE, "-o", str(out), "--collector", "telegraf")[0] == 0
    assert not (out / "gnmic").exists()
    assert "job_name: telegraf" in (out / "prometheus.yml").read_text()
    assert run("monitoring", LAB, TREE, "-o", str(out))[0] == 0
    again = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert again == first | {Path("mine"): b"kept"}


def test_options_reach_the_files(tmp_path: Path) -> None:
    words = ("--scrape-interval", "60", "--runbooks", "https://docs.example.net/", "--all-paths")
    assert run("monitoring", LAB, TREE, "-o", str(tmp_path / "out"), *words)[0] == 0
    rules = (tmp_path / "out/rules.yml").read_text()
    assert "[240s]" in rules
    assert 'interval: "4s"' in rules
    gnmic = (tmp_path / "out/gnmic/gnmic.yaml").read_text()
    assert 'sample-interval: "8s"' in gnmic
    assert "/qos/interfaces/" in gnmic
    assert 'runbook_url: "https://docs.example.net/troubleshooting/hot-spine.html"' in rules
    assert 'evaluation_interval: "60s"' in (tmp_path / "out/prometheus.yml").read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--collector", "gnmi"), "--collector 'gnmi': unknown collector; did you mean 'gnmic'?"),
        (("--collector", ""), "--collector '': unknown collector; there are gnmic, telegraf"),
        (("--runbooks", "ftp://docs"), "--runbooks 'ftp://docs': not a URL; write one such as"),
        (("--runbooks", "http://[x"), "--runbooks 'http://[x': not a URL; write one such as"),
        (("--runbooks", "https://a b"), "--runbooks 'https://a b': not a URL; write one such as"),
        (("--scrape-interval", "9"), "greater than or equal to 10"),
        (("--scrape-interval", "601"), "less than or equal to 600"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    refused(run("monitoring", LAB, TREE, "-o", str(tmp_path / "out"), *words), reason)
    assert not (tmp_path / "out").exists()


def test_files_of_another_fabric_and_files_that_are_missing_are_refused(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    jvd = str(EXAMPLES / "jvd" / "fabric.yaml")
    told = run("monitoring", jvd, TREE, "-o", out)
    refused(told, "these files are of the fabric lab, not of jvd; name the fabric file of lab, or the directory of jvd")
    # Of the same shape: ports are the same.
    (tmp_path / "twin.yaml").write_text(Path(LAB).read_text().replace("name: lab", "name: twin"))
    told = run("monitoring", str(tmp_path / "twin.yaml"), TREE, "-o", out)
    refused(told, "these files are of the fabric lab, not of twin")
    shutil.copytree(TREE, tmp_path / "tree", symlinks=True)
    (tmp_path / "tree/manifest.json").unlink()
    told = run("monitoring", jvd, str(tmp_path / "tree"), "-o", out)
    refused(
        told, "spine1:et-0/0/0: this port and 159 others are not in the fabric file, so what to expect is not known"
    )
    (tmp_path / "tree/switches/spine1.conf").unlink()
    code, _, err = run("monitoring", LAB, str(tmp_path / "tree"), "-o", out)
    assert code == 2
    assert "spine1:et-0/0/0: this port and 7 others are without a BGP session in the files" in err
    assert "run 'ailb-gen generate', then 'ailb-gen validate'" in err
    refused(run("monitoring", LAB, str(tmp_path / "none"), "-o", out), "there is no such directory")


def test_a_fabric_without_traffic_between_leaves_is_told(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(ONE_LEAF)
    fabric, tree, out = (str(tmp_path / name) for name in ("fabric.yaml", "tree", "out"))
    assert run("generate", fabric, "-o", tree)[0] == 0
    code, _, err = run("monitoring", fabric, tree, "-o", out)
    assert code == 0
    assert "no traffic crosses the spines, so no load is expected: alerts about loads cannot fire" in err
    expected = (tmp_path / "out/expected.prom").read_text()
    assert 'ailb_switch_expected_sessions{fabric="one",device="stripe1-leaf1"} 2\n' in expected
    assert "ailb_uplink_expected_share{" not in expected


def test_directories_of_others_stay_as_they_are(tmp_path: Path) -> None:
    exports, tree, out = (str(tmp_path / name) for name in ("exports", "tree", "out"))
    assert run("export", "all", LAB, "-o", exports)[0] == 0
    assert run("generate", LAB, "-o", tree)[0] == 0
    for place in (exports, tree):
        code, _, err = run("monitoring", LAB, TREE, "-o", place)
        assert (code, err) == (
            3,
            f"ailb-gen: {place}: the directory is not empty and has no monitoring files of ailb-gen; "
            "choose an empty one\n",
        )
    assert run("monitoring", LAB, TREE, "-o", out)[0] == 0
    code, _, err = run("export", "all", LAB, "-o", out)
    assert code == 3
    assert "the directory is not empty and has no exports of ailb-gen" in err
    code, _, err = run("generate", LAB, "-o", out)
    assert code == 3
    assert "this directory was written by 'ailb-gen monitoring', not by 'ailb-gen generate'" in err
    refused(run("monitoring", LAB, tree, "-o", tree), "is an input of this command")


def test_damaged_state_and_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("monitoring", LAB, TREE, "-o", str(out))[0] == 0
    before = (out / "rules.yml").read_bytes()
    (out / "manifest.json").write_text("{")
    code, _, err = run("monitoring", LAB, TREE, "-o", str(out))
    assert code == 3
    assert f"{out}/manifest.json: not a manifest of ailb-gen" in err
    assert (out / "rules.yml").read_bytes() == before
    code, _, err = run("monitoring", LAB, TREE, "-o", "/proc/monitoring")
    assert code == 3
    assert "/proc/monitoring: cannot write the output" in err
