"""The input of advice rules, and sentences that several of them share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tbprof.advice.finding import Finding, Severity
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.advice.tf_data.tf_data_pipelines import Pipeline, Stage, StageWork
from tbprof.advice.tf_data.tf_data_stages import BUFFERED, Kind, shown_type
from tbprof.base.records import dataclass

# The threads of a stage count as busy from this percentage of the time.
BUSY = 70.0
# Share of a stage's time from which a wait for a pool is mentioned.
_NOTABLE = 0.1
# Parameters of stages that sentences mention, in this order.
_SHOWN_PARAMETERS = (
    "parallelism", "autotune", "cycle_length", "block_length", "buffer_size", "buffer_limit",
    "batch_size", "drop_remainder", "deterministic", "max_batch_results", "buffered_elements",
    "num_shards", "count",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    """Facts about the run and the pipeline's host that advice depends on.

    `hosts` is the number of recorded hosts; `python_ps` is the time in Python functions and
    generators of all pipelines on this host.
    """

    hosts: int
    has_gpu: bool
    python_ps: int


@dataclass(frozen=True, slots=True)
class Case:
    """A stage that is a pipeline's bottleneck, and the pipeline around it.

    `is_slowest` marks the bottleneck of the slowest call, rather than of all calls together.
    """

    pipeline: Pipeline
    stages: Sequence[Stage]
    stage: Stage
    severity: Severity
    facts: PipelineFacts
    is_slowest: bool = True

    @property
    def work(self) -> StageWork:
        """The work of the stage, in the slowest call or in all calls."""
        return self.work_of(self.stage)

    def work_of(self, stage: Stage) -> StageWork:
        """The work of any stage of the pipeline, in the same calls."""
        return stage.slowest if self.is_slowest else stage.overall

    @property
    def calls(self) -> str:
        """The calls that the case is about, for a sentence."""
        if self.pipeline.calls == 1:
            return "the only call"
        return "the slowest call" if self.is_slowest else f"all {self.pipeline.calls} calls"

    def per_call(self, value_ps: int) -> int:
        """A time divided by the number of calls that the case is about."""
        return value_ps if self.is_slowest else value_ps // max(self.pipeline.explained_calls, 1)

    def taken(self) -> int:
        """How many elements the stage requested from those below."""
        return sum(self.work_of(stage).calls for stage in self.below())

    @property
    def type(self) -> str:
        """The stage's name in programs: "ParallelMap"."""
        return shown_type(self.stage.type_name)

    def below(self) -> list[Stage]:
        """The stages that feed it."""
        place = self.stages.index(self.stage)
        return [stage for stage in self.stages if stage.parent == place]

    def has(self, *kinds: Kind) -> bool:
        """Whether the pipeline has a stage of one of these kinds."""
        return any(stage.kind in kinds for stage in self.stages)

    def path_to_root(self) -> Iterator[Stage]:
        """The stages that its elements pass through on the way to the program, nearest first."""
        index = self.stage.parent
        while index >= 0:
            yield self.stages[index]
            index = self.stages[index].parent

    def above(self, *kinds: Kind) -> Stage | None:
        """The nearest stage on that path of one of these kinds, or None."""
        return next((stage for stage in self.path_to_root() if stage.kind in kinds), None)

    @property
    def processors(self) -> float:
        """The number of processors that tf.data assumes, NaN if unknown."""
        return self.stages[0].number("cpu_budget") if self.stages else math.nan

    @property
    def pool_threads(self) -> float:
        """The number of threads in the pool of the pipeline's functions, NaN if unknown."""
        threads = self.stages[0].number("threadpool_size") if self.stages else math.nan
        return threads if threads > 0 else math.nan

    def feeds(self, stage: Stage) -> bool:
        """Whether a stage's elements pass through the stage of the case."""
        index = stage.parent
        while index >= 0 and self.stages[index] is not self.stage:
            index = self.stages[index].parent
        return index >= 0

    def busy(self) -> float:
        """The percentage of their time that the stage's threads worked, NaN if unknown."""
        work, threads = self.work, self.stage.number("parallelism")
        if work.worker_ps < 0 or not work.total_ps or not threads > 0:
            return math.nan
        return min(100.0 * work.worker_ps / (threads * work.total_ps), 100.0)


StageRule = Callable[[Case], Iterator[Finding]]


def of_kinds(*kinds: Kind) -> Callable[[StageRule], StageRule]:
    """Limits a rule to stages of these kinds."""

    def limited(rule: StageRule) -> StageRule:
        return lambda case: rule(case) if case.stage.kind in kinds else iter(())

    return limited


def evidence(case: Case) -> str:
    """Sentences on how long the stage held up calls, on its waits and its parameters."""
    sentences = [_slowest(case) if case.is_slowest else cause_sentence(case), *_waiting(case)]
    parameters = describe_parameters(case.stage)
    if parameters:
        sentences.append(f"Parameters in the trace: {parameters}.")
    return " ".join(sentences)


