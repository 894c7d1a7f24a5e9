"""Read a scenario file into checked models, one per variant of its sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path as FilePath

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.scenario.models import UNWRITTEN_STEPS, BalancerPart, FailurePart, Scenario
from ailb_gen.sim.scenario.overrides import read_path, replaced, with_settings
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import problem_at, validated
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path, Source, dotted, read_yaml

MAX_VARIANTS = 10_000


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
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > MAX_VARIANTS:
        reason = f"these are {count:,} combinations; at most {MAX_VARIANTS:,} can be simulated"
        raise IntentError([Problem("out-of-range", source.locate(("sweep",)), "sweep", reason)])
    for chosen in product(*axes):
        swept = source
        for _, path, value, place in chosen:
            swept = replaced(swept, path, value, place)
        yield ", ".join(f"{key}={_text(value)}" for key, _, value, _ in chosen), swept


def _text(value: object) -> str:
    return value if isinstance(value, str) else f"{value}"


def checked(source: Source) -> Scenario:
    """Return the models of a scenario. Raises IntentError with everything that is wrong."""
    scenario = validated(Scenario, source, UNWRITTEN_STEPS)
    problems = [*_fabric(scenario, source), *balancer_problems(scenario.balancer, source, "balancer")]
    problems += [*_switches(scenario, source), *failure_problems(scenario.failures, source)]
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
        known = {one.name: one for one in BALANCERS[balancer.name].parameters}
        for name, value in balancer.parameters.items():
            path: Path = (*start, "parameters", name)
            if name not in known:
                hint = did_you_mean(name, known) or f"it has {', '.join(known) or 'none'}"
                yield problem_at(source, "unknown-key", path, f"{balancer.name} has no such parameter", hint)
            elif not known[name].least <= value <= known[name].most:
                reason = f"must be {known[name].least:g} to {known[name].most:g}, not {value:g}"
                yield problem_at(source, "out-of-range", path, reason)


def _switches(scenario: Scenario, source: Source) -> Iterator[Problem]:
    ecn = scenario.switches.ecn
    if ecn is not None and not isinstance(ecn, str) and ecn.min > ecn.max:
        yield problem_at(source, "conflict", ("switches", "ecn", "min"), "is more than 'max'")
    infinite = scenario.switches.shared_buffer in (None, "infinite") and scenario.fabric.clos is not None
    if scenario.switches.pfc and infinite:
        reason = "PFC needs a finite buffer; give 'shared_buffer', such as 9MiB"
        yield problem_at(source, "conflict", ("switches", "pfc"), reason)


def failure_problems(failures: Sequence[FailurePart], source: Source) -> Iterator[Problem]:
    """Yield the problems of the failures of a file."""
    for number, failure in enumerate(failures):
        path: Path = ("failures", number)
        if (failure.name is None) == (failure.random is None):
            yield problem_at(source, "conflict", path, "give either 'name' or 'random'")
        elif failure.back is not None and failure.back <= failure.at:
            yield problem_at(source, "conflict", (*path, "back"), "it must come back after it fails ('at')")
        elif failure.random is not None and failure.model_fields_set != {"random"}:
            yield problem_at(source, "conflict", path, "random failures hold from the start to the end")
