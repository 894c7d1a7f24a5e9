"""Read a what-if file, and check the job against the fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path as FilePath

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError, Problem, UsageError
from ailb_gen.intent.load import load as load_intent
from ailb_gen.paths import absent
from ailb_gen.sim.memory import shown_bytes
from ailb_gen.sim.scenario.convert import values
from ailb_gen.sim.scenario.load import (
    PARAMETER_HINTS,
    balancer_name,
    balancer_problems,
    congestion_problems,
    failure_problems,
)
from ailb_gen.sim.scenario.models import UNWRITTEN_STEPS
from ailb_gen.sim.traffic.collectives import NCCL, find
from ailb_gen.sim.traffic.parallelism import Training
from ailb_gen.study.what_if.job import (
    SIZES,
    TIMES,
    amounts,
    degrees,
    expert_layers,
    loads_of,
    memory_bytes,
    ranks_of,
)
from ailb_gen.study.what_if.models import LanguageModel, TrainingJob, WhatIf
from ailb_gen.study.what_if.months import ComparedFabric, compared_fabrics, reliability_problems
from ailb_gen.study.what_if.times import read_times
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import problem_at, validated
from ailb_gen.yamlio import Path, Source, read_yaml


@dataclass(frozen=True, slots=True)
class Question:
    """A checked what-if file: its models, the text as written, the folder of its paths, and the fabric's design.

    `compared` are the fabrics that failures over months are computed for.
    """

    what_if: WhatIf
    source: Source
    folder: FilePath
    design: Design
    compared: tuple[ComparedFabric, ...] = ()

    @property
    def server_size(self) -> int:
        """The most NICs of a server."""
        return max(len(server.ports) for server in self.design.servers)

    @property
    def uniform(self) -> bool:
        """Whether all servers have as many NICs."""
        return all(len(server.ports) == self.server_size for server in self.design.servers)

    @property
    def nics(self) -> int:
        """The NICs of the fabric."""
        return sum(len(server.ports) for server in self.design.servers)


def load(path: FilePath) -> Question:
    """Read the what-if file at `path`. Raises IntentError."""
    return parse(read_text(path, str(path)), str(path), path.parent)


def parse(text: str, file: str, folder: FilePath) -> Question:
    """Check the text of a what-if file whose paths start at `folder`. Raises IntentError with all that is wrong."""
    source = read_yaml(text, file)
    if not isinstance(source.data, dict):
        raise text_problem(file, "wrong-type", "the file must hold a mapping; start with 'fabric:' and 'job:'")
    what_if = validated(WhatIf, source, UNWRITTEN_STEPS, PARAMETER_HINTS)
    problems = [*_paths(what_if, source, folder), *_missing(what_if.job, source), *_model(what_if.job, source)]
    problems += balancer_problems(what_if.balancers, source, "balancers")
    problems += congestion_problems(what_if.congestion, source)
    problems += [*failure_problems(what_if.failures, source), *_twice(what_if, source)]
    problems += reliability_problems(what_if, source, folder)
    if problems:
        raise IntentError(problems)
    what_if = _timed(what_if, folder)
    design, _ = build(load_intent(folder / what_if.fabric))
    question = Question(what_if, source, folder, design)
    problems = [*_job(what_if.job, source), *_degrees(question), *_scaled(question)]
    if problems:
        raise IntentError(problems)
    return replace(question, compared=compared_fabrics(what_if, source, folder, design))


def _paths(what_if: WhatIf, source: Source, folder: FilePath) -> Iterator[Problem]:
    fabric = folder / what_if.fabric
    if reason := absent(fabric, "file"):
        yield problem_at(source, "unreadable", ("fabric",), f"{fabric}: {reason}")
    artifacts = None if what_if.artifacts is None else folder / what_if.artifacts
    if artifacts is not None and (reason := absent(artifacts, "directory")):
        missing = reason.startswith("there is no")
        what = f"run 'ailb-gen generate {fabric} -o {artifacts}'" if missing else "name a directory"
        hint = f"{what}, or leave 'artifacts' out"
        yield problem_at(source, "unreadable", ("artifacts",), f"{artifacts}: {reason}", hint)


def _timed(what_if: WhatIf, folder: FilePath) -> WhatIf:
    """Return it with the times of its table, where it gives none itself. Raises IntentError."""
    job = what_if.job
    if job.times is None:
        return what_if
    found = read_times(read_text(folder / job.times, job.times), job.times).of_stage(job.pipeline)
    given = {"forward": job.forward, "backward": job.backward}
    times = {name: ps if given[name] is None else given[name] for name, ps in zip(given, found, strict=True)}
    return what_if.model_copy(update={"job": job.model_copy(update=times)})


def _missing(job: TrainingJob, source: Source) -> Iterator[Problem]:
    """Yield the values that neither the file nor its model and GPU give."""
    timed = job.times is not None or (job.model is not None and job.gpu is not None)
    sized = job.model is not None
    needed = {
        "forward": not timed,
        "backward": not timed,
        "tensor_bytes": not sized and job.tensor > 1,
        "activation_bytes": not sized and job.pipeline > 1,
        "gradient_bytes": not sized and job.data * job.context > 1,
        "context_bytes": not sized and job.context > 1,
        "expert_bytes": not sized and job.expert > 1,
    }
    for name, missing in needed.items():
        if missing and getattr(job, name) is None:
            keys = "'times', or 'model' and 'gpu'" if name in ("forward", "backward") else "'model'"
            yield problem_at(source, "missing-key", ("job", name), f"give it, or {keys} from which it is computed")
    gpu = job.gpu
    if gpu is not None and job.model is None and gpu.nvlink is None and gpu.domain is None and job.algorithm != NCCL:
        reason = "without 'model', 'gpu' has an effect only with 'nvlink', 'domain' or 'algorithm: nccl'"
        yield problem_at(source, "missing-key", ("job", "model"), reason)


def _model(job: TrainingJob, source: Source) -> Iterator[Problem]:
    """Yield the problems of the model on the GPUs of the job."""
    model = job.model
    if model is None:
        return
    parts = job.pipeline * job.virtual
    for layers, what in ((model.layers, "layers"), (expert_layers(model), "layers with experts")):
        if layers % parts:
            reason = f"{parts} {'stages' if job.virtual == 1 else 'virtual stages'} do not divide the {layers} {what}"
            yield problem_at(source, "conflict", ("job", "pipeline"), f"{reason} evenly")
    yield from _experts(job, model, source)
    if model.hidden % job.tensor:
        reason = f"{job.tensor} GPUs do not divide the hidden size {model.hidden:,} evenly"
        yield problem_at(source, "conflict", ("job", "tensor"), reason)
    memory = None if job.gpu is None else job.gpu.memory
    needed = memory_bytes(job, model)
    if memory is not None and needed > memory:
        reason = (
            f"parameters, gradients and Adam take {shown_bytes(needed)} of a GPU, which has {shown_bytes(memory)}; "
            "raise 'tensor' or 'pipeline'"
        )
        spread = job.gradients == "sharded" or job.data * job.context == 1
        hint = "" if spread else "or set 'gradients: sharded' to shard Adam over the replicas"
        yield problem_at(source, "conflict", ("job", "gpu", "memory"), reason, hint)


def _experts(job: TrainingJob, model: LanguageModel, source: Source) -> Iterator[Problem]:
    """Yield the problems of a model's experts."""
    if (model.experts is None) != (model.expert_parameters is None):
        reason = "give 'experts' and 'expert_parameters' together"
        yield problem_at(source, "conflict", ("job", "model", "experts"), reason)
    elif model.experts is None and job.expert > 1:
        yield problem_at(source, "conflict", ("job", "expert"), "the model has no 'experts'")
    elif model.expert_parameters is not None and model.expert_parameters >= model.parameters:
        reason = "the experts have all parameters or more; 'parameters' counts them, too"
        yield problem_at(source, "conflict", ("job", "model", "expert_parameters"), reason)
    elif model.expert_layers is not None and model.expert_layers > model.layers:
        reason = f"{model.expert_layers} of {model.layers} layers have experts"
        yield problem_at(source, "conflict", ("job", "model", "expert_layers"), reason)
    elif model.experts is not None and model.top_k > model.experts:
        reason = f"a token uses {model.top_k} experts, and there are {model.experts}"
        yield problem_at(source, "conflict", ("job", "model", "top_k"), reason)


