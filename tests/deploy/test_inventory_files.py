"""Golden errors of the inventory: bad files in `inventories/CASE/`, and the exact messages they give beside them.

`AILB_UPDATE_GOLDEN=1` renews the messages; read the diff.
"""

import os
import traceback
from pathlib import Path

import pytest

from ailb_gen.deploy.inventory import read_inventory
from ailb_gen.errors import IntentError
from tests.conftest import SMALL

CASES = Path(__file__).parent / "inventories"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """A small fabric."""
    path = tmp_path / "fabric.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_there_are_enough_cases() -> None:
    assert len(NAMES) >= 20


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_messages_are_exact(name: str, fabric: Path) -> None:
    with pytest.raises(IntentError) as caught:
        read_inventory(fabric, CASES / name)
    got = str(caught.value).replace(f"{CASES / name}{os.sep}", "") + "\n"
    expected = CASES / name / "expected.txt"
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
    assert got == expected.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_message_or_traceback_repeats_a_secret(name: str, fabric: Path) -> None:
    with pytest.raises(IntentError) as caught:
        read_inventory(fabric, CASES / name)
    shown = "".join(traceback.format_exception(caught.value))
    for word in ("hunter2", "never-shown", "12345678"):
        assert word not in shown


def test_a_folder_that_is_not_there(fabric: Path, tmp_path: Path) -> None:
    with pytest.raises(IntentError, match="there is no such directory"):
        read_inventory(fabric, tmp_path / "nowhere")


@pytest.mark.parametrize("kind", ["directory", "dangling", "fifo"])
def test_a_file_that_cannot_be_read(kind: str, fabric: Path, tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    if kind == "directory":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    else:
        os.mkfifo(path)
    with pytest.raises(IntentError, match=r"error\[unreadable\]: cannot read the file"):
        read_inventory(fabric, tmp_path)


def test_problems_of_all_files_are_told_at_once(fabric: Path, tmp_path: Path) -> None:
    for name in ("hosts", "groups", "defaults"):
        (tmp_path / f"{name}.yaml").write_text("wrong: {\n", encoding="utf-8")
    with pytest.raises(IntentError) as caught:
        read_inventory(fabric, tmp_path)
    assert {Path(problem.place.file).stem for problem in caught.value.problems} == {"hosts", "groups", "defaults"}


def test_an_unusable_fabric_is_told_as_such(fabric: Path, tmp_path: Path) -> None:
    fabric.write_text(f"{SMALL}management: {{leaves: 192.0.2.254/24}}\n", encoding="utf-8")
    with pytest.raises(IntentError, match=r"fabric\.yaml:7:.*pool-exhausted"):
        read_inventory(fabric, tmp_path)
