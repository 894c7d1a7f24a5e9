"""Releases and images by their names, and an image as it is read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.deploy.junos_release import package_of, read_image, same_release
from ailb_gen.errors import UsageError

BASES = st.builds(
    "{}.{}{}{}{}".format,
    st.integers(15, 30),
    st.integers(1, 4),
    st.sampled_from("RX"),
    st.integers(1, 90),
    st.sampled_from(["", "-S1", "-S12", "-D10"]),
)
SYSTEMS = st.sampled_from(["", "-EVO"])


@given(BASES, st.integers(1, 99), SYSTEMS)
def test_a_release_without_a_build_fits_every_build(base: str, build: int, system: str) -> None:
    whole = f"{base}.{build}{system}"
    assert same_release(f"{base}{system}", whole)
    assert same_release(whole, whole)
    assert not same_release(whole, f"{base}.{build + 1}{system}")
    # A device without one does not say that it is this build.
    assert not same_release(whole, f"{base}{system}")
    assert not same_release(f"{base}{system}", f"{base}.{build}{'' if system else '-EVO'}")


@given(BASES, BASES, st.integers(1, 99), SYSTEMS)
def test_other_releases_are_others(base: str, other: str, build: int, system: str) -> None:
    assert same_release(f"{base}{system}", f"{other}.{build}{system}") == (base == other)


@given(st.sampled_from(["junos-evo-install-qfx-ms-x86-64", "jinstall-ppc"]), BASES, st.integers(1, 99), SYSTEMS)
def test_the_parts_of_a_name(family: str, base: str, build: int, system: str) -> None:
    release = f"{base}.{build}{system}"
    for end in ("", ".iso", ".tgz", "-signed.tgz", "-secure-signed.tgz"):
        assert package_of(f"{family}-{release}{end}") == (family, release)


@pytest.mark.parametrize(
    ("name", "family", "release"),
    [
        (
            "junos-evo-install-ptx-fixed-x86-64-22.3R1-S1.4-EVO.iso",
            "junos-evo-install-ptx-fixed-x86-64",
            "22.3R1-S1.4-EVO",
        ),
        ("jinstall-host-qfx-5e-x86-64-23.4R2-S7.7-secure-signed.tgz", "jinstall-host-qfx-5e-x86-64", "23.4R2-S7.7"),
        ("jinstall-ppc-18.4R3-S10-signed.tgz", "jinstall-ppc", "18.4R3-S10"),
        ("junos-arm-32-20.4R3.8.tgz", "junos-arm-32", "20.4R3.8"),
        ("junos-evo-install-ptx-fixed-x86-64-20.2I20190814154306-EVO", "", ""),
        ("os-libs-12-x86-64-20230111", "", ""),
        ("fabric.yaml", "", ""),
        ("", "", ""),
    ],
)
def test_names_that_juniper_gives(name: str, family: str, release: str) -> None:
    assert package_of(name) == (family, release)


def test_an_image(tmp_path: Path) -> None:
    path = tmp_path / "junos-evo-install-qfx-ms-x86-64-25.4R2.1-EVO.iso"
    path.write_bytes(b"x" * 3_000_000)
    read: list[int] = []
    found = read_image(path, "", "", read.append)
    assert (found.size, found.release, found.name) == (sum(read), "25.4R2.1-EVO", path.name)
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    assert read_image(path, found.sha256.upper(), "25.4R2-EVO").release == "25.4R2-EVO"
    renamed = path.rename(tmp_path / f"-{path.name}")
    with pytest.raises(UsageError, match="rename the file"):
        read_image(renamed, "", "")
