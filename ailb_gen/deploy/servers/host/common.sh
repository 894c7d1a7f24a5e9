# shellcheck shell=sh
# ailb-stage: puts the network files of a server in place, and back. Part of ailb-gen; runs as root on the server.
#
# The sender appends the line that calls main: over SSH a call with its data, in the copy that stays on the host
# `main "$@"`. What is under $base:
#
#   lock          held by whoever changes something
#   pending       link to the run that is neither confirmed nor restored
#   current       link to the run whose files were confirmed last
#   runs/RUN/     agent (this script), paths, tree (new files), backup (old files), sysctl (old values), deadline,
#                 folders (made for the new files), log; links: state, previous, touched
#
# States: armed (backup is complete, nothing has changed), moving, applied, confirmed; restoring, restored.
# They are the targets of a link, not the content of a file: a link is replaced in one step and needs no block
# of a full disk. The old files stay beside the new ones under another name until the end for the same reason.
#
# Exit codes: 0 done; 10 another run is pending; 11 locked; 12 too late, the run was restored; 13 failed, the old
# files are back; 14 bad data; 15 something is missing on the host; 16 failed, the old files are not all back.
set -eu
umask 077
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
base=/var/lib/ailb-gen
boot_unit=/etc/systemd/system/ailb-gen-restore.service
boot_link_folder=/etc/systemd/system/multi-user.target.wants
boot_link=$boot_link_folder/ailb-gen-restore.service
kept_runs=10

# The other end may be gone: what is said gets lost then, what is done does not.
say() {
    echo "ailb-stage: $*" >&2 || :
}

die() { # exit code, text
    code=$1
    shift
    say "$@"
    exit "$code"
}

warn() {
    echo "warning: $*" >&2 || :
    note "warning: $*"
}

note() { # the log is for people; a full disk does not stop a restore
    echo "$(date -u +%FT%TZ) $*" 2>/dev/null >>"$dir/log" || :
}

need() {
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || die 15 "the program $tool is not installed"
    done
}

there() {
    [ -e "$1" ] || [ -L "$1" ]
}

alike() { # two paths: both there, of one kind, owner, mode and content
    there "$1" && there "$2" || return 1
    [ "$(stat -c '%F %a %u %g' -- "$1")" = "$(stat -c '%F %a %u %g' -- "$2")" ] || return 1
    if [ -L "$1" ]; then [ "$(readlink -- "$1")" = "$(readlink -- "$2")" ]; else cmp -s -- "$1" "$2"; fi
}

link() { # target, name: in one step, whatever was there
    ln -sfn -- "$1" "$2.new"
    mv -fT -- "$2.new" "$2"
}

lock() { # seconds
    { mkdir -p "$base/runs" && chmod 700 "$base" && touch "$base/lock"; } || die 15 "$base cannot be written"
    exec 9>"$base/lock"
    flock -w "$1" 9 || die 11 "another push works on this host"
}

use() { # run
    run=$1 dir=$base/runs/$1
}

state() {
    readlink "$dir/state" || echo unknown
}

mark() {
    link "$1" "$dir/state"
    note "$1"
}

name_of() { # link to a run
    there "$1" || return 0
    basename "$(readlink "$1")"
}

uptime_s() {
    cut -d. -f1 /proc/uptime
}

# After a reboot nobody watches the run any more.
remaining() {
    if read -r boot until <"$dir/deadline" && [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ]; then
        left=$((until - $(uptime_s)))
        [ "$left" -le 0 ] || { echo "$left" && return; }
    fi 2>/dev/null
    echo 0
}

with_systemd() {
    [ -d /run/systemd/system ]
}

with_netplan() {
    [ -x /usr/sbin/netplan ]
}

way() {
    if with_netplan && with_systemd; then echo netplan; else echo ailb-net; fi
}

beside() { # path, suffix: the hidden name beside a file
    echo "/$(dirname "$1")/.$(basename "$1").$2"
}

make_folder() {
    [ ! -d "/$1" ] || return 0
    case $1 in */*) make_folder "${1%/*}" ;; esac
    echo "$1" >>"$dir/folders"
    mkdir -m 755 "/$1"
}
