"""Small programs of a server of a lab that replace those which need a running systemd.

A push calls `netplan apply`, `systemctl` and `systemd-run` on servers that have netplan. There is networkd here and
nothing else of systemd: these programs do with it what systemd would.
"""

from __future__ import annotations

from pathlib import Path

from ailb_gen.lab.servers.files import BY_MAC, BY_NAME, NETPLAN, NETWORKD_UNITS

NETWORKD = Path("/lib/systemd/systemd-networkd")
# Keeps the number of networkd's process; what follows becomes networkd.
NETWORKD_PID = "/run/ailb-networkd.pid"
START_NETWORKD = f"echo $$ >{NETWORKD_PID}; exec {NETWORKD}"
NETPLAN_TEXT = f"""\
#!/bin/sh
# netplan on a server of a lab: `apply` starts networkd again with what the real netplan generates.
set -eu
[ "${{1:-}}" = apply ] || exec {NETPLAN} "$@"
rm -f /{NETWORKD_UNITS}/*
{NETPLAN} generate
# A veth has no permanent address: its NIC is found by name.
for unit in /{NETWORKD_UNITS}/*.network; do
    ! grep -q '^{BY_NAME}' "$unit" || sed -i '/^{BY_MAC}/d' "$unit"
done
old=$(cat {NETWORKD_PID})
kill "$old" 2>/dev/null || :
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q '^State:[[:space:]]*[^Z]' "/proc/$old/status" 2>/dev/null || break
    sleep 0.2
done
setsid sh -c '{START_NETWORKD}' </dev/null >/dev/null 2>&1 9>&- &
"""
SYSTEMD_RUN_TEXT = """\
#!/bin/sh
# systemd-run on a server of a lab: a program that starts after some seconds, as the timer of a unit.
set -eu
seconds=0 unit=run
while :; do
    case ${1:-} in
    --on-active=*) seconds=${1#*=} seconds=${seconds%s} ;;
    --unit=*) unit=${1#*=} ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
setsid sh -c 'echo $$ >"/run/ailb-timer-$1.pid"; sleep "$2"; rm -f "/run/ailb-timer-$1.pid"; shift 2; exec "$@"' \\
    sh "$unit" "$seconds" "$@" </dev/null >/dev/null 2>&1 9>&- &
"""
SYSTEMCTL_TEXT = """\
#!/bin/sh
# systemctl on a server of a lab: there are no units but the timers of systemd-run.
set -eu
for word; do
    case $word in
    *.timer)
        timer=/run/ailb-timer-${word%.timer}.pid
        [ ! -f "$timer" ] || { pid=$(cat "$timer") && rm -f "$timer" && kill -- "-$pid"; }
        ;;
    esac
done
"""
PROGRAMS = {"netplan": NETPLAN_TEXT, "systemd-run": SYSTEMD_RUN_TEXT, "systemctl": SYSTEMCTL_TEXT}


def install(folder: Path) -> None:
    """Write the programs to a folder."""
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
