#!/bin/sh
# Emulate the switches of this fabric, deploy, verify, break a leaf by hand, find the drift, repair it.
# Usage: demo.sh DIRECTORY PYTHON (the directory is replaced)
set -eu
here=$(dirname "$0") out=$1 python=$2
say() { if [ -t 1 ]; then printf "\n\033[1m$ %s\033[0m\n" "$*"; else printf "\n$ %s\n" "$*"; fi; }
ailb() { say "ailb-gen $*"; "$python" -m ailb_gen "$@"; }

# Stop an emulator that an earlier run left behind.
[ ! -e "$out/emulator.json" ] || "$python" -m ailb_gen emulate --stop "$out" > /dev/null
rm -rf "$out"
mkdir -p "$out"
cp "$here/fabric.yaml" "$out/fabric.yaml"
AILB_PASSWORD=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
export AILB_PASSWORD

ailb generate "$out/fabric.yaml" -o "$out/generated"
trap '"$python" -m ailb_gen emulate --stop "$out" > /dev/null' EXIT
ailb emulate "$out/generated" --base-port "${AILB_PORT:-20830}" --inventory "$out" --daemon

ailb plan "$out/fabric.yaml" "$out/generated" --brief -o "$out/plan.json"
ailb deploy "$out/fabric.yaml" "$out/generated" --plan "$out/plan.json" --yes
ailb verify "$out/fabric.yaml" "$out/generated"

say "python break_leaf.py $out stripe1-leaf1"
"$python" "$here/break_leaf.py" "$out" stripe1-leaf1
code=0
ailb drift "$out/fabric.yaml" "$out/generated" || code=$?
[ "$code" = 1 ] || { echo "drift should have found something: exit code $code"; exit 1; }
code=0
ailb verify "$out/fabric.yaml" "$out/generated" || code=$?
[ "$code" = 1 ] || { echo "verify should have found something: exit code $code"; exit 1; }

ailb deploy "$out/fabric.yaml" "$out/generated" --yes
ailb drift "$out/fabric.yaml" "$out/generated"
ailb verify "$out/fabric.yaml" "$out/generated"

trap - EXIT
ailb emulate --stop "$out"
