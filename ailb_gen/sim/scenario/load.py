"""Read a scenario into checked models, one per variant of its sweep: a file, or the short form of the command line.

Values for paths, from `--set` and from `sweep`, are put into the data before it is checked.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path as FilePath
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem, UsageError
from ailb_gen.sim.balancers import BALANCERS, MOST, Parameter
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.scenario.models import (
    DCQCN,
    DCQCN_KEYS,
    UNWRITTEN_STEPS,
    BalancerPart,
    Congestion,
    EcnPart,
    FailurePart,
    Scenario,
)
from ailb_gen.sim.scenario.placement import SCATTERED
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import problem_at, validated
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path, Source, dotted, read_yaml

MAX_VARIANTS = 10_000
# Sections for which a name can stand.
NAMED = frozenset({"balancer", "transport", "congestion"})
# Where the parameters of load balancers and congestion control belong.
PARAMETER_HINTS = {
    one.name: f"it is a parameter: write 'parameters: {{{one.name}: ...}}'"
    for declared in (*(row.parameters for row in BALANCERS.values()), *(row.parameters for row in CONGESTION.values()))
    for one in declared
}
STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)((?:\[[0-9]{1,6}\])*)")


@dataclass(frozen=True, slots=True)
class Variant:
    """A scenario with one combination of what is swept; `name` says which, empty for the only one.

    `swept` is the part of the name that is not the load balancer's; empty where the scenario names none.
    """

    name: str
    scenario: Scenario
    source: Source
    swept: str = ""


def load(path: FilePath, words: Sequence[str] = ()) -> list[Variant]:
    """Read the scenario file at `path` with `--set` words. Raises IntentError, UsageError."""
    return parse(read_text(path, str(path)), str(path), words)


def parse(text: str, file: str, words: Sequence[str] = ()) -> list[Variant]:
    """Check the text of a scenario file. Raises IntentError with everything that is wrong, UsageError."""
    source = read_yaml(text, file)
    if not isinstance(source.data, dict):
        raise text_problem(file, "wrong-type", "the file must hold a mapping; start with 'fabric:' and 'traffic:'")
    if "traffic" not in source.data and {"spines", "stripes"} <= source.data.keys():
        reason = "this is a fabric file, not a scenario"
        hint = "name the directory of its generated files after it, and --bytes SIZE; or write a scenario"
        raise IntentError([Problem("wrong-type", Place(file), "", reason, hint)])
    return variants(with_settings(source, words))


def variants(source: Source) -> list[Variant]:
    """Check a scenario and every combination of its sweep. Raises IntentError, UsageError."""
    whole = checked(source)
    found: list[Variant] = []
    for name, swept in _combinations(source, whole):
        scenario = checked(swept) if name else whole
        named = [] if scenario.balancer else [Variant(name, scenario, swept)]
        for balancer in scenario.balancer:
            one = scenario.model_copy(update={"balancer": (balancer,)})
            words = [balancer_name(balancer, scenario.balancer), *([name] if name else [])]
            named.append(Variant(", ".join(words), one, swept, name))
        found += named
    return found


def balancer_name(balancer: BalancerPart, balancers: Sequence[BalancerPart]) -> str:
    """Return the name of a load balancer among others: with its parameters where several have its name."""
    twins = [one for one in balancers if one.name == balancer.name]
    parameters = [f"{key}={value:g}" for key, value in balancer.parameters.items()] if len(twins) > 1 else []
    return " ".join([balancer.name, *parameters])


def _combinations(source: Source, scenario: Scenario) -> Iterator[tuple[str, Source]]:
    """Yield every combination of values that are swept, with its name."""
    axes = []
    for key, values in scenario.sweep.items():
        where: Path = ("sweep", key)
        path = read_path(key, f"{source.locate(where)}: sweep")
        if not values or path[0] == "sweep":
            reason = "needs at least one value, and cannot be swept itself"
            raise IntentError([Problem("out-of-range", source.locate(where), dotted(where), reason)])
        axes.append([(key, path, value, source.locate((*where, n))) for n, value in enumerate(values)])
    count = prod(map(len, axes))
    if count > MAX_VARIANTS:
        reason = f"these are {count:,} combinations; at most {MAX_VARIANTS:,} can be simulated"
        raise IntentError([Problem("out-of-range", source.locate(("sweep",)), "sweep", reason)])
    for chosen in product(*axes):
        swept = source
        for _, path, value, place in chosen:
            swept = replaced(swept, path, value, place)
        yield ", ".join(f"{key}={value}" for key, _, value, _ in chosen), swept


def read_path(text: str, what: str) -> Path:
    """Read a path such as `traffic[0].load`; `what` names it in messages. Raises UsageError."""
    path: Path = ()
    for part in text.split("."):
        found = STEP.fullmatch(part)
        if found is None:
            raise UsageError(f"{what}: {text!r} is not a path; write keys and list indexes, such as traffic[0].load")
        path = (*path, found[1], *map(int, re.findall(r"[0-9]+", found[2])))
    return path


def with_settings(source: Source, words: Iterable[str]) -> Source:
    """Return a scenario with every `PATH=VALUE` put in; values are YAML. Raises UsageError, IntentError."""
    for word in words:
        name, equals, text = word.partition("=")
        what = f"--set {word}"
        if not equals:
            raise UsageError(f"{what}: write PATH=VALUE")
        value = read_yaml(text, what)
        path = read_path(name.strip(), what)
        source = replaced(source, path, value.data, Place(what, 0))
    return source


def replaced(source: Source, path: Path, value: object, place: Place) -> Source:
    """Return a source with another value at a path; mappings that lead there are made. Raises IntentError."""
    data = copy.deepcopy(source.data)
    parent = holder = data
    for depth, step in enumerate(path):
        here = path[:depth]
        if isinstance(holder, str) and here[0] in NAMED:
            # `transport: raw` is short for `transport: {name: raw}`.
            parent[path[depth - 1]] = holder = {"name": holder}
        if isinstance(step, int):
            count = len(holder) if isinstance(holder, list) else 0
            if step >= count:
                reason = f"there is no entry {step}: {dotted(here) or 'this'} has {count}, counted from 0"
                raise IntentError([Problem("out-of-range", place, dotted(path), reason)])
        elif not isinstance(holder, dict):
            reason = f"{dotted(here)} is not a mapping; replace all of it"
            raise IntentError([Problem("wrong-type", place, dotted(path), reason)])
        if depth + 1 == len(path):
            holder[step] = value
        else:
            if not isinstance(step, int) and holder.get(step) is None:
                if isinstance(path[depth + 1], int):
                    reason, hint = "there is no such list", did_you_mean(step, holder)
                    raise IntentError([Problem("unknown-key", place, dotted(path[: depth + 1]), reason, hint)])
                holder[step] = {}
            parent, holder = holder, holder[step]
    places = {known: where for known, where in source.places.items() if known[: len(path)] != path}
    # Keys above it that the file lacks have this place, too.
    for end in range(1, len(path) + 1):
        places.setdefault(path[:end], place)
    return Source(source.file, data, places)


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

    Ranks are scattered: in order, most neighbors of a ring share a leaf, and load balancers have little to do.
    `failed` are words such as `leaf1:et-0/0/0@2ms`. Errors name the options.
    """
    job: dict[str, Any] = {"kind": collective, "bytes": size}
    if queue_pairs is not None:
        job["queue_pairs"] = queue_pairs
    data: dict[str, Any] = {
        "name": f"{collective} of {size}",
        "fabric": {"files": {"fabric": str(fabric), "artifacts": str(artifacts)}},
        "traffic": [{"collective": job}],
        "placement": SCATTERED,
        "balancer": [name.strip() for name in balancers] if len(balancers) > 1 else balancers[0],
        "transport": "go-back-n",
        "congestion": "dcqcn",
        "failures": list(failed),
    }
    words: dict[Path, str] = {
        ("fabric",): f"{fabric} {artifacts}",
        ("traffic", 0, "collective", "kind"): f"--collective {collective}",
        ("traffic", 0, "collective", "bytes"): f"--bytes {size}",
        ("balancer",): f"--balancer {','.join(balancers)}",
        **{("failures", number): f"--fail {word}" for number, word in enumerate(failed)},
    }
    return Source("command line", data, {path: Place(word, 0) for path, word in words.items()})