def _job(job: TrainingJob, source: Source) -> Iterator[Problem]:
    """Yield the reason why the degrees of a job do not fit each other."""
    found = amounts(job)
    computed = {one.name: getattr(found, one.name) for one in fields(found) if one.name not in TIMES}
    try:
        loads_of(job)
        Training(**values(job, Training) | computed | {f"{name}_ps": getattr(found, name) for name in TIMES})
    except UsageError as error:
        yield problem_at(source, "conflict", ("job",), str(error))
    if job.algorithm == NCCL:
        return
    try:
        find("all-reduce", job.algorithm)
    except UsageError as error:
        yield problem_at(source, "wrong-value", ("job", "algorithm"), f"{error}, {NCCL}")


def _twice(what_if: WhatIf, source: Source) -> Iterator[Problem]:
    names = [balancer_name(one, what_if.balancers) for one in what_if.balancers]
    entries = (("balancers", "load balancer", names), ("failures", "failure", list(map(str, what_if.failures))))
    for key, what, found in entries:
        for number, one in enumerate(found):
            if one in found[:number]:
                yield problem_at(source, "conflict", (key, number), f"duplicate {what}")


def _degrees(question: Question) -> Iterator[Problem]:
    """Yield the reasons why the ranks do not fit the servers."""
    job, source = question.what_if.job, question.source
    ranks, nics, size = ranks_of(job), question.nics, question.server_size
    if ranks > nics:
        reason = (
            f"{degrees(job, 'x')} = {ranks:,} GPUs, and the fabric "
            f"{question.design.name!r} has {nics:,} NICs in {len(question.design.servers):,} servers"
        )
        yield problem_at(source, "conflict", ("job",), reason)
        return
    if ranks < 2:
        yield problem_at(source, "conflict", ("job",), "one GPU sends nothing; give 'data', 'tensor' or 'pipeline'")
    if not question.uniform:
        return
    domain = None if job.gpu is None else job.gpu.domain
    if domain is not None and (domain % size or nics % domain):
        reason = f"NVLink domains of {domain} GPUs must be whole servers of {size} GPUs, and divide {nics:,} GPUs"
        yield problem_at(source, "conflict", ("job", "gpu", "domain"), reason)
        return
    stage = job.data * job.context * job.tensor
    for key, count, what in (("tensor", job.tensor, "a tensor-parallel group"), ("data", stage, "a pipeline stage")):
        if count % size and size % count:
            reason = f"{what} of {count} GPUs neither fills servers of {size} nor divides one"
            yield problem_at(source, "conflict", ("job", key), reason)
            return


def _scaled(question: Question) -> Iterator[Problem]:
    """Yield sizes that the factor makes smaller than a packet."""
    what_if = question.what_if
    whole, payload = amounts(what_if.job), what_if.packets.payload
    small = whole.scaled(what_if.scale)
    for name in SIZES:
        if getattr(whole, name) >= payload > getattr(small, name):
            path: Path = ("scale",)
            reason = f"it leaves {getattr(small, name)} bytes of {name}, less than a packet of {payload}"
            yield problem_at(question.source, "out-of-range", path, reason, "use a smaller factor")
