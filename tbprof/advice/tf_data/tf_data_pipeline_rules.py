"""Advice on a pipeline as a whole: its end, its memory, its options, its calls."""

import math
from collections.abc import Iterator

from tbprof.advice.finding import percent
from tbprof.advice.tf_data.tf_data_case import (
    ANALYSIS,
    MEMORY_FOOTPRINT,
    OPTIONS,
    PREFETCHING,
    Advice,
    Case,
    Rule,
    duration,
    is_injected,
)
from tbprof.advice.tf_data.tf_data_pipelines import SLOW_PS, Stage
from tbprof.advice.tf_data.tf_data_stages import BUFFERED, Kind, shown_type
from tbprof.base.lazy import regex

# Percentages of the memory of the host in use above which pipelines are short of it.
_MUCH_MEMORY = 80.0
_RAM = regex(r"(\d+) out of (\d+)")
_STALL_RATIO = 10
# Percentage of the time up to which calls fit beside what the program does between them.
_HIDDEN = 50.0


def prefetch_is_enough(case: Case) -> bool:
    """Whether batches are made on demand, each in less time than the program takes between two.

    Made ahead, they would all be there in time.
    """
    last = _last(case)
    if last is None or last.kind is Kind.PREFETCH or last.kind in BUFFERED:
        return False
    pipeline, share = case.pipeline, case.pipeline.share()
    if pipeline.is_device or not 0 < share <= _HIDDEN:
        return False
    busy_ps = float(pipeline.duration_ps.sum())
    between_ps = busy_ps * (100.0 / share - 1.0) / (pipeline.calls - 1)
    return pipeline.max_ps <= between_ps


def ends_without_prefetch(case: Case) -> Iterator[Advice]:
    """Batches that are made when they are asked for.

    A prefetch that tf.data added by itself is as good as one of the program. Stages that work ahead
    by themselves gain nothing by one behind them, but for parallel maps, which gain little:
    measured, see the guide.
    """
    last = _last(case)
    if case.pipeline.is_device or case.pipeline.data.is_partial[case.pipeline.row] or last is None:
        return
    if last.kind in BUFFERED - {Kind.PARALLEL_MAP}:
        return
    detail = (
        f"Its last stage is {shown_type(last.type_name)}"
        + (", which works ahead by itself" if last.kind in BUFFERED else "")
        + ": what is behind a batch is not made while the program works on the one before."
    )
    if prefetch_is_enough(case):
        detail += (
            f" Calls take {percent(case.pipeline.share())} of the time, so the rest is long enough "
            "to make a batch in."
        )
    yield Advice(
        "prefetch_at_the_end",
        "low" if last.kind in BUFFERED else "high",
        "End the pipeline with a prefetch",
        detail,
        "Add .prefetch(tf.data.AUTOTUNE) as the last stage, so that the next batch is made during "
        "the step.",
        "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        PREFETCHING,
        last,
    )


def _elements(count: float) -> str:
    if math.isnan(count):
        return "some elements"
    return "1 element" if count == 1 else f"{count:.0f} elements"


def _last(case: Case) -> Stage | None:
    """The stage that hands batches out: that below the root."""
    if len(case.stages) < 2:
        return None
    below = [one for one in case.stages if one.parent == 0]
    return max(below, key=lambda one: one.overall.total_ps) if below else None


def prefetch_buffer(case: Case) -> Iterator[Advice]:
    """A prefetch at the end that keeps one element."""
    last = _last(case)
    if last is None or last.kind is not Kind.PREFETCH or is_injected(last):
        return
    size = last.number("buffer_limit")
    if not size <= 1 or last.is_set("autotune") is True:
        return
    yield Advice(
        "prefetch_buffer",
        "moderate",
        "Let more batches be ready",
        f"The prefetch at the end keeps {_elements(size)}: one slow batch holds the program up.",
        "Let tf.data choose the size: .prefetch(tf.data.AUTOTUNE), or several times the number "
        "of devices.",
        "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        PREFETCHING,
        last,
    )


def throughput(case: Case) -> Iterator[Advice]:
    """A prefetch cannot help: the pipeline makes less than the program takes."""
    last = _last(case)
    if last is None or last.kind is not Kind.PREFETCH or case.severity != "high":
        return
    share = case.pipeline.share()
    yield Advice(
        "throughput",
        "low",
        "The prefetch cannot keep up",
        f"Calls of this pipeline take {percent(share)} of the time although its end prefetches: "
        "it makes batches more slowly than the program takes them.",
        "A larger buffer does not help: speed up the bottleneck.",
        "",
        ANALYSIS,
    )