def checked(source: Source) -> Scenario:
    """Return the models of a scenario. Raises IntentError with everything that is wrong."""
    scenario = validated(Scenario, source, UNWRITTEN_STEPS, PARAMETER_HINTS)
    problems = [*_fabric(scenario, source), *balancer_problems(scenario.balancer, source, "balancer")]
    problems += [*_switches(scenario, source), *_transport(scenario, source)]
    problems += [*congestion_problems(scenario.congestion, source), *failure_problems(scenario.failures, source)]
    if problems:
        raise IntentError(problems)
    return scenario


def _fabric(scenario: Scenario, source: Source) -> Iterator[Problem]:
    part = scenario.fabric
    if (part.files is None) == (part.clos is None):
        yield problem_at(source, "conflict", ("fabric",), "give the fabric either as 'files' or as 'clos'")
    elif part.clos is not None and len(part.clos.uplink_rate) not in (1, part.clos.spines):
        reason = f"{len(part.clos.uplink_rate)} rates for {part.clos.spines} spines; give one, or one per spine"
        yield problem_at(source, "wrong-count", ("fabric", "clos", "uplink_rate"), reason)


def balancer_problems(balancers: Sequence[BalancerPart], source: Source, key: str) -> Iterator[Problem]:
    """Yield the problems of the parameters of load balancers, one or a list, below a key of a file."""
    written = isinstance(source.data.get(key), list)
    for number, balancer in enumerate(balancers):
        start: Path = (key, number) if written else (key,)
        declared = BALANCERS[balancer.name].parameters
        yield from _parameter_problems(balancer.name, balancer.parameters, declared, source, start)