def _slowest(case: Case) -> str:
    work = case.work
    all_ps = int(case.pipeline.duration_ps[case.pipeline.rank])
    took = f"{case.type} took {duration(work.held_ps)} of the slowest call"
    return (
        f"{took} ({duration(all_ps)}{_share(work.held_ps, all_ps)}), called {_times(work.calls)}."
    )


def cause_sentence(case: Case) -> str:
    """The sentence on how long the stage takes per call to its pipeline, the same on all pages."""
    pipeline = case.pipeline
    held_ms, call = stage_ms(case), call_ms(pipeline)
    owner_text = f"{pipeline.name} on {pipeline.host}" if case.facts.hosts > 1 else pipeline.name
    lasts, took = milliseconds(call), f"{case.type} takes {milliseconds(held_ms)}"
    if pipeline.calls == 1:
        calls = f"The only call to pipeline {owner_text} takes {lasts}"
    else:
        calls = f"Calls to pipeline {owner_text} take {lasts} on average ({pipeline.calls} calls)"
    if held_ms <= call:
        return f"{calls}, of which {took}."
    return f"{calls}; {took} per call, part of it before the call or in parallel."


def stage_ms(case: Case) -> float:
    """How many ms the stage holds up a call to its pipeline, on average over explained calls."""
    return case.stage.overall.held_ps / 1e9 / max(case.pipeline.explained_calls, 1)


def call_ms(pipeline: Pipeline) -> float:
    """The mean duration of a pipeline's calls, in ms."""
    return float(pipeline.duration_ps.mean()) / 1e9


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _share(held_ps: int, whole_ps: int) -> str:
    """A clause on the share of a call that a stage took; it may have begun before the call."""
    if held_ps > whole_ps:
        return "; part of it before the call or in parallel"
    return f", {percent(100 * held_ps / whole_ps)}" if whole_ps else ""


def _waiting(case: Case) -> list[str]:
    """Sentences on the stage's waits: for its own threads, and for a thread of a pool."""
    work, sentences = case.work, list[str]()
    filled, queue = work.filled_ps, work.held_ps - work.self_ps + work.queue_ps
    if case.stage.kind in BUFFERED and work.wait_ps > 0:
        waited = (
            f"{duration(case.per_call(work.wait_ps))} of that is spent waiting for its own threads"
        )
        worked = (
            "."
            if work.worker_ps < 0
            else f", which worked {duration(case.per_call(work.worker_ps))} during that time."
        )
        sentences.append(waited + worked)
    if filled > work.held_ps * _NOTABLE:
        sentences.append(
            f"For {duration(case.per_call(filled))} of that time, {waits_for_pool(case)} waited "
            "for a thread of the pool that its function occupied."
        )
    elif queue > work.held_ps * _NOTABLE:
        sentences.append(
            f"For {duration(case.per_call(queue))} of that time, its function waited for a thread "
            "of a pool that other work occupied."
        )
    return sentences


def waits_for_pool(case: Case) -> str:
    """The stages whose functions waited for a thread of the pool, longest wait first."""
    waits = [
        (work.self_ps - work.held_ps, stage)
        for stage in case.stages
        if (work := case.work_of(stage)).self_ps > work.held_ps
    ]
    longest = sorted(waits, key=lambda wait: -wait[0])[:3]
    return " and ".join(shown_type(stage.type_name) for _, stage in longest) or "another stage"


def describe_parameters(stage: Stage) -> str:
    """The relevant parameters of a stage, for a sentence: "parallelism 2, autotune true"."""
    return ", ".join(
        f"{name} {shortened(str(stage.parameters[name]), 40)}"
        for name in _SHOWN_PARAMETERS
        if name in stage.parameters
    )


def fused(stage: Stage) -> str:
    """A sentence if tf.data itself added or fused the stage, "" if the program has it."""
    name = str(stage.parameters.get("name", ""))
    if name.startswith("fused("):
        return "tf.data fused map() and batch() into this stage. "
    return "tf.data added this stage itself. " if is_injected(stage) else ""


def is_injected(stage: Stage) -> bool:
    """Whether tf.data added the stage, which the program does not have."""
    return str(stage.parameters.get("name", "")).startswith("inject/")


def with_option(name: str, value: str) -> str:
    """The code that sets an option of a pipeline."""
    return (
        "options = tf.data.Options()\n"
        f"options.{name} = {value}\n"
        "dataset = dataset.with_options(options)"
    )


def private_pool(threads: float) -> str:
    """The code that gives a pipeline threads of its own."""
    return with_option("threading.private_threadpool_size", f"{threads:.0f}")


def duration(value_ps: int) -> str:
    """A time for a sentence."""
    return milliseconds(value_ps / 1e9)
