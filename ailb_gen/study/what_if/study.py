"""The cost of load balancers and failures for a training job: the study of a user's own file.

Its scenarios are one per load balancer and failure, scaled down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path as FilePath
from typing import Any

from ailb_gen.errors import Place, UsageError
from ailb_gen.intent.load import Intent
from ailb_gen.progress import Progress, quiet
from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.sim.scenario.load import balancer_name
from ailb_gen.sim.scenario.models import FailurePart
from ailb_gen.sim.scenario.traffic import Parallelism
from ailb_gen.study.model import Case, CaseResults, Figure, Study, StudyOptions, Summary
from ailb_gen.study.reliability.page import Outlook
from ailb_gen.study.what_if.job import COUNTS, SIZES, TIMES, Amounts, alone_ps, amounts, time_text
from ailb_gen.study.what_if.load import Question, load
from ailb_gen.study.what_if.models import WhatIf
from ailb_gen.study.what_if.months import ComparedFabric, MonthsReading
from ailb_gen.study.what_if.summary import JOB, NO_FAILURE, WhatIfCosts
from ailb_gen.study.what_if.text import text_of
from ailb_gen.wording import counted
from ailb_gen.yamlio import Path, Source

# In --quick: load balancers and failures; months are left out.
BALANCERS, FAILURES = 2, 1
# The fabric that is generated where the file names no artifacts.
GENERATED = "fabric"
LEAST_TIMEOUT_PS = 100 * PS_PER_US
# Times of congestion control, queues and delays are as on the real fabric.
AS_WRITTEN = ("packets", "switches", "transport", "congestion", "nics")
ReadOutlook = Callable[[CaseResults], Outlook]


def what_if(options: StudyOptions) -> Study:
    """Return the study of a file. Raises IntentError with all that is wrong in it, UsageError without one."""
    if options.file is None:
        raise UsageError(
            "what-if needs a file with the fabric, the job, load balancers and failures, such as "
            "examples/study/jvd.yaml"
        )
    question = load(options.file)
    if options.quick:
        file = question.what_if
        part = {"balancers": file.balancers[:BALANCERS], "failures": file.failures[:FAILURES], "reliability": None}
        question = replace(question, what_if=file.model_copy(update=part), compared=())
    seeds = list(question.what_if.seeds) if options.seeds is None else list(range(1, options.seeds + 1))
    few = options.quick and options.seeds is None
    return study_of(question, seeds[:1] if few else seeds, options.progress)


def study_of(question: Question, seeds: list[int], progress: Progress = quiet) -> Study:
    """Return the study of a checked file."""
    file = question.what_if
    found = list(scenarios(question, seeds))
    names = {(balancer, failure): f"{balancer}, {failure}" for balancer, failure, _ in found}
    reading = WhatIfCosts(names, file.scale, alone_ps(file.job, amounts(file.job)), file.level == "packet")
    places = {failure: _places(question.source, number) for number, failure in enumerate(failures_of(file), -1)}
    generated: dict[str, str | FilePath | Intent] = {}
    if file.artifacts is None:
        generated[GENERATED] = question.folder / file.fabric
    generated |= {_generated(one): one.intent for one in question.compared if one.intent is not None}
    cases = [
        Case(names[balancer, failure], scenario, chart=(f"failure: {failure}", balancer), places=places[failure])
        for balancer, failure, scenario in found
    ]
    outlook = None
    if file.reliability is not None:
        more, index = months_cases(question, seeds, names)
        cases += more
        balancers = list(dict.fromkeys(balancer for balancer, _ in names))
        months = MonthsReading(file.reliability, question.compared, balancers, index, reading.speed, progress)
        # Page, record, figures and table of the same results compute it once.
        outlook = lru_cache(maxsize=1)(months.outlook)
    return Study(
        name="what-if",
        title=f"What if: {file.name or question.design.name}",
        source=f"`{question.source.file}`",
        text=text_of(question),
        cases=cases,
        quantities=(),
        published=(),
        figures=partial(figures_of, reading, outlook),
        intents=generated,
        folder=question.folder,
        summary=partial(summary_of, reading, outlook),
        chart_note=f"Times are those of the simulation; those of the job are {file.scale:,} times as long."
        if file.scale > 1
        else "",
    )


def _places(source: Source, failure: int) -> dict[Path, Place]:
    """Return where the file has the parts of a scenario with one of its failures."""
    found = {path: place for path, place in source.places.items() if path and path[0] in AS_WRITTEN}
    own = ("failures", failure)
    return found | {("failures", 0, *path[2:]): place for path, place in source.places.items() if path[:2] == own}


def summary_of(reading: WhatIfCosts, outlook: ReadOutlook | None, results: CaseResults) -> Summary:
    """Return tables and conclusions."""
    summary = reading.summary(results)
    if outlook is None:
        return summary
    found = outlook(results)
    return Summary(summary.table, [*summary.conclusions, *found.conclusions()], list(found.tables()))


def figures_of(reading: WhatIfCosts, outlook: ReadOutlook | None, results: CaseResults) -> Sequence[Figure]:
    """Return the figures."""
    found = None if outlook is None else outlook(results)
    return [*reading.figures(results), *([found.figure()] if found is not None and found.shares else ())]


def months_cases(
    question: Question, seeds: list[int], names: Mapping[tuple[str, str], str]
) -> tuple[list[Case], dict[tuple[int, str, str, int], str]]:
    """Return the cases about months, and the names of all by spines, load balancer, what is down and how many.

    Those without failures on the fabric of the file are there already, by the `names` of balancers and failures.
    """
    cases, index = [], {}
    base = _base(question) | {"seeds": seeds}
    for one in question.compared:
        spines = one.fabric.spines
        files = {} if one.intent is None else {"fabric": _files(question.what_if, _generated(one))}
        for balancer, chosen in _chosen(question.what_if):
            for what, down in one.states:
                name = names[balancer, NO_FAILURE]
                if down or one.intent is not None:
                    group = f"{counted(spines, 'spine')}, {f'{counted(down, what)} down' if down else 'none down'}"
                    name = f"{balancer}, {group}"
                    scenario = base | files | chosen | {"failures": one.failures(what, down)}
                    cases.append(Case(name, scenario, chart=(group, balancer), may_be_cut=True))
                index[spines, balancer, what, down] = name
    return cases, index


def _generated(one: ComparedFabric) -> str:
    """Return the name of the files of a fabric that is not the one of the what-if file."""
    return f"{GENERATED}-{one.fabric.spines}"


def _chosen(what_if: WhatIf) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of every load balancer, and what a scenario has of it."""
    for balancer in what_if.balancers:
        name = balancer_name(balancer, what_if.balancers)
        yield name, {"balancer": {"name": balancer.name, "parameters": dict(balancer.parameters)}}


