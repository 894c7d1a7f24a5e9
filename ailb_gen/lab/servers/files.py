"""The files of a server of a lab: those of its profile, and the units that netplan generates from them.

Servers share everything that is read: a copy of the machine's /etc without what configures its network, and the files
of a profile, which are made once and copied in by each server. Small programs replace what needs a running systemd.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ailb_gen.errors import LabError
from ailb_gen.hosts.model import ServerProfile
from ailb_gen.lab import run_directory
from ailb_gen.lab.namespaces import output
from ailb_gen.layout import DROP_INS, NETPLAN_FOLDER
from ailb_gen.shipped import template

# Below the private /run of a lab.
BASE = run_directory.inside("lab/servers")
# The keys and the configuration of the servers' sshd; a server has its own copy.
SSH = run_directory.inside("lab/ssh")
# Network configuration of the host machine; none of it may reach a server of the lab.
NOT_SHARED = (NETPLAN_FOLDER, DROP_INS, "etc/sysctl.d", "etc/iproute2/rt_tables.d", "etc/systemd/system", "etc/ailb")
# Permissions by place, as a push sets them: netplan warns about files that others can read.
MODES = ((f"{NETPLAN_FOLDER}/", 0o600), ("usr/local/sbin/", 0o755))
# As its package has it; servers of a lab have another program of that name before it.
NETPLAN = Path("/usr/sbin/netplan")
UNITS = "etc/systemd/system"
NETWORKD_UNITS = "run/systemd/network"
# A veth has no permanent address, by which networkd looks for a NIC that netplan matches by its MAC address.
BY_MAC, BY_NAME = "PermanentMACAddress=", "Name="

# A push calls `netplan apply`, `systemctl` and `systemd-run` on servers that have netplan. There is networkd here and
# nothing else of systemd: these programs do with it what systemd would.
NETWORKD = Path("/lib/systemd/systemd-networkd")
# Keeps the number of networkd's process; what follows becomes networkd.
NETWORKD_PID = "/run/ailb-networkd.pid"
START_NETWORKD = f"echo $$ >{NETWORKD_PID}; exec {NETWORKD}"
# By their names, the templates of the programs.
PROGRAMS = {"netplan": "netplan.sh.j2", "systemd-run": "systemd-run.sh", "systemctl": "systemctl.sh"}


def share_etc() -> Path:
    """Copy the machine's /etc for the servers, without its network configuration; returns the folder.

    Files that may not be read, as without root, are left out. Raises LabError.
    """
    etc = BASE / "shared/etc"
    etc.parent.mkdir(parents=True, exist_ok=True)
    # cp continues after unreadable files, and reports them by its exit code.
    with suppress(LabError):
        output("", ("cp", "-a", "/etc", str(etc)))
    if not (etc / "passwd").is_file():
        raise LabError(f"/etc cannot be copied to {etc}")
    for path in NOT_SHARED:
        folder = etc.parent / path
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o755)
    return etc


def stage(artifacts: Path, profile: ServerProfile, number: int) -> Path:
    """Copy the files of a profile as a push would put them in place; returns the folder. Raises LabError."""
    source, folder = artifacts / profile.folder, BASE / f"profiles/{number}"
    known = (path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
    for path in sorted(path for path in known if path.startswith(("etc/", "usr/local/sbin/"))):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source / path, target)
        except OSError as error:
            raise LabError(f"{source / path}: cannot be copied: {error.strerror}") from error
        target.chmod(next((mode for place, mode in MODES if path.startswith(place)), 0o644))
    for unit, wanted_by in _enabled(profile):
        link = folder / f"{UNITS}/{wanted_by}.wants/{Path(unit).name}"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"/{unit}")
    for top in ("etc", "usr/local/sbin"):
        (folder / top).mkdir(parents=True, exist_ok=True)
    return folder


def _enabled(profile: ServerProfile) -> Iterator[tuple[str, str]]:
    for unit, settings in profile.units.items():
        for setting in settings:
            if unit in profile.files and (setting.section, setting.key) == ("Install", "WantedBy"):
                yield from ((unit, target) for target in str(setting.value).split())


def generate(folder: Path) -> str:
    """Run `netplan generate` on staged files, for networkd; returns its complaint, empty for none."""
    try:
        output("", (str(NETPLAN), "generate", "--root-dir", str(folder)))
    except LabError as error:
        return str(error)
    for unit in sorted((folder / NETWORKD_UNITS).glob("*.network")):
        lines = unit.read_text(encoding="utf-8").splitlines(keepends=True)
        if any(line.startswith(BY_NAME) for line in lines):
            unit.write_text("".join(line for line in lines if not line.startswith(BY_MAC)), encoding="utf-8")
    return ""


def install_stand_ins(folder: Path) -> None:
    """Write the programs that replace those which need a running systemd to a folder."""
    values = {
        "netplan": NETPLAN,
        "units": NETWORKD_UNITS,
        "by_name": BY_NAME,
        "by_mac": BY_MAC,
        "pid_file": NETWORKD_PID,
        "start_networkd": START_NETWORKD,
    }
    for name, file in PROGRAMS.items():
        (folder / name).write_text(template("lab", file).render(values), encoding="utf-8")
        (folder / name).chmod(0o755)
