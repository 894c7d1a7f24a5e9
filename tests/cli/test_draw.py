"""`ailb-gen draw`: every view in every format, loads, paths and failures, and what it refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.cli.draw import joined
from tests.checks.trees import GOLDEN
from tests.cli.verbs import Told, changed, refused, run
from tests.conftest import EXAMPLES, ROOT

FABRIC, TREE = str(EXAMPLES / "lab" / "fabric.yaml"), str(GOLDEN / "lab")


def draw(out: Path, *words: str, tree: str = TREE) -> Told:
    return run("draw", FABRIC, tree, "-o", str(out), *words)


@pytest.mark.parametrize("suffix", [".svg", ".dot", ".mmd"])
@pytest.mark.parametrize(
    ("view", "leaves"),
    [
        ("fabric", "11 12 21 22"),
        ("rail 0", "11 21"),
        ("stripe 2", "21 22"),
        ("device spine1", "11 12 21 22"),
        ("device gpu-s1-1", "11 12"),
        ("path gpu-s1-1:gpu1_eth gpu-s2-2", "12 22"),
    ],
)
def test_every_view_is_drawn_in_every_format(view: str, leaves: str, suffix: str, tmp_path: Path) -> None:
    """With its leaves, each a stripe and a number."""
    out = tmp_path / "new" / f"picture{suffix}"
    assert draw(out, "--view", *view.split()) == (0, "", "")
    text = out.read_text(encoding="utf-8")
    assert {"".join(found) for found in re.findall(r"stripe(\d)-leaf(\d)", text)} == set(leaves.split())
    quoted = tmp_path / f"quoted{suffix}"
    assert draw(quoted, "--view", view) == (0, "", "")
    assert quoted.read_text(encoding="utf-8") == text


def test_loads_are_those_after_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    assert draw(out, "--load", "all-to-all", "--fail", "stripe1-leaf1:spine1", "--fail", "spine4") == (0, "", "")
    text = out.read_text(encoding="utf-8")
    assert "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0, color green, 400G, failed" in text
    assert "stripe1-leaf1:et-0/0/1 - spine2:et-0/0/0, color blue, 400G, load 200%" in text
    assert "spine spine4, orange, failed" in text


def test_a_path_is_the_one_that_the_verb_path_follows(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    words = ["gpu-s1-1", "gpu-s2-1", "--fail", "stripe1-leaf1:spine1"]
    assert draw(out, "--view", "path", *words) == (0, "", "")
    text = out.read_text(encoding="utf-8")
    followed = run("path", *words, "-C", TREE)[1]
    spines = {f"spine{number}" for number in range(1, 5)}
    now = {one for one in spines if f"to {one}" in followed}
    # Queue pair 1 had the link to spine1 before.
    assert now == spines - {"spine1"}
    assert {one for one in spines if f'data-device="{one}"' in text} == spines
    assert text.count(">queue pair ") == 5 and text.count(">queue pair 1 before<") == 1


def test_the_failed_spine_of_a_path_is_drawn_named_and_gray(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    assert draw(out, "--view", "path", "gpu-s1-1", "gpu-s2-1", "--fail", "spine2") == (0, "", "")
    text = out.read_text(encoding="utf-8")
    assert ">failed: spine2<" in text and 'aria-label="lab: gpu-s1-1 to gpu-s2-1, failed: spine2"' in text
    assert '<g class="device spine out" data-device="spine2"' in text
    down = [line for line in text.splitlines() if '<g class="link h1' in line]
    assert len(down) == 2 and all('<g class="link h1 down former"' in line for line in down)


def test_what_fails_on_no_path_is_named(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    words = ["--view", "path", "gpu-s1-1", "gpu-s2-1", "--fail", "stripe1-leaf2:spine4"]
    assert draw(out, *words) == (0, "", "")
    text = out.read_text(encoding="utf-8")
    assert ">failed, but on none of these paths: stripe1-leaf2:et-0/0/3 - spine4:et-0/0/1<" in text
    assert " before<" not in text


def test_paths_that_fail_are_drawn_with_the_reason(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    assert draw(out, "--view", "path", "gpu-s1-1", "gpu-s2-1", "--fail", "stripe2-leaf1")[0] == 0
    assert out.read_text(encoding="utf-8").count(">FAILS: no route at stripe1-leaf1<") == 4


def test_a_link_that_the_files_keep_down_carries_nothing(lab_copy: Path, tmp_path: Path) -> None:
    """The drawing shows what the files do: a port disabled by hand, and a leaf whose file is no configuration."""
    changed(lab_copy, "switches/spine1.conf", "et-0/0/0 {\n", "et-0/0/0 {\n        disable;\n")
    out = tmp_path / "picture.svg"
    assert draw(out, "--load", "all-to-all", tree=str(lab_copy)) == (0, "", "")
    text = out.read_text(encoding="utf-8")
    assert "stripe1-leaf1:et-0/0/1 - spine2:et-0/0/0, color blue, 400G, load 100%" in text
    assert "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0, color green, 400G<" in text
    (lab_copy / "switches" / "stripe1-leaf1.conf").write_text("interfaces {\n")
    code, _, error = draw(out, "--view", "path", "gpu-s1-1", "gpu-s2-1", tree=str(lab_copy))
    assert (code, error) == (
        0,
        "warning: switches/stripe1-leaf1.conf:1:12: not Junos text: '{' is never closed\n",
    )
    followed = run("path", "gpu-s1-1", "gpu-s2-1", "-C", str(lab_copy))[1]
    problem = next(line for line in followed.split("\n") if "FAILS" in line).strip()
    assert out.read_text(encoding="utf-8").count(problem) == 4


@pytest.mark.parametrize("module, name", [("ailb_gen.forwarding.link_loads", "loads_of"), ("os", "fsync")])
def test_an_interrupt_leaves_no_part_of_a_picture(module: str, name: str, tmp_path: Path) -> None:
    """While loads are computed, and while the file is written: what was there stays."""
    out = tmp_path / "picture.svg"
    out.write_text("before")
    code = (
        f"import ailb_gen.cli as c, {module} as m, sys\n"
        "def stop(*words, **more): raise KeyboardInterrupt\n"
        f"m.{name} = stop\n"
        f"sys.argv = ['ailb-gen', 'draw', {FABRIC!r}, {TREE!r}, '-o', {str(out)!r}, '--load', 'ring']; c.main()"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stderr) == (130, "ailb-gen: interrupted\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("picture.svg", "before")]


WRONG = {
    ("-o", "x.png"): "-o x.png: unknown picture format; file names end in .svg, .dot, .mmd",
    ("-o", "x.svgg"): "-o x.svgg: unknown picture format; did you mean '.svg'?",
    ("-o", "x.svg", "--load", "al-to-all"): "--load 'al-to-all': unknown pattern; did you mean 'all-to-all'?",
    ("-o", "x.svg", "--load", "9"): "--load '9': unknown pattern; patterns: all-to-all, ring, permutation",
    ("-o", "x.svg", "--view", "rail"): "--view 'rail': write it as 'rail N'",
    ("-o", "x.svg", "--view", "devise", "spine1"): "--view 'devise': there is no such view; did you mean 'device'?",
    ("-o", "x.svg", "--view=", "spine1"): "--view '': there is no such view; views: fabric, rail N",
    ("-o", "x.svg", "--view", "device", "nobody"): "--view device 'nobody': the fabric has no such device; "
    "there are 12: stripe1-leaf1, stripe1-leaf2, stripe2-leaf1 and 9 more",
    ("-o", "x.svg", "--fail", "spine1:spine2"): "--fail 'spine1:spine2': there is no such cable or switch; "
    "did you mean 'spine1:et-0/0/2'?",
    ("-o", "x.svg", "--view", "path", "spine1", "gpu-s1-1"): "'spine1': this is a switch; name a server, or an address",
    ("-o", "x.svg", "--view", "path", "gpu-s1-1", "gpu-s9-1"): "there is no server called 'gpu-s9-1'",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_cannot_be_drawn_says_why_and_writes_nothing(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run("draw", FABRIC, TREE, *words), WRONG[words])
    assert list(tmp_path.iterdir()) == []


def test_inputs_are_never_written_to(tmp_path: Path) -> None:
    fabric = tmp_path / "fabric.svg"
    shutil.copy(FABRIC, fabric)
    code, _, error = run("draw", str(fabric), TREE, "-o", str(fabric))
    assert (code, error) == (2, f"ailb-gen: -o: {fabric} is an input of this command; name another file\n")


def test_a_place_that_cannot_be_written_is_an_error_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(draw(tmp_path / "file" / "picture.svg"), "cannot write the picture", code=3)


def test_damaged_lists_of_cables_are_named_and_what_is_left_is_drawn(lab_copy: Path, tmp_path: Path) -> None:
    (lab_copy / "cabling.csv").write_text("nonsense\n")
    out = tmp_path / "picture.svg"
    code, _, error = draw(out, tree=str(lab_copy))
    assert code == 0
    assert error.startswith("warning: cabling.csv:1:1: the first line must name the columns")
    assert out.read_text(encoding="utf-8").count('class="device') == 12


def test_switches_without_a_file_are_named_and_drawn(lab_copy: Path, tmp_path: Path) -> None:
    (lab_copy / "switches" / "spine2.conf").unlink()
    out = tmp_path / "picture.svg"
    told = "warning: spine2: this switch has no file; it is drawn as it is cabled\n"
    assert draw(out, tree=str(lab_copy)) == (0, "", told)
    text = out.read_text(encoding="utf-8")
    assert '<g class="device spine out" data-device="spine2"' in text
    assert 'aria-label="spine spine2, blue, no file"' in text and ">no usable file<" in text


def test_the_words_of_a_view_end_at_an_option() -> None:
    assert joined(["f", "--view", "rail", "0", "t"]) == ["f", "--view", "rail 0", "t"]
    assert joined(["--view=path", "a", "b", "f", "t"]) == ["--view", "path a b", "f", "t"]
    assert joined(["--view", "rail", "-o", "x"]) == ["--view", "rail", "-o", "x"]
    assert joined(["--view", "nonsense", "f"]) == ["--view", "nonsense", "f"]
    assert joined(["--view"]) == ["--view"]