def failures_of(what_if: WhatIf) -> dict[str, FailurePart | None]:
    """Return the failures by name, first that there is none."""
    return {NO_FAILURE: None} | {failure_name(failure): failure for failure in what_if.failures}


def failure_name(failure: FailurePart) -> str:
    """Return the name of a failure."""
    if isinstance(failure.random, float):
        return f"{failure.random * 100:g} % of cables"
    name = failure.name
    if failure.random is not None:
        name = f"{failure.random} link{'s' if failure.random > 1 else ''}"
    at = f" at {time_text(failure.at)}" if failure.at else ""
    back = f" to {time_text(failure.back)}" if failure.back else ""
    seen = "" if failure.detection is None else f", detected after {time_text(failure.detection)}"
    rate = "" if failure.rate is None else f", {failure.rate * 100:g} % of the rate"
    delay = "" if failure.delay is None else f", {time_text(failure.delay)} later"
    loss = "" if failure.loss is None else f", {failure.loss * 100:g} % loss"
    return f"{name}{at}{back}{seen}{rate}{delay}{loss}"


def scenarios(question: Question, seeds: list[int]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield load balancer, failure and scenario of every case."""
    what_if = question.what_if
    base = _base(question) | {"seeds": seeds}
    for name, chosen in _chosen(what_if):
        for failed, failure in failures_of(what_if).items():
            part = {} if failure is None else {"failures": [_scaled(failure, what_if.scale)]}
            yield name, failed, base | chosen | part


def _base(question: Question) -> dict[str, Any]:
    what_if = question.what_if
    until = {} if what_if.until is None else {"until": _ps(what_if.until // what_if.scale)}
    written = {name: question.source.data[name] for name in AS_WRITTEN if name in question.source.data}
    transport = written.get("transport", {})
    named = {"name": transport} if isinstance(transport, str) else dict(transport)
    return {
        "fabric": _files(what_if, GENERATED),
        "traffic": [{JOB: _training(question, amounts(what_if.job).scaled(what_if.scale))}],
        "level": what_if.level,
        **{"congestion": "dcqcn", **written},
        "transport": named | _timeouts(what_if),
        **until,
    }


def _files(what_if: WhatIf, generated: str) -> dict[str, Any]:
    """Return the files of a fabric as scenarios have them: those in `artifacts`, else those that are generated."""
    files = {"artifacts": f"{generated}/files"}
    if what_if.artifacts is not None:
        files = {"fabric": what_if.fabric, "artifacts": what_if.artifacts}
    return {"files": {**files, "delay": _ps(what_if.delay)}}


def _timeouts(what_if: WhatIf) -> dict[str, str]:
    """Return the timeouts of the hosts, divided as well, but long enough for round trips through full queues."""
    part = what_if.transport
    given = {"timeout": part.timeout, "timeout_few": part.timeout_few}
    return {
        name: _ps(max(ps // what_if.scale, min(ps, LEAST_TIMEOUT_PS)))
        for name, ps in given.items()
        if ps is not None and what_if.scale > 1
    }


def _training(question: Question, small: Amounts) -> dict[str, Any]:
    job = question.what_if.job
    model, gpu, nics = job.model, job.gpu, question.server_size
    nvlink = {} if gpu is None or gpu.nvlink is None else {"nvlink": _bps(gpu.nvlink), "nvls": gpu.nvls}
    domain = None if gpu is None else gpu.domain
    optional = {
        "gpu": None if gpu is None else gpu.generation,
        "queue_pairs": job.queue_pairs,
        "per_server": domain,
        "experts": None if model is None else model.experts,
        "expert_capacity": job.expert_capacity,
    }
    return {
        **{name: getattr(job, name) for name in Parallelism.model_fields if name not in optional},
        "placement": job.placement,
        "split": job.split,
        **{name: _ps(getattr(small, name)) for name in TIMES},
        **{name: getattr(small, name) for name in (*SIZES, *COUNTS)},
        "expert_compute": small.expert_compute,
        "block": (domain or nics) if question.uniform else 1,
        **nvlink,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _scaled(failure: FailurePart, scale: int) -> Mapping[str, Any]:
    """Return a failure as scenarios have it, with its times divided; an added delay is one of the fabric."""
    if isinstance(failure.random, float):
        return {"random": failure.random}
    detection = failure.detection_ps if failure.at and failure.degraded is None else failure.detection
    times = {"at": failure.at, "back": failure.back, "detection": detection}
    same = {"name": failure.name, "rate": failure.rate, "loss": failure.loss}
    return {
        **{key: value for key, value in same.items() if value is not None},
        **({} if failure.random is None else {"random": f"{failure.random} links"}),
        **({} if failure.delay is None else {"delay": _ps(failure.delay)}),
        **{key: _ps(ps // scale) for key, ps in times.items() if ps is not None},
    }


def _ps(value: int) -> str:
    return f"{value}ps"


def _bps(value: int) -> str:
    # The smallest unit of rates.
    return f"{value // 1000}.{value % 1000:03}k"
