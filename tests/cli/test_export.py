"""`ailb-gen export`: options of jobs, and the exports that they go with."""

import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from ailb_gen.api.export import export, exports, kinds
from ailb_gen.cli.export import export as export_verb
from tests.cli.verbs import refused, run
from tests.conftest import EXAMPLES, SMALL, example
from tests.exports.inputs import KEY

LAB = str(EXAMPLES / "lab" / "fabric.yaml")
JVD = str(EXAMPLES / "jvd" / "fabric.yaml")
OPTIONS = sorted({option for kind in kinds().values() for option in kind.options})


@pytest.mark.parametrize(
    "name", [name for name, kind in kinds().items() if name == "topology" or "limit" in kind.options]
)
def test_without_options_the_text_is_that_of_python(name: str) -> None:
    assert run("export", name, JVD) == (0, export(example("jvd"), name), "")


def test_options_reach_the_job(tmp_path: Path) -> None:
    words = ["--limit", "h100-0[12]", "--limit", "!h100-02", "--test", "/opt/alltoall_perf", "--sizes", "1K-2K"]
    code, out, err = run("export", "slurm", JVD, *words, "--repeats", "2", "-o", str(tmp_path / "job.sh"))
    assert (code, out, err) == (0, "", "")
    script = (tmp_path / "job.sh").read_text(encoding="utf-8")
    assert "#SBATCH --nodelist=h100-01\n" in script
    assert "for run in 1 2; do\n" in script
    assert "/opt/alltoall_perf -b 1K -e 2K " in script
    assert 'image: "registry/nccl:1"\n' in run("export", "kubernetes", JVD, "--image", "registry/nccl:1")[1]


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_an_export_does_not_take_is_refused(option: str) -> None:
    flag = option.replace("_", "-")
    told = run("export", "cabling", JVD, f"--{flag}", *["1"] * (option != "qr"))
    takers = [name for name, kind in kinds().items() if option in kind.options]
    refused(told, f"--{flag} does not go with cabling; it goes with {', '.join(takers)}, all")


def test_every_option_is_that_of_an_export() -> None:
    common = {"ctx", "name", "fabric", "artifacts", "out", "list_all", "as_json"}
    assert set(signature(export_verb).parameters) - common == set(OPTIONS)


def test_options_reach_printed_exports(tmp_path: Path) -> None:
    lab = EXAMPLES / "lab"
    tables = ["--racks", str(lab / "racks.csv"), "--lengths", str(lab / "lengths.csv")]
    code, out, err = run("export", "bom", str(lab / "fabric.yaml"), *tables, "--spares", "50", "--media", "mmf")
    assert (code, err) == (0, "")
    assert 'cable,"multimode fiber cable, 400G",,,60,8,4,12\n' in out
    label = str(tmp_path / "labels.pdf")
    words = [*tables, "--sheet", "flag", "--qr", "-o", label]
    assert run("export", "cable-labels-pdf", str(lab / "fabric.yaml"), *words) == (0, "", "")
    assert Path(label).read_bytes().startswith(b"%PDF-")


def test_a_wrong_table_and_a_wrong_font_are_errors_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "racks.csv").write_text("device,rack,unit\nspine9,A1,1\n", encoding="utf-8")
    told = run("export", "racks", JVD, "--racks", str(tmp_path / "racks.csv"))
    refused(told, f"{tmp_path}/racks.csv:2:1: ", "the fabric has no device 'spine9'")
    before = (tmp_path / "racks.csv").read_bytes()
    told = run("export", "racks", JVD, "--racks", str(tmp_path / "racks.csv"), "-o", str(tmp_path / "racks.csv"))
    refused(told, f"-o: {tmp_path}/racks.csv is an input of this command; name another file")
    told = run("export", "all", JVD, "--racks", str(tmp_path / "racks.csv"), "-o", str(tmp_path))
    refused(told, f"-o: {tmp_path}/racks.csv, which is read, is in {tmp_path}, whose files are replaced")
    assert (tmp_path / "racks.csv").read_bytes() == before
    told = run("export", "racks-pdf", JVD, "--font", str(tmp_path / "racks.csv"))
    refused(told, "name a TrueType file (.ttf)")


