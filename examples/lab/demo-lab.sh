#!/bin/sh
# Run this fabric in network namespaces: check it, send traffic, fail a link, deploy a change, and end it.
# Usage: demo-lab.sh DIRECTORY PYTHON (the directory is replaced)
set -eu
here=$(dirname "$0") out=$1 python=$2
say() { if [ -t 1 ]; then printf "\n\033[1m$ %s\033[0m\n" "$*"; else printf "\n$ %s\n" "$*"; fi; }
ailb() { say "ailb-gen $*"; "$python" -m ailb_gen "$@"; }
lab() { verb=$1; shift; ailb lab "$verb" --lab demo-lab "$@"; }

"$python" -m ailb_gen lab down demo-lab > /dev/null
rm -rf "$out"
mkdir -p "$out"
cp "$here/fabric.yaml" "$out/fabric.yaml"

ailb generate "$out/fabric.yaml" -o "$out/generated"
trap '"$python" -m ailb_gen lab down demo-lab > /dev/null' EXIT
lab up "$out/fabric.yaml" "$out/generated" --inventory "$out"
lab check

# A queue pair per color: every uplink carries the same. Next to it ECMP, which hashes as many flows.
lab traffic --count 1000 --compare

# The packets of the failed link's color go over the other three.
lab fail stripe1-leaf1:et-0/0/0
lab traffic --count 1000
lab repair

# A change: faster BFD, pushed into the running lab.
say "sed -i s/interval_ms: 300/interval_ms: 200/ $out/fabric.yaml"
sed -i 's/interval_ms: 300/interval_ms: 200/' "$out/fabric.yaml"
ailb generate "$out/fabric.yaml" -o "$out/generated"
ailb deploy "$out/fabric.yaml" "$out/generated" -i "$out" --limit switches --yes
lab check --no-faults
lab status
trap - EXIT
ailb lab down demo-lab
program=$(dirname "$python")/ailb-gen
printf "\nTo start it again, and to keep it:\n"
echo "$program lab up $out/fabric.yaml $out/generated --lab demo-lab --inventory $out"