def congestion_problems(part: Congestion, source: Source) -> Iterator[Problem]:
    """Yield the problems of the parameters of a file's congestion control."""
    declared = CONGESTION[part.name].parameters
    yield from _parameter_problems(part.name, part.parameters, declared, source, ("congestion",))
    for name, key in DCQCN_KEYS.items():
        path: Path = ("congestion", key)
        if key not in part.model_fields_set:
            continue
        if part.name != "dcqcn":
            yield problem_at(source, "conflict", path, f"is a key of dcqcn, and 'name' is {part.name}")
        elif name in part.parameters:
            yield problem_at(source, "conflict", path, f"is given twice, also as 'parameters.{name}'")
        elif reason := _beyond(DCQCN[name], part.dcqcn[name]):
            yield problem_at(source, "out-of-range", path, reason)


def _parameter_problems(
    what: str, given: Mapping[str, float], declared: Sequence[Parameter], source: Source, start: Path
) -> Iterator[Problem]:
    """Yield the problems of given parameters of a load balancer or congestion control, by those that are declared."""
    known = {one.name: one for one in declared}
    for name, value in given.items():
        path: Path = (*start, "parameters", name)
        if name not in known:
            hint = did_you_mean(name, known) or f"it has {', '.join(known) or 'none'}"
            yield problem_at(source, "unknown-key", path, f"{what} has no such parameter", hint)
        elif reason := _beyond(known[name], value):
            yield problem_at(source, "out-of-range", path, reason)


def _beyond(parameter: Parameter, value: float) -> str:
    """Return why a value is beyond the bounds of a parameter; empty if it is not."""
    least, most, unit = parameter.least, parameter.most, parameter.unit and f" {parameter.unit}"
    if least <= value <= most:
        return ""
    allowed = f"at least {least:g}" if value < least and most == MOST else f"{least:g} to {most:,.10g}"
    return f"must be {allowed}{unit}, not {value:g}{unit}"


def _switches(scenario: Scenario, source: Source) -> Iterator[Problem]:
    start: Path = ("switches",)
    rows = scenario.switches.exceptions
    for part, path in ((scenario.switches, start), *((row, (*start, "exceptions", n)) for n, row in enumerate(rows))):
        if isinstance(part.ecn, EcnPart) and part.ecn.min > part.ecn.max:
            yield problem_at(source, "conflict", (*path, "ecn", "min"), "is more than 'max'")
    for number, row in enumerate(rows):
        yield from _parameter_problems(
            "DLB", row.parameters, BALANCERS["dlb"].parameters, source, (*start, "exceptions", number)
        )
    infinite = scenario.switches.shared_buffer in (None, "infinite") and scenario.fabric.clos is not None
    if scenario.switches.pfc and infinite:
        reason = "PFC needs a finite buffer; give 'shared_buffer', such as 9MiB"
        yield problem_at(source, "conflict", ("switches", "pfc"), reason)


def _transport(scenario: Scenario, source: Source) -> Iterator[Problem]:
    if scenario.transport.timeout_few is not None and scenario.transport.timeout is None:
        reason = "is for hosts with a fixed timeout; give 'timeout', too"
        yield problem_at(source, "conflict", ("transport", "timeout_few"), reason)
    if scenario.transport.name == "receiver-driven" and scenario.congestion.name != "none":
        reason = "credits of receivers say what is sent with the transport receiver-driven; leave it out"
        yield problem_at(source, "conflict", ("congestion",), reason)


def failure_problems(failures: Sequence[FailurePart], source: Source) -> Iterator[Problem]:
    """Yield the problems of the failures of a file."""
    for number, failure in enumerate(failures):
        path: Path = ("failures", number)
        share = isinstance(failure.random, float)
        if (failure.name is None) == (failure.random is None):
            yield problem_at(source, "conflict", path, "give either 'name' or 'random'")
        elif failure.back is not None and failure.back <= failure.at:
            yield problem_at(source, "conflict", (*path, "back"), "it must return after it fails ('at')")
        elif share and failure.model_fields_set != {"random"}:
            reason = "random failures last from the start to the end; a number, such as 5 links, has times"
            yield problem_at(source, "conflict", path, reason)
        elif failure.degraded is not None and failure.detection is not None:
            reason = "FIBs do not follow when a link is only degraded; leave it out, or 'rate', 'delay' and 'loss'"
            yield problem_at(source, "conflict", (*path, "detection"), reason)
        elif failure.rate == 1:
            reason = "must be below 100%, the share of the rate that is left"
            yield problem_at(source, "out-of-range", (*path, "rate"), reason)
