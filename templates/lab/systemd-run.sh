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
setsid sh -c 'echo $$ >"/run/ailb-timer-$1.pid"; sleep "$2"; rm -f "/run/ailb-timer-$1.pid"; shift 2; exec "$@"' \
    sh "$unit" "$seconds" "$@" </dev/null >/dev/null 2>&1 9>&- &
