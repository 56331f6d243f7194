"""Advice on bottlenecks that buffer elements, or combine several inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tbprof.advice.finding import Finding
from tbprof.advice.guides import CACHING, DATASET, OPTIONS, PREFETCHING, VECTORIZING
from tbprof.advice.tf_data.tf_data_case import (
    Case,
    StageRule,
    duration,
    evidence,
    fused,
    of_kinds,
    with_option,
)
from tbprof.advice.tf_data.tf_data_pipelines import Stage
from tbprof.advice.tf_data.tf_data_stages import Kind, shown_type

# A shuffle that takes at least this many elements for each one that it returns fills its buffer.
_FILLING = 2


@of_kinds(Kind.SHUFFLE)
def shuffle(case: Case) -> Iterator[Finding]:
    """A shuffle buffer that is being filled, or one whose cost per element is high."""
    stage = case.stage
    # Buffers fill in a few calls, which hardly affects the sum over all calls.
    taken, returned = sum(below.slowest.calls for below in case.below()), stage.slowest.calls
    size = stage.number("buffer_size")
    size_text = "" if math.isnan(size) else f" of {size:,.0f} elements"
    is_filling = taken >= _FILLING * max(returned, 1)
    if is_filling:
        title = f"{case.type} fills its buffer{size_text} before it returns an element"
        why = (
            f"In the slowest call, it requested {taken:,} elements to return {returned:,}: the "
            f"buffer is filled when an epoch begins. {_other_calls(case)}"
        )
    else:
        title = f"The time is spent in {case.type}"
        why = "Its buffer was already full, so this is its cost per element."
    yield Finding(
        id="shuffle_fill" if is_filling else "shuffle",
        severity=case.severity,
        title=title,
        detail=f"{evidence(case)} {why}",
        action=(
            "Shuffle file names over the whole dataset, and elements in a smaller buffer: "
            "files.shuffle(number_of_files).interleave(...).shuffle(1000). Shuffle before "
            "decoding, while elements are small."
        ),
        code=(
            "files = tf.data.Dataset.list_files('gs://bucket/train-*', shuffle=True)\n"
            "dataset = files.interleave(\n"
            "    tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)\n"
            "dataset = dataset.shuffle(1000).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"
        ),
        guide=DATASET.section("shuffle"),
    )
    if not is_filling:
        yield Finding(
            id="shuffle_large_elements",
            severity="moderate",
            title="Shuffle less often",
            detail=f"Shuffle was called {case.work.calls:,} times in {case.calls}.",
            action=(
                "Shuffle indices or names instead of elements, or small batches instead of "
                "single elements: .batch(8).shuffle(1000).unbatch()."
            ),
            code="dataset = dataset.batch(8).shuffle(1000).unbatch()",
            guide=VECTORIZING,
        )
    elif case.stages[0].is_set("warm_start") is not True:
        yield Finding(
            id="warm_start",
            severity="low",
            title="Fill buffers before the first step",
            detail=(
                "According to the trace, the pipeline starts working when its first batch is "
                "requested."
                if case.stages[0].is_set("warm_start") is False
                else "By default, a pipeline starts working when its first batch is requested."
            ),
            action=(
                "Start it when the iterator is created, while the model is still being built: "
                "options.experimental_warm_start = True."
            ),
            code=with_option("experimental_warm_start", "True"),
            guide=OPTIONS,
        )


def _other_calls(case: Case) -> str:
    calls = case.pipeline.duration_ps
    if calls.size < 2:
        return ""
    usual = int(sorted(calls.tolist())[calls.size // 2])
    return f"The median call takes {duration(usual)}."


@of_kinds(Kind.CACHE)
def cache(case: Case) -> Iterator[Finding]:
    """A cache that is being written, or read from disk."""
    stage = case.stage
    is_file = stage.parts[-1] in ("filecache", "filereader", "filewriter", "snapshot")
    writes = case.taken() > 0
    if writes:
        why = (
            "It called the stage below, so the cache was being written. This is the cost of the "
            "first epoch."
        )
        action = (
            "Record a later epoch to see the usual cost. Write the cache before training, or "
            "save the preprocessed data: dataset.save(path), tf.data.Dataset.load(path)."
        )
    elif is_file:
        why = "It reads its elements from a file."
        action = (
            "Keep the file on a local disk: .cache('/local/ssd/path'). If the data fits into "
            "memory, .cache() without a path is faster."
        )
    else:
        why = "It returns elements from memory."
        action = (
            "Cache fewer, larger elements: .batch(n).cache(), if batches may be the same in "
            "every epoch."
        )
    yield Finding(
        id="cache_written" if writes else "cache_read",
        severity=case.severity,
        title=f"{case.type} is being written" if writes else f"The time is spent in {case.type}",
        detail=f"{evidence(case)} {why}",
        action=action,
        code=(
            "dataset.save('/local/ssd/prepared')\ndataset = "
            "tf.data.Dataset.load('/local/ssd/prepared')"
            if writes
            else "dataset = dataset.cache('/local/ssd/cache')"
        ),
        guide=CACHING,
    )


@of_kinds(Kind.PREFETCH)
def prefetch(case: Case) -> Iterator[Finding]:
    """A prefetch whose buffer was empty."""
    stage = case.stage
    size, filled = stage.number("buffer_limit"), stage.number("buffered_elements")
    limit = "" if math.isnan(size) else f" of {size:.0f}"
    state = "" if math.isnan(filled) else f" Its buffer{limit} last held {filled:.0f} elements."
    below_ps = sum(case.work_of(below).total_ps for below in case.below())
    made_ps = max(case.work.worker_ps, 0) + below_ps
    title = f"{case.type} had nothing ready"
    late_ps = case.work.self_ps - case.work.wait_ps
    if 2 * late_ps > case.work.self_ps:
        title = f"{case.type} had an element ready"
        why = (
            f"Its calls continued for {duration(case.per_call(late_ps))} after they received an "
            "element: the calling thread had to wait for a processor or a lock."
        )
        action = _look_at_others(case)
    elif case.taken() and 2 * made_ps < case.work.wait_ps:
        title = f"{case.type} waits while little is produced for it"
        why = (
            f"During that time, its own thread and the stages below worked only "
            f"{duration(case.per_call(made_ps))}: the calling thread, or theirs, had to wait for a "
            "processor or a lock."
        )
        action = _look_at_others(case)
    elif case.taken():
        why = "Its own thread produces the elements and had none ready."
        action = (
            "A prefetch overlaps work with the program; it does not reduce the work. Look at the "
            "stages below, which took the rest of the time. A larger buffer "
            "(.prefetch(tf.data.AUTOTUNE)) helps if only some elements are slow."
        )
    else:
        why = "No calls to the stages that fill it were recorded at that time."
        action = (
            "Calls that began before the recording are not in the trace: record for longer than "
            "the slowest call takes."
        )
    yield Finding(
        id="prefetch_empty",
        severity=case.severity,
        title=title,
        detail=f"{fused(stage)}{evidence(case)} {why}{state}",
        action=action,
        code="dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        guide=PREFETCHING,
    )


def _look_at_others(case: Case) -> str:
    """Return advice for calls that wait for a processor or a lock."""
    python = (
        "Functions of the pipeline that run Python (tf.py_function) hold the GIL: rewrite them "
        "with TensorFlow ops. "
        if case.facts.python_ps
        else ""
    )
    return (
        f"Check in the trace viewer what else ran at that time. {python}If other work keeps the "
        "processors busy, give tf.data its own threads "
        "(options.threading.private_threadpool_size), and give other pipelines fewer threads."
    )


@of_kinds(Kind.COMBINE)
def combine(case: Case) -> Iterator[Finding]:
    """A stage with several inputs, called one after another."""
    inputs = sorted(case.below(), key=lambda below: -case.work_of(below).total_ps)
    slowest = _input(case, inputs[0]) if inputs else ""
    yield Finding(
        id="combine",
        severity=case.severity,
        title=f"{case.type} calls its inputs one after another",
        detail=evidence(case) + slowest,
        action=(
            "Let each input prefetch: tf.data.Dataset.zip((a.prefetch(tf.data.AUTOTUNE), "
            "b.prefetch(tf.data.AUTOTUNE))). If the inputs are files of one dataset, store "
            "related data in one record."
        ),
        code=(
            "dataset = tf.data.Dataset.zip((\n"
            "    a.prefetch(tf.data.AUTOTUNE), b.prefetch(tf.data.AUTOTUNE)))"
        ),
        guide=PREFETCHING,
    )


def _input(case: Case, stage: Stage) -> str:
    took = duration(case.per_call(case.work_of(stage).total_ps))
    return f" Its slowest input, {shown_type(stage.type_name)}, took {took}."


@of_kinds(Kind.REPEAT)
def repeat(case: Case) -> Iterator[Finding]:
    """A stage that restarts its input repeatedly."""
    copies = max((below.iterators for below in case.below()), default=0)
    start_text = (
        f" It restarted its input {copies:,} times, for {case.stage.overall.calls:,} elements in "
        "total: each restart creates new iterators."
        if copies > 1
        else ""
    )
    yield Finding(
        id="repeat",
        severity=case.severity,
        title=f"{case.type} repeatedly restarts its input",
        detail=evidence(case) + start_text,
        action=(
            "Repeat more elements at a time: batch small inputs before repeating them, or cache "
            "the epoch: .cache().repeat()."
        ),
        code="dataset = dataset.cache().repeat()",
        guide=DATASET.section("repeat"),
    )


BUFFER_RULES: tuple[StageRule, ...] = (
    shuffle, cache, prefetch, combine, repeat,
)  # fmt: skip
