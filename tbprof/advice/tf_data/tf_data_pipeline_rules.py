"""Advice on a whole pipeline: its last stage, its memory, its options, its calls."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tbprof.advice.finding import Finding
from tbprof.advice.guides import DATA_ANALYSIS_GUIDE, MEMORY_FOOTPRINT, OPTIONS, PREFETCHING
from tbprof.advice.sentences import percent
from tbprof.advice.tf_data.tf_data_case import Case, StageRule, duration, is_injected, with_option
from tbprof.advice.tf_data.tf_data_pipelines import SLOW_PS, Stage
from tbprof.advice.tf_data.tf_data_stages import BUFFERED, Kind, shown_type
from tbprof.base.lazy import regex

# Percentage of host memory in use from which memory is reported as scarce.
_MUCH_MEMORY = 80.0
_RAM = regex(r"(\d+) out of (\d+)")
_STALL_RATIO = 10
# Up to this percentage of the time, calls fit into the program's own time between calls.
_HIDDEN = 50.0


def prefetch_is_enough(case: Case) -> bool:
    """Whether batches are produced on demand, each in less time than the program takes between two.

    If they were produced ahead of time, all would be ready when they are needed.
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


def ends_without_prefetch(case: Case) -> Iterator[Finding]:
    """A pipeline that produces batches on demand.

    A prefetch that tf.data added itself is as good as one in the program. Stages that work ahead
    gain nothing from a prefetch after them, except parallel maps, which gain little. The guide has
    the measurements.
    """
    last = _last(case)
    if case.pipeline.is_device or case.pipeline.data.is_partial[case.pipeline.row] or last is None:
        return
    if last.kind in BUFFERED - {Kind.PARALLEL_MAP}:
        return
    detail = (
        f"Its last stage is {shown_type(last.type_name)}"
        + (", which works ahead on its own" if last.kind in BUFFERED else "")
        + ": the next batch is not prepared while the program processes the current one."
    )
    if prefetch_is_enough(case):
        detail += (
            f" Calls take {percent(case.pipeline.share())} of the time, so the rest is long "
            "enough to prepare a batch."
        )
    yield Finding(
        id="prefetch_at_the_end",
        severity="low" if last.kind in BUFFERED else "high",
        title="End the pipeline with a prefetch",
        detail=detail,
        action=(
            "Add .prefetch(tf.data.AUTOTUNE) as the last stage, so that the next batch is "
            "prepared during the step."
        ),
        code="dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        guide=PREFETCHING,
        stage=last.long_name,
    )


def _elements(count: float) -> str:
    if math.isnan(count):
        return "some elements"
    return "1 element" if count == 1 else f"{count:.0f} elements"


def _last(case: Case) -> Stage | None:
    """The stage below the root, which returns batches; None without stages."""
    if len(case.stages) < 2:
        return None
    candidates = [stage for stage in case.stages if stage.parent == 0]
    return max(candidates, key=lambda stage: stage.overall.total_ps) if candidates else None


def prefetch_buffer(case: Case) -> Iterator[Finding]:
    """A prefetch at the end whose buffer holds only one element."""
    last = _last(case)
    if last is None or last.kind is not Kind.PREFETCH or is_injected(last):
        return
    size = last.number("buffer_limit")
    if not size <= 1 or last.is_set("autotune") is True:
        return
    yield Finding(
        id="prefetch_buffer",
        severity="moderate",
        title="Keep more batches ready",
        detail=(
            f"The prefetch at the end keeps {_elements(size)}: one slow batch holds up the program."
        ),
        action=(
            "Let tf.data choose the size: .prefetch(tf.data.AUTOTUNE), or set it to several times "
            "the number of devices."
        ),
        code="dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        guide=PREFETCHING,
        stage=last.long_name,
    )


def throughput(case: Case) -> Iterator[Finding]:
    """A pipeline that ends with a prefetch and still produces less than the program consumes."""
    last = _last(case)
    if last is None or last.kind is not Kind.PREFETCH or case.severity != "high":
        return
    share = case.pipeline.share()
    yield Finding(
        id="throughput",
        severity="low",
        title="The prefetch cannot keep up",
        detail=(
            f"Calls of this pipeline take {percent(share)} of the time, although it ends with a "
            "prefetch: it produces batches more slowly than the program consumes them."
        ),
        action="A larger buffer does not help: speed up the bottleneck.",
        guide=DATA_ANALYSIS_GUIDE,
    )


def apart(case: Case) -> Iterator[Finding]:
    """An experiment: the loader alone, and the model on data that is in memory."""
    if case.pipeline.is_device:
        return
    yield Finding(
        id="try_apart",
        severity="low",
        title="Try the loader and the model separately",
        detail="If the two overlap, a step takes as long as the slower of the two.",
        action=(
            "Run the model repeatedly on one batch, dataset.take(1).cache().repeat(): no input "
            "pipeline can be faster than that. Iterate over the loader without the model: this is "
            "the most that it can deliver."
        ),
        code=(
            "synthetic = dataset.take(1).cache().repeat()\n"
            "import time\n"
            "begin = time.perf_counter()\n"
            "for _ in dataset.take(100):\n"
            "    pass\n"
            "print(100 / (time.perf_counter() - begin), 'batches per second')"
        ),
        guide=DATA_ANALYSIS_GUIDE,
    )


