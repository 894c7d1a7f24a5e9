"""`maintain --software` as its users call it: both spines, failures, and going on; over real SSH, with PyEZ."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from ailb_gen.emulator.faults import Fault
from tests.deploy.maintenance import CONTENT, IMAGE, NEW, Pod, write_image

OLD = "25.4R1.12-EVO"
SPINES = ("spine1", "spine2")


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return write_image(tmp_path)


def releases(pod: Pod) -> dict[str, str]:
    """What the devices run."""
    return {name: device.version for name, device in pod.fleet.devices.items() if device.version != OLD}


def test_both_spines_one_after_the_other(small_pod: Pod, image: Path) -> None:
    words = ("spines", "--software", str(image), "--sha256", sha256(CONTENT).hexdigest(), "--release", "25.4R2-EVO")
    ended = small_pod.maintain(*words)
    assert ended.code == 0, ended.err
    assert releases(small_pod) == dict.fromkeys(SPINES, NEW)
    assert small_pod.states() == dict.fromkeys(SPINES, "done")
    small_pod.assert_as_before()
    for name in SPINES:
        assert f"{name}: runs {NEW}, before {OLD}\n" in ended.out
    again = small_pod.maintain(*words)
    assert (again.code, again.out) == (
        0,
        "".join(f"{name}: nothing to do: it runs {NEW} already\n" for name in SPINES) + "Nothing to do.\n",
    )


def test_a_spine_that_comes_back_with_the_old_release_stops_all_and_can_be_resumed(small_pod: Pod, image: Path) -> None:
    small_pod.fleet.add_faults("spine1", Fault("old-release", "restart"))
    ended = small_pod.maintain("spines", "--software", str(image))
    assert ended.code == 5
    assert f"spine1: it runs {OLD} after the restart, not {NEW}" in ended.err
    assert "  spine2: not begun" in ended.err
    assert releases(small_pod) == {}
    assert small_pod.in_shutdown() == {"spine1"}
    small_pod.assert_told()
    # The record has the image and its digest: another file under its name is not installed.
    image.write_bytes(b"another file")
    refused = small_pod.maintain("--resume")
    assert refused.code == 2
    assert f"{image}: its SHA-256 is" in refused.err
    image.write_bytes(CONTENT)
    ended = small_pod.maintain("--resume")
    assert ended.code == 0, ended.err
    assert f"spine1: {IMAGE} is in /var/tmp already, with the same SHA-256\n" in ended.out
    assert releases(small_pod) == dict.fromkeys(SPINES, NEW)
    small_pod.assert_as_before()


def test_what_is_refused_before_anything_is_changed(small_pod: Pod, image: Path, tmp_path: Path) -> None:
    empty = tmp_path / f"empty-{IMAGE}"
    empty.touch()
    spaced = tmp_path / "an image.iso"
    spaced.write_bytes(CONTENT)
    plain = tmp_path / "image.iso"
    plain.write_bytes(CONTENT)
    digest = "0" * 64
    for words, message in (
        (["--software", str(tmp_path / "none.iso")], "the image cannot be read: No such file"),
        (["--software", str(tmp_path), "--release", NEW], "the image cannot be read: Is a directory"),
        (["--software", str(empty)], "the file is empty"),
        (["--software", str(spaced), "--release", NEW], "rename the file"),
        (["--software", str(plain)], "the name has no release; give it with --release"),
        (
            ["--software", str(image), "--release", "24.4R1-EVO"],
            f"by its name this is {NEW}, and --release is 24.4R1-EVO",
        ),
        (["--software", str(image), "--release", "newest"], "--release newest: this is no Junos release"),
        (["--software", str(image), "--sha256", "abc"], "--sha256 abc: a SHA-256 has 64 hexadecimal digits"),
        (["--software", str(image), "--sha256", digest], f"and --sha256 is {digest}; download it again"),
        (["--software", str(image), "--", "true"], "--software and a command behind '--': give one of them"),
        (
            ["--release", NEW, "--no-validate", "--", "true"],
            "--release, --no-validate: there is a command and no --software",
        ),
        ([], "there is no command; write it behind '--'"),
    ):
        ended = small_pod.maintain("spine1", *words)
        assert (ended.code, message in " ".join(ended.err.split())) == (2, True), (words, ended.err)
    small_pod.assert_as_before()
    assert small_pod.last() is None
