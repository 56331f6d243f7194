"""Advice on bottlenecks that run a function: map, filter and similar stages."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tbprof.advice.finding import Finding
from tbprof.advice.guides import (
    CACHING,
    CPU_BOUND,
    DALI,
    OPTIMIZATIONS,
    PARALLEL_MAPPING,
    SERVICE,
    THREADING,
    TRANSFORMATIONS,
    VECTORIZING,
)
from tbprof.advice.sentences import percent
from tbprof.advice.tf_data.tf_data_batch_rules import batch
from tbprof.advice.tf_data.tf_data_case import (
    BUSY,
    Case,
    StageRule,
    duration,
    evidence,
    fused,
    of_kinds,
    private_pool,
    with_option,
)
from tbprof.advice.tf_data.tf_data_pipelines import Stage
from tbprof.advice.tf_data.tf_data_stages import BATCHES, MAPS, Kind

# In longer calls, the overhead of the call does not matter.
_SHORT_PS = 500_000_000
# The overhead of a call is about as long as this.
_TINY_PS = 60_000_000


@of_kinds(Kind.PARALLEL_MAP, Kind.MAP_AND_BATCH)
def map_parallel(case: Case) -> Iterator[Finding]:
    """A map with several threads: too few, all busy, or waiting themselves."""
    stage = case.stage
    busy, threads, processors = case.busy(), stage.number("parallelism"), case.processors
    detail = fused(stage) + evidence(case)
    pool = case.pool_threads
    if threads < processors and stage.is_set("autotune") is not True:
        yield Finding(
            id="map_few_threads",
            severity=case.severity,
            title=f"{case.type} runs its function with a parallelism of only {threads:.0f}",
            detail=f"{detail} tf.data can use {processors:.0f} processors.",
            action=(
                "Let tf.data choose how many run at a time: "
                ".map(f, num_parallel_calls=tf.data.AUTOTUNE)."
            ),
            code="dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
            guide=PARALLEL_MAPPING,
        )
    elif pool < processors:
        yield Finding(
            id="map_small_pool",
            severity=case.severity,
            title=(
                f"The function of {case.type} has a pool of only {pool:.0f} threads for "
                f"{processors:.0f} processors"
            ),
            detail=f"{detail}{_how_busy(busy)}",
            action=(
                "Give tf.data its own, larger pool of threads: "
                f"options.threading.private_threadpool_size = {processors:.0f}."
            ),
            code=private_pool(processors),
            guide=THREADING,
        )
    elif not math.isnan(busy) and busy < BUSY and not case.work.filled_ps:
        if _runs_tiny_calls(case):
            return  # the overhead of calls keeps threads from working: see `map_vectorized`
        yield Finding(
            id="map_threads_wait",
            severity=case.severity,
            title=f"The threads of {case.type} worked only {percent(busy)} of the time",
            detail=(
                f"{detail} With a parallelism of {threads:.0f}, they could have worked all the "
                "time: they wait for elements, for a processor, for files, or for Python's global "
                "interpreter lock."
            ),
            action=(
                "Look at its threads in the trace viewer. A function that reads files or waits "
                "for a server can use more threads than there are processors: use "
                "num_parallel_calls=16, with as many threads in the pool."
            ),
            code=private_pool(16),
            guide=THREADING,
        )
    else:
        yield Finding(
            id="map_function",
            severity=case.severity,
            title=f"The time is spent in the function of {case.type}",
            detail=detail + _how_busy(busy),
            action=(
                f"{_reached(case)}Make the function cheaper: use fewer and cheaper ops per "
                "element, do work that is the same in every epoch once before training, and cast "
                "to larger types last, after crops, flips and rotations. Otherwise, use more "
                "processors."
            ),
            guide=CPU_BOUND,
        )


def _reached(case: Case) -> str:
    """The sentence on why more threads do not help."""
    threads, processors = case.stage.number("parallelism"), case.processors
    if threads >= processors:
        return (
            f"{case.type} runs its function with a parallelism of {threads:.0f} on "
            f"{processors:.0f} processors: more threads do not help. "
        )
    return "More threads help little once all processors are busy. "


def _how_busy(busy: float) -> str:
    return "" if math.isnan(busy) else f" Its threads worked {percent(busy)} of the time."


@of_kinds(*MAPS)
def map_vectorized(case: Case) -> Iterator[Finding]:
    """A function that is called for each element before elements are batched."""
    batch = _batch_of_short_calls(case)
    if batch is None:
        return
    size = batch.number("batch_size")
    per_batch = "once per element" if math.isnan(size) else f"{size:.0f} times for each batch"
    count = "batch_size" if math.isnan(size) else f"{size:.0f}"
    yield Finding(
        id="map_vectorize",
        severity=case.severity if _runs_tiny_calls(case) else "moderate",
        title="Batch first, then map whole batches",
        detail=(
            f"The function is called {per_batch} and takes less than {duration(_SHORT_PS)}. The "
            f"overhead of the calls is a large part of that.{_how_busy(case.busy())}"
        ),
        action=(
            "If the function can process batches, call batch before map: "
            f".batch({count}).map(f_of_batch, num_parallel_calls=tf.data.AUTOTUNE)."
        ),
        code=(
            f"dataset = dataset.batch({count}).map(f_of_batch, num_parallel_calls=tf.data.AUTOTUNE)"
        ),
        guide=VECTORIZING,
    )


def _batch_of_short_calls(case: Case) -> Stage | None:
    """The stage that batches the results of short function calls, None if there is none."""
    stage = case.stage
    batch = stage if stage.kind is Kind.MAP_AND_BATCH else case.above(*BATCHES)
    if batch is None or any(case.feeds(other) and other.kind in BATCHES for other in case.stages):
        return None
    is_short = case.work_of(stage).held_ps < _SHORT_PS * _elements(case, batch)
    return batch if is_short else None


def _elements(case: Case, batch: Stage) -> float:
    """The number of elements that the function was called for, NaN if unknown."""
    of_call = batch.number("batch_size") if batch is case.stage else 1.0
    return of_call * case.work.calls


def _runs_tiny_calls(case: Case) -> bool:
    """Whether the function takes hardly any time, and its threads are mostly not busy."""
    batch, worked_ps = _batch_of_short_calls(case), case.work.worker_ps
    if batch is None or worked_ps < 0 or not case.busy() < BUSY:
        return False
    return worked_ps < _TINY_PS * _elements(case, batch)


@of_kinds(*MAPS)
def map_cached(case: Case) -> Iterator[Finding]:
    """A map whose results are not cached."""
    if case.above(Kind.CACHE) is not None:
        return
    below = any(stage.kind is Kind.CACHE and case.feeds(stage) for stage in case.stages)
    yield Finding(
        id="cache_after_map",
        severity="moderate",
        title="Cache results: .cache()" if not below else "Cache after the map, not before it",
        detail=(
            "The cache is before this map, so its function runs again for every element in "
            "every epoch."
            if below
            else "No stage caches the results: if epochs repeat, the function runs again for "
            "every element."
        ),
        action=(
            "If epochs repeat and the results fit into memory or onto a local disk, add "
            ".cache() or .cache('/local/path') after the map, before shuffle, batch and random "
            "augmentation, which must differ in every epoch."
        ),
        code=(
            "dataset = dataset.map(decode, "
            "num_parallel_calls=tf.data.AUTOTUNE).cache().map(augment)"
        ),
        guide=CACHING,
    )


@of_kinds(*MAPS)
def map_python(case: Case) -> Iterator[Finding]:
    """A map whose function calls Python."""
    python_ps = case.facts.python_ps
    # The Python time may also be that of generators.
    if not python_ps or case.has(Kind.GENERATOR):
        return
    is_most = 2 * python_ps >= case.stage.overall.held_ps
    yield Finding(
        id="python_function",
        severity=case.severity if is_most else "moderate",
        title="Avoid Python in the function",
        detail=(
            f"{evidence(case)} tf.py_function and tf.numpy_function ran for {duration(python_ps)} "
            "on this host during the recording. Their Python code runs one call at a time, under "
            "Python's global interpreter lock, regardless of num_parallel_calls. The trace "
            "viewer shows them as PyFunc and EagerPyFunc."
        ),
        action=(
            "Write the function in TensorFlow ops (tf.io.decode_jpeg, tf.image, tf.strings), or "
            "keep in it only what needs Python, and do the rest in a second map. If it waits for "
            "files or a server instead of computing, run more calls in parallel: "
            "num_parallel_calls=16, with as many threads in the pool."
        ),
        code=private_pool(16),
        guide=TRANSFORMATIONS,
    )


@of_kinds(*MAPS)
def more_processors(case: Case) -> Iterator[Finding]:
    """Preprocessing on devices or other machines, if all processors of the host are busy."""
    if case.facts.python_ps or not (math.isnan(case.busy()) or case.busy() >= BUSY):
        return
    if case.facts.has_gpu:
        yield Finding(
            id="dali",
            severity="low",
            title="Decode and augment on the GPU",
            detail=(
                "The program uses GPUs. With many of them per processor, tf.data may not be fast "
                "enough in any configuration."
            ),
            action=(
                "For images, video and audio, NVIDIA DALI decodes and augments on the GPU; "
                "preprocessing layers in the model do so for simple operations."
            ),
            guide=DALI,
        )
    yield Finding(
        id="data_service",
        severity="low",
        title="Offload preprocessing to the tf.data service",
        detail=(
            "If all processors of this host are busy, preprocessing can run on other machines."
        ),
        action=(
            "Distribute the pipeline over workers of the tf.data service: .apply("
            "tf.data.experimental.service.distribute(...))."
        ),
        code=(
            "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
            "    processing_mode=tf.data.experimental.service.ShardingPolicy.OFF,\n"
            "    service='grpc://dispatcher:5000'))"
        ),
        guide=SERVICE,
    )


@of_kinds(Kind.FILTER)
def filter_(case: Case) -> Iterator[Finding]:
    """A filter that tests one element at a time."""
    taken, given = case.taken(), case.work.calls
    passed = (
        f" It requested {taken:,} elements to return {given:,}: the others were dropped."
        if taken > given > 0
        else ""
    )
    yield Finding(
        id="filter",
        severity=case.severity,
        title=f"{case.type} tests one element at a time",
        detail=evidence(case) + passed,
        action=(
            "Filter as early as possible: file names before files are read, records before they "
            "are decoded. Or let tf.data filter in parallel, if the predicate consists of "
            "TensorFlow ops: options.experimental_optimization.filter_parallelization = True."
        ),
        code=with_option("experimental_optimization.filter_parallelization", "True"),
        guide=OPTIMIZATIONS,
    )


def pool(case: Case) -> Iterator[Finding]:
    """Functions that wait for threads of a pool that the pipeline itself does not occupy."""
    work = case.work
    waits = work.held_ps - work.self_ps + work.queue_ps
    if work.filled_ps or 2 * waits < work.held_ps or not work.held_ps:
        return
    yield Finding(
        id="pool_of_its_own",
        severity=case.severity,
        title=f"The function of {case.type} waits for a thread",
        detail=(
            f"{evidence(case)} During that time, no function of this pipeline ran on the threads "
            "of its pool."
        ),
        action=(
            "Give the pipeline its own pool of threads: "
            "options.threading.private_threadpool_size. If it has one, another pipeline occupies "
            "it."
        ),
        code=private_pool(16),
        guide=THREADING,
    )


MAP_RULES: tuple[StageRule, ...] = (
    map_python, map_parallel, map_vectorized, map_cached, more_processors, batch, filter_, pool,
)  # fmt: skip