def rare_stalls(case: Case) -> Iterator[Finding]:
    """A few calls that are far slower than the others."""
    calls = case.pipeline.duration_ps
    if calls.size < 3:
        return
    usual = int(calls[calls.size // 2])
    longest = int(calls[0])
    if longest <= SLOW_PS or longest < _STALL_RATIO * max(usual, 1):
        return
    yield Finding(
        id="rare_stall",
        severity="low",
        title="A few calls are far slower than the others",
        detail=(
            f"The slowest call takes {duration(longest)}, the median one {duration(usual)}. "
            "Usual causes are the start of an epoch, buffers that fill, files that are opened, "
            "and Python's garbage collection."
        ),
        action=(
            "Choose other ranks in the graph to see what the slow calls have in common. If they "
            "are at the start of epochs, call repeat before shuffle."
        ),
        guide=DATA_ANALYSIS_GUIDE,
    )


def autotune(case: Case) -> Iterator[Finding]:
    """Fixed parameters that are below what autotuning could choose."""
    fixed = [
        stage
        for stage in case.stages
        if stage.kind in BUFFERED - {Kind.PREFETCH}
        and stage.is_set("autotune") is False
        and not stage.number("parallelism") >= case.processors
    ]
    if not fixed:
        return
    type_names = ", ".join(
        dict.fromkeys(shown_type(fixed_stage.type_name) for fixed_stage in fixed[:5])
    )
    yield Finding(
        id="autotune",
        severity="low",
        title="Let tf.data tune itself",
        detail=f"The program sets a fixed parallelism for {type_names}.",
        action=(
            "Pass tf.data.AUTOTUNE for num_parallel_calls, buffer sizes and cycle_length; "
            "options.autotune limits what it may use: cpu_budget, ram_budget."
        ),
        code=with_option("autotune.enabled", "True"),
        guide=OPTIONS,
        stage=fixed[0].long_name,
    )


def memory(case: Case) -> Iterator[Finding]:
    """Host memory that is nearly full."""
    ram_usage = str(case.stages[0].parameters.get("ram_usage_megabytes", "")) if case.stages else ""
    match = _RAM.match(ram_usage)
    if match is None or not int(match[2]) or 100 * int(match[1]) / int(match[2]) < _MUCH_MEMORY:
        return
    used = 100 * int(match[1]) / int(match[2])
    buffers = sorted(
        (stage for stage in case.stages if stage.number("buffered_bytes_MB") > 0),
        key=lambda buffer_stage: -buffer_stage.number("buffered_bytes_MB"),
    )
    held = ", ".join(
        f"{shown_type(buffer.type_name)} {buffer.number('buffered_bytes_MB'):.0f} MB"
        for buffer in buffers[:3]
    )
    yield Finding(
        id="memory",
        severity="moderate",
        title=f"The memory of the host is {percent(used)} full",
        detail=(
            f"{match[1]} of {match[2]} MB are in use."
            + (f" Buffers of the pipeline hold {held}." if held else "")
        ),
        action=(
            "Use smaller buffers in shuffle(buffer_size), cache() only small data, and use fewer "
            "parallel calls. options.autotune.ram_budget limits the memory of autotuning, in bytes."
        ),
        code=with_option("autotune.ram_budget", "8 * 1024**3"),
        guide=MEMORY_FOOTPRINT,
        stage=buffers[0].long_name if buffers else "",
    )


def cut_off(case: Case) -> Iterator[Finding]:
    """Calls that waited for elements whose production began before the recording."""
    if not case.pipeline.is_cut:
        return
    yield Finding(
        id="cut_off",
        severity="moderate",
        title="The trace does not show what these calls waited for",
        detail=(
            "For most of their time they waited for elements whose production began before the "
            "recording: a stage below is slow, and the trace does not show which."
        ),
        action="Record for longer than the slowest call takes, ideally several times as long.",
        guide=DATA_ANALYSIS_GUIDE,
    )


def partly_recorded(case: Case) -> Iterator[Finding]:
    """A pipeline whose outermost calls are missing."""
    if not case.pipeline.data.is_partial[case.pipeline.row]:
        return
    yield Finding(
        id="partly_recorded",
        severity="low",
        title="The outermost calls of this pipeline are not in the trace",
        detail=(
            "Calls are those of the outermost iterator that was recorded. How long its consumers "
            "waited is unknown."
        ),
        action="Record for longer than the slowest call takes, with host_tracer_level 2.",
        code="options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)",
        guide=DATA_ANALYSIS_GUIDE,
    )


PIPELINE_RULES: tuple[StageRule, ...] = (
    ends_without_prefetch, prefetch_buffer, throughput, rare_stalls, autotune, cut_off,
    partly_recorded, apart,
)  # fmt: skip
# Also relevant for a pipeline that is fast enough.
ALWAYS: tuple[StageRule, ...] = (memory,)
