"""The cost of load balancers and failures for a training job: the study of a user's own file."""

from __future__ import annotations

from dataclasses import replace

from ailb_gen.errors import UsageError
from ailb_gen.study.model import Case, Study, StudyOptions
from ailb_gen.study.what_if.job import alone_ps, amounts
from ailb_gen.study.what_if.load import Question, load
from ailb_gen.study.what_if.models import WhatIf
from ailb_gen.study.what_if.scenario import GENERATED, scenarios
from ailb_gen.study.what_if.summary import WhatIfCosts
from ailb_gen.study.what_if.text import text_of

# In --quick: load balancers and failures.
BALANCERS, FAILURES = 2, 1


def what_if(options: StudyOptions) -> Study:
    """Return the study of a file. Raises IntentError with all that is wrong in it, UsageError without one."""
    if options.file is None:
        raise UsageError(
            "what-if: which file? It says the fabric, the job, load balancers and failures, such as "
            "examples/study/jvd.yaml"
        )
    question = load(options.file)
    if options.quick:
        question = replace(question, what_if=_quick(question.what_if))
    seeds = list(question.what_if.seeds) if options.seeds is None else list(range(1, options.seeds + 1))
    return study_of(question, seeds[:1] if options.quick and options.seeds is None else seeds)


def study_of(question: Question, seeds: list[int]) -> Study:
    """Return the study of a checked file."""
    file = question.what_if
    found = [(balancer, failure, scenario) for balancer, failure, scenario in scenarios(question, seeds)]
    names = {(balancer, failure): f"{balancer}, {failure}" for balancer, failure, _ in found}
    reading = WhatIfCosts(names, file.scale, alone_ps(file.job, amounts(file.job)), file.level == "packet")
    generated = {GENERATED: question.folder / file.fabric} if file.artifacts is None else {}
    return Study(
        name="what-if",
        title=f"What if: {file.name or question.design.name}",
        source=f"`{question.source.file}`",
        text=text_of(question),
        cases=[
            Case(names[balancer, failure], scenario, chart=(f"failure: {failure}", balancer))
            for balancer, failure, scenario in found
        ],
        quantities=(),
        published=(),
        figures=reading.figures,
        intents=generated,
        folder=question.folder,
        summary=reading.summary,
        chart_note=f"Times are those of the simulation; those of the job are {file.scale:,} times as long."
        if file.scale > 1
        else "",
    )


def _quick(file: WhatIf) -> WhatIf:
    return file.model_copy(update={"balancers": file.balancers[:BALANCERS], "failures": file.failures[:FAILURES]})