def test_all_writes_a_folder_per_export_with_the_same_bytes(tmp_path: Path) -> None:
    code, out, err = run("export", "all", JVD, "-o", str(tmp_path / "exports"))
    assert (code, out) == (0, "")
    left_out = [line.split(" ")[0] for line in err.splitlines() if " not written: " in line]
    folders = {path.name for path in (tmp_path / "exports").iterdir() if path.is_dir()}
    assert folders == set(exports()) - set(left_out)
    assert (tmp_path / "exports/cabling/cabling.csv").read_text(encoding="utf-8") == export(example("jvd"), "cabling")


def test_all_leaves_no_file_of_an_older_run(tmp_path: Path) -> None:
    fabric, out = tmp_path / "fabric.yaml", tmp_path / "exports"
    managed = SMALL + "management: {leaves: 192.0.2.11/24, spines: 192.0.2.1/24}\n"
    words = ("export", "all", str(fabric), "-o", str(out), "--ssh-key", str(KEY))
    fabric.write_text(managed)
    assert run(*words)[0] == 0
    assert (out / "ztp/spine2.conf").exists()
    (out / "ztp/mine").write_text("kept")
    fabric.write_text(managed.replace("spines: 2", "spines: 1"))
    assert run(*words)[0] == 0
    assert sorted(path.name for path in (out / "ztp").glob("spine*")) == ["spine1.conf"]
    fabric.write_text(SMALL)
    code, _, err = run(*words)
    assert (code, "ztp not written: " in err) == (0, True)
    # Files of others stay.
    assert [path.name for path in (out / "ztp").iterdir()] == ["mine"]
    assert run("generate", str(fabric), "-o", str(out))[0] == 3


def test_all_replaces_no_folder_that_it_has_not_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("generate", LAB, "-o", str(out))[0] == 0
    assert refused_output(out) == "the directory is not empty and has no exports of ailb-gen; choose an empty one"
    (out / "manifest.json").unlink()
    assert refused_output(out) == "the directory is not empty and has no exports of ailb-gen; choose an empty one"
    assert run("export", "all", JVD, "-o", str(tmp_path / "jvd"))[0] == 0
    assert "the directory holds exports of the fabric 'jvd', and 'lab' would replace" in refused_output(
        tmp_path / "jvd"
    )


def refused_output(out: Path) -> str:
    """Return why exports are not written to a folder."""
    code, _, err = run("export", "all", LAB, "-o", str(out))
    assert code == 3
    return err.splitlines()[-1].partition(f"{out}: ")[2]


def test_all_needs_a_folder() -> None:
    refused(run("export", "all", JVD), "all writes a folder; name it with -o")


def test_a_kind_without_a_fabric_file_asks_for_that_alone() -> None:
    refused(run("export", "ansible"), "name the fabric file: ailb-gen export ansible FABRIC")


def test_the_list_says_who_reads_an_export() -> None:
    code, out, err = run("export", "--list")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "netbox-cables ailb-gen NetBox's import form for cables" in lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--limit", "h200*"], "--limit 'h200*': no device is called that"),
        (["--limit", ""], "--limit: an empty pattern"),
        (["--test", "iperf"], "--test 'iperf' is not a program of nccl-tests"),
        (["--sizes", "8MB"], "--sizes '8MB': write FROM-TO"),
        (["--repeats", "0"], "--repeats"),
    ],
)
def test_options_are_checked(words: list[str], message: str) -> None:
    refused(run("export", "mpirun", JVD, *words), message)


def test_the_name_of_an_export_is_checked_before_its_options() -> None:
    refused(run("export", "slrm", JVD, "--repeats", "2"), "there is no export 'slrm'; did you mean 'slurm'?")


def test_a_terminal_gets_no_pdf(tmp_path: Path) -> None:
    leader, follower = os.openpty()
    words = [sys.executable, "-m", "ailb_gen", "export", "racks-pdf", JVD]
    try:
        done = subprocess.run(
            words, stdout=follower, stderr=subprocess.PIPE, cwd=tmp_path, text=True, check=False, timeout=60
        )
    finally:
        os.close(follower)
        os.close(leader)
    assert (done.returncode, "name a file with -o" in done.stderr) == (2, True)
