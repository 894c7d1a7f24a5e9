"""The scenario of the short form of `ailb-gen simulate`: one collective on the files of a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

from ailb_gen.errors import Place
from ailb_gen.yamlio import Path, Source


def short_scenario(
    fabric: FilePath,
    artifacts: FilePath,
    collective: str,
    size: str,
    balancers: Sequence[str],
    failed: Sequence[str],
    queue_pairs: int | None,
) -> Source:
    """Return the scenario of a collective over all NICs, with the usual RoCE of hosts: go-back-N and DCQCN.

    `failed` are words such as `leaf1:et-0/0/0@2ms`. Errors name the options.
    """
    job: dict[str, Any] = {"kind": collective, "bytes": size}
    if queue_pairs is not None:
        job["queue_pairs"] = queue_pairs
    failures = [_failure(word) for word in failed]
    data: dict[str, Any] = {
        "name": f"{collective} of {size}",
        "fabric": {"files": {"fabric": str(fabric), "artifacts": str(artifacts)}},
        "traffic": [{"collective": job}],
        "balancer": [name.strip() for name in balancers] if len(balancers) > 1 else balancers[0],
        "transport": "go-back-n",
        "congestion": "dcqcn",
        "failures": failures,
    }
    words: dict[Path, str] = {
        ("fabric",): f"{fabric} {artifacts}",
        ("traffic", 0, "collective", "kind"): f"--collective {collective}",
        ("traffic", 0, "collective", "bytes"): f"--bytes {size}",
        ("balancer",): f"--balancer {','.join(balancers)}",
        **{("failures", number): f"--fail {word}" for number, word in enumerate(failed)},
    }
    return Source("command line", data, {path: Place(word, 0) for path, word in words.items()})


def _failure(word: str) -> dict[str, Any]:
    name, at, time = word.partition("@")
    return {"name": name, **({"at": time} if at else {})}