def apart(case: Case) -> Iterator[Advice]:
    """An experiment: the loader alone, and the model on what does not have to be loaded."""
    if case.pipeline.is_device:
        return
    yield Advice(
        "try_apart",
        "low",
        "Try the loader and the model apart",
        "The time of a step is that of the slower of the two once they work side by side.",
        "Run the model on one batch again and again, dataset.take(1).cache().repeat(): that is the "
        "most that a faster input can bring. Iterate over the loader without the model: that is "
        "what it makes at best.",
        "synthetic = dataset.take(1).cache().repeat()\n"
        "import time\n"
        "begin = time.perf_counter()\n"
        "for _ in dataset.take(100):\n"
        "    pass\n"
        "print(100 / (time.perf_counter() - begin), 'batches per second')",
        ANALYSIS,
    )


def rare_stalls(case: Case) -> Iterator[Advice]:
    """One call that is far slower than others."""
    calls = case.pipeline.duration_ps
    if calls.size < 3:
        return
    usual = int(calls[calls.size // 2])
    longest = int(calls[0])
    if longest <= SLOW_PS or longest < _STALL_RATIO * max(usual, 1):
        return
    yield Advice(
        "rare_stall",
        "low",
        "Few calls are far slower than the others",
        f"The slowest call takes {duration(longest)}, the median one {duration(usual)}. Epochs "
        "that begin, buffers that fill, files that are opened, and garbage collection of Python "
        "look like that.",
        "Choose other ranks in the graph to see what the slow calls share. Where it is the "
        "beginning of epochs, repeat before shuffle.",
        "",
        ANALYSIS,
    )


def autotune(case: Case) -> Iterator[Advice]:
    """Parameters that were chosen by hand, and are less than tuning could choose."""
    fixed = [
        one
        for one in case.stages
        if one.kind in BUFFERED - {Kind.PREFETCH}
        and one.is_set("autotune") is False
        and not one.number("parallelism") >= case.processors
    ]
    if not fixed:
        return
    named = ", ".join(dict.fromkeys(shown_type(one.type_name) for one in fixed[:5]))
    yield Advice(
        "autotune",
        "low",
        "Let tf.data tune itself",
        f"Its parallelism was chosen by hand for {named}.",
        "Pass tf.data.AUTOTUNE for num_parallel_calls, buffer sizes and cycle_length; "
        "options.autotune bounds what it may use: cpu_budget, ram_budget.",
        "options = tf.data.Options()\n"
        "options.autotune.enabled = True\n"
        "dataset = dataset.with_options(options)",
        OPTIONS,
        fixed[0],
    )


def memory(case: Case) -> Iterator[Advice]:
    """Memory of the host that is nearly full."""
    told = str(case.stages[0].parameters.get("ram_usage_megabytes", "")) if case.stages else ""
    match = _RAM.match(told)
    if match is None or not int(match[2]) or 100 * int(match[1]) / int(match[2]) < _MUCH_MEMORY:
        return
    used = 100 * int(match[1]) / int(match[2])
    buffers = sorted(
        (one for one in case.stages if one.number("buffered_bytes_MB") > 0),
        key=lambda one: -one.number("buffered_bytes_MB"),
    )
    held = ", ".join(
        f"{shown_type(one.type_name)} {one.number('buffered_bytes_MB'):.0f} MB"
        for one in buffers[:3]
    )
    yield Advice(
        "memory",
        "moderate",
        f"The memory of the host is {percent(used)} full",
        f"{match[1]} of {match[2]} MB are in use."
        + (f" Buffers of the pipeline hold {held}." if held else ""),
        "Make buffers smaller: shuffle(buffer_size), cache() of what is small, fewer parallel "
        "calls; options.autotune.ram_budget bounds what tuning may take, in bytes.",
        "options = tf.data.Options()\n"
        "options.autotune.ram_budget = 8 * 1024**3\n"
        "dataset = dataset.with_options(options)",
        MEMORY_FOOTPRINT,
        buffers[0] if buffers else None,
    )


def cut_off(case: Case) -> Iterator[Advice]:
    """Calls whose elements were being made when recording began."""
    if not case.pipeline.is_cut:
        return
    yield Advice(
        "cut_off",
        "moderate",
        "What these calls waited for is not in the trace",
        "For most of their time they waited for elements whose making began before the "
        "recording: the slow stage is one below, and does not show.",
        "Record longer than the slowest call takes, several times as long at best.",
        "",
        ANALYSIS,
    )


def partly_recorded(case: Case) -> Iterator[Advice]:
    """The outermost calls are missing."""
    if not case.pipeline.data.is_partial[case.pipeline.row]:
        return
    yield Advice(
        "partly_recorded",
        "low",
        "The outermost calls of this pipeline are not in the trace",
        "Calls are those of the outermost iterator that was recorded: what its consumers waited "
        "for is not known.",
        "Record longer than the slowest call takes, at host_tracer_level 2.",
        "options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)",
        ANALYSIS,
    )


PIPELINE_RULES: tuple[Rule, ...] = (
    ends_without_prefetch, prefetch_buffer, throughput, rare_stalls, autotune, cut_off,
    partly_recorded, apart,
)  # fmt: skip
# To the point for a pipeline that is fast enough, too.
ALWAYS: tuple[Rule, ...] = (memory,)
