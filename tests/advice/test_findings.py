"""Each finding just below, at and above its thresholds."""

import dataclasses
import math
from collections.abc import Sequence
from urllib.parse import parse_qsl

import numpy as np
import pytest
from builders.couplings import coupling_of
from builders.job_steps import job_of
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, space_of

from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import SEVERITIES, Finding
from tbprof.advice.guides import DATA_GUIDE
from tbprof.advice.input.input_cause import CauseKind, InputCause
from tbprof.advice.pages import OPS
from tbprof.advice.rules.findings import find_findings
from tbprof.advice.rules.findings_host import eager_shares
from tbprof.advice.rules.findings_input import input_bound
from tbprof.advice.sentences import milliseconds, shortened, size
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.gpu.gpu_facts import GpuFacts
from tbprof.analysis.gpu.kernels import Kernels, find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.host_facts import HostFacts, find_host_facts
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.memory.memory_peaks import MemoryPeaks
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.run.environment import find_environment
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.tools.overview.overview_advice import recommendation_table

US, MS = 10**6, 10**9
NO_GPU = Devices(0, 0, "CPU", math.nan, math.nan)
GPU = Devices(1, 0, "GPU", math.nan, math.nan)
TPU = Devices(0, 4, "TPU", math.nan, math.nan)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def gpus(**columns: Sequence[int]) -> GpuFacts:
    """One GPU, or as many as the columns have."""
    count = max(map(len, (columns.get("window_ps", ()), columns.get("kernels", ()))), default=0)
    copies = len(columns.get("copies", ()))
    fields: dict[str, object] = {"name": [f"GPU:{at}" for at in range(count)]}
    for field in dataclasses.fields(GpuFacts):
        given = "copy_ps" if field.name == "copying_ps" else field.name
        if given in columns:
            value = columns[given]
            fields[field.name] = value if field.name == "copy_kind" else ints(*value)
        elif field.name == "copy_kind":
            fields[field.name] = ["MemcpyHToD"] * copies
        elif field.name != "name":
            is_copy = field.name.startswith("cop") or field.name == "pageable"
            fields[field.name] = np.zeros(copies if is_copy else count, np.int64)
    return GpuFacts(**fields)  # type: ignore[arg-type]


NO_SENDS = (ints(), ints())
EMPTY = space_of(draw({"/host:CPU": "t |"}))
NO_HOST_FACTS = find_host_facts(EMPTY, Programs(EMPTY))
NO_ENVIRONMENT = dataclasses.replace(find_environment(EMPTY, Programs(EMPTY)), window_ps=1000 * MS)
NO_INPUT = find_input_ops(EMPTY, Programs(EMPTY))


def host(**fields: object) -> HostFacts:
    return dataclasses.replace(NO_HOST_FACTS, **fields)  # type: ignore[arg-type]


def memory(*rows: tuple[str, bool, int, int, float]) -> MemoryPeaks:
    """(name, is a device's, peak, capacity, fragmentation) of each allocator."""
    nothing = np.zeros(len(rows), np.int64)
    return MemoryPeaks(
        [row[0] for row in rows], np.array([row[1] for row in rows], bool),
        ints(*(row[2] for row in rows)), ints(*(row[2] for row in rows)),
        ints(*(row[3] for row in rows)), np.array([row[4] for row in rows], np.float64),
        nothing, nothing, nothing,
    )  # fmt: skip


def kernels(*rows: tuple[bool, int, int], of_amd: bool = False) -> Kernels:
    """(is eligible, `CoreUse`, total µs) of each kernel."""
    count = len(rows)
    nothing = np.zeros(count, np.int64)
    shape = np.ones((count, 3), np.int64)
    total = ints(*(row[2] * US for row in rows))
    return dataclasses.replace(
        find_kernels(EMPTY, Programs(EMPTY)),
        name=[f"kernel{at}" for at in range(count)], op=[f"op{at}" for at in range(count)],
        block=shape, grid=shape, registers=nothing, shared_bytes=nothing,
        is_eligible=np.array([row[0] for row in rows], bool),
        core_use=np.array([row[1] for row in rows], np.int8), occupancy_pct=np.zeros(count),
        occurrences=nothing + 1, total_ps=total, least_ps=total, most_ps=total,
        copy=[""] * count, is_amd=np.full(count, of_amd),
    )  # fmt: skip


def ops(*rows: tuple[bool, str, str, int, bool]) -> OpMetrics:
    """(is on a device, name, type, self µs, is eager) of each op."""
    nothing = np.zeros(len(rows), np.int64)
    own = ints(*(row[3] * US for row in rows))
    return OpMetrics(
        np.array([row[0] for row in rows], bool), [row[1] for row in rows],
        [row[2] for row in rows], nothing + 1, own, own, nothing, nothing, nothing, nothing,
        np.array([row[4] for row in rows], bool), np.zeros(len(rows), bool),
    )  # fmt: skip


def inputs(**work_us: int) -> InputOps:
    """Ops of an input pipeline by name and the time that they worked."""
    names = [f"Iterator::Root::{name}" for name in work_us]
    work = ints(*(time * US for time in work_us.values()))
    nothing = np.zeros(len(names), np.int64)
    return dataclasses.replace(
        NO_INPUT, name=names, category=nothing + int(InputCategory.PREPROCESSING),
        count=nothing + 1, total_ps=work, self_ps=work, wait_ps=nothing, background_ps=nothing,
    )  # fmt: skip


def evidence(
    permille: dict[Phase, int] | None = None,
    *,
    gap: int = 0,
    devices: Devices = GPU,
    host_facts: HostFacts = NO_HOST_FACTS,
    **more: object,
) -> Evidence:
    """Ten steps of 1 ms, split as `permille` says; the rest computes in 16 bit."""
    split = {Phase.COMPUTE_16: 1000 - sum((permille or {}).values()), **(permille or {})}
    worker = "GPU:0"
    job = job_of(
        [{worker: split}] * 10, gaps={(step, worker): gap for step in range(10)}, marker="train"
    )
    parts: dict[str, object] = {
        "ops": ops(), "kernels": kernels(), "gpus": gpus(), "memory": memory(), **more,
    }  # fmt: skip
    return Evidence(
        job=job,
        means=step_means(job),
        devices=devices,
        environments=[NO_ENVIRONMENT],
        hosts=[host_facts],
        **parts,  # type: ignore[arg-type]
    )


def found(given: Evidence, id_: str) -> Finding | None:
    by_id = {finding.id: finding for finding in find_findings(given)}
    return by_id.get(id_)


def claim(given: Evidence, id_: str) -> Finding:
    """The finding of that id, which must be there."""
    finding = found(given, id_)
    assert finding is not None, id_
    return finding


def severities(id_: str, *values: Evidence) -> list[str | None]:
    return [one.severity if (one := found(value, id_)) else None for value in values]


LADDER = [None, "moderate", "moderate", "high", "high"]


@pytest.mark.parametrize(
    ("id_", "phase", "moderate", "high"),
    [
        ("input_bound", Phase.INPUT, 50, 200),
        ("output_bound", Phase.OUTPUT, 50, 200),
        ("device_to_device", Phase.DEVICE_TO_DEVICE, 50, 200),
        ("kernel_launch", Phase.KERNEL_LAUNCH, 30, 150),
        ("collectives", Phase.COLLECTIVES, 30, 150),
    ],
)
def test_shares_of_step_time(id_, phase, moderate, high):
    ladder = (moderate - 1, moderate, high - 1, high, high + 1)
    assert severities(id_, *(evidence({phase: permille}) for permille in ladder)) == LADDER
    at = found(evidence({phase: high}), id_)
    assert at is not None
    assert (at.value, at.unit, at.threshold) == (pytest.approx(high / 10), "%", high / 10)
    assert at.gain_ms == pytest.approx(high / 1000)
    assert at.gain_ratio == pytest.approx(high / 1000)
    assert claim(evidence({phase: moderate}), id_).threshold == moderate / 10


def test_a_gap_between_steps():
    ladder = [evidence({Phase.OTHER: gap}, gap=gap) for gap in (29, 30, 149, 150, 400)]
    assert severities("gap_between_steps", *ladder) == LADDER
    at = found(ladder[3], "gap_between_steps")
    assert at is not None
    assert at.gain_ms == pytest.approx(0.15)
    assert "train" in at.detail


def cause_of(
    kind: CauseKind = "stage", type_: str = "ParallelMap", stage_ms: float = 0.2
) -> InputCause:
    return InputCause(
        kind, "h0", "Host:0", "Iterator::Root::ParallelMapV2", type_, stage_ms, 0.3,
        "ParallelMap takes 200 µs.", "Make it cheaper.", DATA_GUIDE,
    )  # fmt: skip


def test_an_input_bound_program_is_told_what_its_input_waits_for():
    given = evidence({Phase.INPUT: 300})
    given = dataclasses.replace(given, input_cause=cause_of())
    finding = found(given, "input_bound")
    assert finding is not None
    assert finding.title.endswith("30.0 % of step time waits for input, above all for ParallelMap")
    assert finding.detail.endswith("ParallelMap takes 200 µs.")
    assert finding.action == "Make it cheaper."
    assert finding.gain_ms == pytest.approx(0.3)
    assert finding.next_page.tool == "tf_data_bottleneck_analysis"
    assert finding.evidence.tool == "trace_viewer"


@pytest.mark.parametrize(("devices", "is_sent"), [(NO_GPU, True), (GPU, True), (TPU, False)])
def test_data_on_its_way_to_devices_is_not_said_to_be_input(devices: Devices, is_sent: bool):
    given = evidence({Phase.INPUT: 300}, devices=devices)
    given = dataclasses.replace(given, input_cause=cause_of("transfer", ""))
    finding = found(given, "input_bound")
    assert finding is not None
    sent = "30.0 % of step time goes to sending data to devices"
    assert (finding.title == sent) == is_sent
    assert ("input-bound" in finding.title) != is_sent
    statement = recommendation_table(given).properties["statement"]
    assert statement.startswith("30.0% of the sampled step time is spent sending") == is_sent


def test_how_much_a_program_waits_for_input_is_no_matter_of_what_others_promise():
    """All pages say "highly" of 30 %, of which half is left to gain."""
    given = evidence({Phase.INPUT: 300})
    [finding] = input_bound(dataclasses.replace(given, promised={Phase.INPUT: 15.0}))
    assert "highly input-bound: 30.0 %" in finding.title
    assert (finding.severity, finding.gain_ms) == ("moderate", pytest.approx(0.15))
    assert finding.detail.endswith("Other findings are about 150 µs of that.")


@pytest.mark.parametrize("cause", [None, cause_of(stage_ms=0.1), cause_of("unknown", "")])
def test_a_stage_that_takes_less_than_half_is_not_in_the_headline(cause: InputCause | None):
    given = dataclasses.replace(evidence({Phase.INPUT: 300}), input_cause=cause)
    finding = found(given, "input_bound")
    assert finding is not None
    assert finding.title.endswith("30.0 % of step time waits for input")


def test_launches_that_compete_with_tf_data():
    """Ten steps of 1 ms: two threads at work all the time are 20 ms."""
    launches = {Phase.KERNEL_LAUNCH: 30}
    alone = found(evidence(launches, inputs=inputs(Map=19_999)), "kernel_launch")
    both = found(evidence(launches, inputs=inputs(Map=20_000)), "kernel_launch")
    assert "gpu_private" not in alone.action  # type: ignore[union-attr]
    assert "gpu_private" in both.action  # type: ignore[union-attr]
    assert "intra_op" in both.action  # type: ignore[union-attr]


@pytest.mark.parametrize("is_xla", [False, True])
def test_a_program_of_xla_is_not_told_to_use_it(is_xla):
    given = evidence({Phase.KERNEL_LAUNCH: 30}, host_facts=host(is_xla=is_xla))
    finding = found(given, "kernel_launch")
    assert finding is not None
    assert ("jit_compile" in finding.action) == (not is_xla)
    assert "steps_per_execution" in finding.action
    assert ("command buffers" in finding.action) == is_xla


@pytest.mark.parametrize(("named", "has_gap"), [(0.29, True), (0.31, False)])
def test_a_gap_is_a_finding_only_where_no_function_explains_it(named, has_gap):
    """Of 400 µs without work 200 are a gap: 100 of it at least must be of the function."""
    shares = (idle(Activity.PYTHON, named, "$train.py:14 batch"), idle(Activity.UNCOVERED, 0.1))
    given = evidence({Phase.OTHER: 400}, gap=200, idle=shares)
    assert (found(given, "gap_between_steps") is not None) == has_gap


def idle(kind: Activity, ms: float, name: str = "", **parts: float) -> IdleShare:
    """What the driving thread did; `parts` are frames of C functions and their ms."""
    within = {f"$time {part}": time for part, time in parts.items()}
    rest = {"": ms - sum(within.values())}
    ranked = tuple(sorted({**within, **rest}.items(), key=lambda one: -one[1]))
    return IdleShare(kind, name, kind != Activity.UNCOVERED, ms, ranked)


BATCH = "$train.py:14 batch"


@pytest.mark.parametrize(
    ("permille", "severity"), [(29, None), (30, "low"), (50, "moderate"), (150, "high")]
)
def test_the_function_that_takes_the_time_is_named_with_what_it_waits_for(permille, severity):
    ms = permille / 1000
    shares = (idle(Activity.PYTHON, ms, BATCH, sleep=0.9 * ms),)
    given = evidence({Phase.OTHER: permille}, idle=shares)
    finding = found(given, "python_overhead")
    assert severities("python_overhead", given) == [severity]
    if finding is not None:
        us = f"{permille} µs"
        assert finding.title.startswith(f"batch (train.py:14) takes {us} of each step, ")
        assert finding.title.endswith(f"{0.9 * permille:.3g} µs of them in time.sleep")
        assert finding.gain_ms == pytest.approx(ms)
        assert "what it waits for" in finding.action
        assert dict(parse_qsl(finding.evidence.query))["q"] == f"whole:{BATCH}"
        assert found(given, "all_others") is None  # nothing is left to say


def test_functions_at_work_are_told_to_work_ahead_and_the_rest_stands_beside():
    shares = (
        idle(Activity.PYTHON, 0.2, BATCH, sleep=0.01),
        idle(Activity.UNCOVERED, 0.1),
        idle(Activity.PYTHON, 0.05, "$train.py:30 log"),
    )
    given = evidence({Phase.OTHER: 350}, idle=shares)
    finding = found(given, "python_overhead")
    assert finding is not None
    assert finding.title == "batch (train.py:14) takes 200 µs of each step"
    assert "log (train.py:30) 50 µs" in finding.detail
    assert "ahead" in finding.action
    rest = found(given, "all_others")
    assert rest is not None
    assert rest.gain_ms == pytest.approx(0.15)
    assert rest.title.endswith("; no event was recorded in 66.7 % of that")
    assert rest.detail.startswith(
        "Of 150 µs per step: not covered by any recorded event 100 µs, Python 50 µs."
    )


def test_a_function_has_its_waits_for_other_threads_too():
    shares = (
        IdleShare(Activity.WAIT, BATCH, is_driver=True, ms=0.2, parts=(("$queue.py:9 get", 0.2),)),
        idle(Activity.PYTHON, 0.1, BATCH),
        IdleShare(Activity.WAIT, "$time sleep", is_driver=True, ms=0.05, parts=(("", 0.05),)),
    )
    given = evidence({Phase.OTHER: 350}, idle=shares)
    finding = found(given, "python_overhead")
    assert finding is not None
    title = "batch (train.py:14) takes 300 µs of each step, 200 µs of them in queue.get"
    assert finding.title == title
    rest = found(given, "all_others")
    assert rest is not None
    assert rest.gain_ms == pytest.approx(0.05)


def test_idle_time_names_what_was_at_work_instead_of_nothing():
    shares = (
        IdleShare(Activity.TF_DATA_FUNCTION, "", is_driver=False, ms=0.12, parts=(("", 0.12),)),
        IdleShare(Activity.TF_DATA, "", is_driver=False, ms=0.06, parts=(("", 0.06),)),
        idle(Activity.UNCOVERED, 0.02),
    )
    finding = found(evidence({Phase.OTHER: 200}, idle=shares), "all_others")
    assert finding is not None
    assert finding.title == (
        "In 20.0 % of step time no device worked and no op of the step was recorded; threads of "
        "tf.data were at work in 90.0 % of that"
    )
    assert "No frames of Python were recorded" in finding.detail
    assert "waits for a batch would count as input" in finding.action


def calls(ms: float, name: str = "PjitFunction(f)") -> IdleShare:
    """Time in calls of the runtime."""
    return IdleShare(Activity.RUNTIME, "", is_driver=True, ms=ms, parts=((name, ms),))


@pytest.mark.parametrize(
    ("ms", "severity"), [(0.029, None), (0.03, "low"), (0.05, "moderate"), (0.3, "moderate")]
)
def test_calls_in_which_no_op_runs_are_named_and_never_graded_high(ms, severity):
    given = evidence({Phase.OTHER: round(1000 * ms)}, idle=(calls(ms),))
    assert severities("all_others", given) == [severity]
    finding = found(given, "all_others")
    if finding is not None:
        assert finding.title.endswith("; calls of the runtime were under way in 100.0 % of that")
        assert "(most of it in PjitFunction(f))" in finding.detail
        assert "wait for a processor" in finding.action
        assert "No frames" not in finding.detail


def test_time_that_nothing_explains_is_graded_by_its_share():
    steps = (evidence({Phase.OTHER: permille}) for permille in (29, 30, 49, 50, 149, 150))
    expected = [None, "low", "low", "moderate", "moderate", "high"]
    assert severities("all_others", *steps) == expected


def test_what_is_small_leaves_the_headline_good():
    small = (idle(Activity.UNCOVERED, 0.04),)
    findings = find_findings(evidence({Phase.OTHER: 40}, idle=small))
    assert [one.id for one in findings] == ["no_bottleneck", "all_others"]
    assert "what else was found is small" in findings[0].detail


def test_activities_that_share_time_with_another_finding_are_not_said_to_fill_the_rest():
    """Of 400 µs without ops 300 lie between steps: which activity lies where is not known."""
    shares = (calls(0.1), idle(Activity.UNCOVERED, 0.3))
    given = evidence({Phase.OTHER: 400}, gap=300, idle=shares)
    assert found(given, "gap_between_steps") is not None
    rest = found(given, "all_others")
    assert rest is not None
    assert rest.gain_ms == pytest.approx(0.1)
    assert rest.title.startswith("In another 10.0 % of step time")
    assert rest.title.endswith("was recorded")
    assert rest.detail.startswith("With time that other findings are about it is 400 µs per step: ")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Activity.EAGER, "one compiled function (tf.function)"),
        (Activity.WAIT, "which thread or device"),
        (Activity.MEMORY, "what allocates"),
        (Activity.TRANSFER, "ahead of the step"),
    ],
)
def test_the_advice_follows_from_what_filled_the_time(kind, says):
    share = IdleShare(kind, "", is_driver=True, ms=0.2, parts=(("", 0.2),))
    finding = found(evidence({Phase.OTHER: 200}, idle=(share,)), "all_others")
    assert finding is not None
    assert says in finding.action


def test_an_annotation_is_named_where_there_are_no_frames():
    shares = (idle(Activity.ANNOTATION, 0.2, "load_batch"),)
    finding = found(evidence({Phase.OTHER: 200}, idle=shares), "annotation_overhead")
    assert finding is not None
    assert finding.title == "load_batch takes 200 µs of each step"
    assert "does not show what goes on in it" in finding.action
    assert found(evidence({Phase.OTHER: 200}, idle=shares), "python_overhead") is None


def test_frames_that_were_recorded_are_not_missed():
    given = evidence({Phase.OTHER: 30}, host_facts=host(has_python=True))
    finding = found(given, "all_others")
    assert finding is not None
    assert "No frames" not in finding.detail
    assert "Python tracer" not in finding.action
    assert "Python tracer" in claim(evidence({Phase.OTHER: 30}), "all_others").action


def late(by: int) -> Evidence:
    """Two workers of steps of 100 µs: the first needs `by` µs longer, the other waits for it."""
    step = {
        "GPU:0": {Phase.COMPUTE_16: 50 + by, Phase.COLLECTIVES: 50 - by},
        "GPU:1": {Phase.COMPUTE_16: 50, Phase.COLLECTIVES: 50},
    }
    job = job_of([step] * 4)
    tied = [coupling_of(job.worker_name)]
    return dataclasses.replace(evidence(), job=job, means=step_means(job), couplings=tied)


def test_stragglers():
    assert severities("straggler", *map(late, (4, 5, 19, 20, 21))) == LADDER
    finding = found(late(20), "straggler")
    assert finding is not None
    assert finding.title == "GPU:0 makes the others wait for 20.0 % of step time"
    assert "20 µs per step (95 %: 20 µs to 20 µs over 4 steps) longer than GPU:1" in finding.detail
    assert "GPU:1 waits 20 µs longer in collectives" in finding.detail
    assert finding.gain_ms == pytest.approx(0.02)
    assert finding.evidence.query == "worker=0"
    untied = dataclasses.replace(late(20), couplings=[])
    assert found(untied, "straggler") is None


def test_waits_for_a_late_worker_are_not_called_communication_too():
    """Both spend 50 µs of 100 in collectives, the late one 30 less: that is communication."""
    given = late(30)
    finding = found(given, "collectives")
    assert finding is not None
    assert finding.title == (
        "35.0 % of step time goes to collective communication, 20.0 % without waiting for GPU:0"
    )
    assert finding.gain_ms == pytest.approx(0.02)
    # What is left is too little.
    assert found(late(48), "collectives") is None
    # Without a late worker all of it is communication.
    alike = found(late(0), "collectives")
    assert alike is not None
    assert alike.gain_ms == pytest.approx(0.05)


# GPUs


def test_small_kernels():
    def of(share: int) -> Evidence:
        return evidence({Phase.OTHER: 40}, gpus=gpus(
            window_ps=[500 * US, 500 * US], kernels=[40, 60], small_kernels=[10, 20],
            small_ps=[share * US, 0], small_gap_ps=[0, 40 * US], median_ps=[1 * US, 4 * US],
        ))  # fmt: skip

    assert severities("small_kernels", *map(of, (59, 60, 259, 260, 900))) == LADDER
    finding = found(of(260), "small_kernels")
    assert finding is not None
    assert finding.value == pytest.approx(30.0)
    assert finding.gain_ms == pytest.approx(0.04)
    assert "30 of 100 kernels" in finding.detail
    assert "the median of all lasts 4 µs" in finding.detail
    assert finding.evidence.query == "f.avg_duration_us=%3C5"


def test_small_kernels_without_pauses_are_no_loss():
    busy = gpus(
        window_ps=[1000 * US], kernels=[100], small_kernels=[100], small_ps=[900 * US],
        small_gap_ps=[29 * US], median_ps=[1 * US],
    )  # fmt: skip
    assert severities("small_kernels", evidence(gpus=busy)) == ["low"]


def test_copies_to_devices_gain_what_steps_wait_for_at_most():
    def of(time: int, waiting: int = 0) -> Evidence:
        return evidence({Phase.INPUT: waiting}, gpus=gpus(
            window_ps=[1000 * US], kernels=[0], copies=[10, 1], copy_ps=[time * US, 10 * US],
            copy_bytes=[20_480, 7], pageable=[3, 0], copy_kind=["MemcpyHToD", "MemcpyDToH"],
        ))  # fmt: skip

    assert severities("copies_to_device", of(49), of(50), of(300)) == [None, "low", "low"]
    finding = found(of(200, 30), "copies_to_device")
    assert finding is not None
    assert (finding.severity, finding.gain_ms) == ("moderate", pytest.approx(0.03))
    assert finding.detail.startswith("10 copies of 2 KiB on average, 0.102 GB/s. 3 of them")
    assert finding.detail.endswith("Steps wait for little of that.")
    assert claim(of(50), "copies_to_device").gain_ms == 0.0


def test_copies_that_are_the_input_are_said_once():
    """Steps of 1 ms in which a GPU waits 300 µs for copies, and nothing else sends data."""
    copies = gpus(window_ps=[1000 * US], kernels=[0], copies=[10], copy_ps=[300 * US],
                  copy_bytes=[20_480], pageable=[0])  # fmt: skip
    given = evidence({Phase.INPUT: 300}, gpus=copies)
    sent = dataclasses.replace(given, input_cause=cause_of("transfer", ""))
    assert [one.id for one in find_findings(sent)] == ["input_bound"]
    assert "10 copies of 2 KiB on average" in claim(sent, "input_bound").detail
    # Where a loader is slow copies are a part of what steps wait for.
    other = found(dataclasses.replace(given, input_cause=cause_of()), "copies_to_device")
    assert other is not None
    assert (other.severity, other.gain_ms) == ("low", 0.0)
    assert other.detail.endswith("Other findings are about 300 µs of that.")


def test_copies_of_unknown_size():
    facts = gpus(window_ps=[100], kernels=[0], copies=[2], copy_ps=[50], copy_bytes=[-1])
    assert claim(evidence(gpus=facts), "copies_to_device").detail.startswith("2 copies. ")


def in_32_bit(share: int, low: int = 0) -> Evidence:
    """`share` permille of kernel time could use Tensor Cores; `low` permille is in 16 bit."""
    split = {Phase.COMPUTE_16: low, Phase.COMPUTE_32: 1000 - low}
    rows = kernels((True, False, share), (True, True, 0), (False, False, 1000 - share))
    return evidence(split, kernels=rows)


def test_ops_that_could_use_tensor_cores():
    ladder = map(in_32_bit, (99, 100, 399, 400, 900))
    assert severities("no_mixed_precision", *ladder) == LADDER
    finding = found(in_32_bit(400), "no_mixed_precision")
    assert finding is not None
    assert finding.gain_ms == pytest.approx(0.2)  # half of 40 % of 1 ms
    assert "0.0 % of device compute is in 16 bit" in finding.detail


def test_programs_that_compute_in_16_bit_need_no_word_about_precision():
    assert found(in_32_bit(400, low=99), "no_mixed_precision") is not None
    assert found(in_32_bit(400, low=100), "no_mixed_precision") is None


def test_products_of_which_nothing_is_known_are_not_said_to_do_without_tensor_cores():
    unknown = kernels((True, CoreUse.UNKNOWN, 900), (False, CoreUse.NO, 100))
    given = evidence({Phase.COMPUTE_32: 1000}, kernels=unknown)
    assert found(given, "no_mixed_precision") is None
    some = kernels((True, CoreUse.NO, 400), (True, CoreUse.UNKNOWN, 600))
    finding = found(evidence({Phase.COMPUTE_32: 1000}, kernels=some), "no_mixed_precision")
    assert finding is not None
    assert finding.value == pytest.approx(40)
    assert "Of 60.0 % of kernel time it is not known." in finding.detail
    assert finding.evidence.query == "f.is_op_tensor_core_eligible=yes&f.tensor_core_use=%3Dno"


def test_the_cores_have_the_name_that_their_vendor_gives_them():
    for of_amd, name, other in (
        (True, "Matrix Cores", "Tensor Cores"), (False, "Tensor Cores", "Matrix Cores"),
    ):  # fmt: skip
        given = evidence(
            {Phase.COMPUTE_32: 1000}, kernels=kernels((True, CoreUse.NO, 9), of_amd=of_amd)
        )
        finding = found(given, "no_mixed_precision")
        assert finding is not None
        text = f"{finding.title} {finding.detail} {finding.action}"
        assert name in text
        assert other not in text


def convolutions(into: int, out: int, *, op: str = "model/conv", name: str = "conv") -> Evidence:
    """Kernels of 1,000 µs: `into` and `out` of them turn arrays, in as many launches."""
    rows = kernels((False, 0, into), (False, 0, out), (True, 1, 1000 - into - out))
    rows.name[:] = ["void cudnn::ops::nchwToNhwcKernel<float>", "nhwcToNchwKernel<float>", name]
    rows.op[:] = [op] * 3
    rows.occurrences[:2] = (into, out)
    return evidence(kernels=rows)


def test_convolutions_that_turn_their_images():
    ladder = [convolutions(*pair) for pair in ((19, 10), (20, 10), (99, 50), (100, 50), (300, 9))]
    assert severities("channels_last", *ladder) == LADDER
    finding = found(ladder[3], "channels_last")
    assert finding is not None
    assert finding.gain_ms == pytest.approx(0.15)
    assert "100 arrays to channels last" in finding.detail
    assert finding.evidence.tool == "kernel_stats"


def test_biases_before_batch_normalization():
    def of(bias: int) -> Evidence:
        facts = gpus(window_ps=[10**9], kernels=[9], kernel_ps=[1000 * US], median_ps=[1],
                     bias_ps=[bias * US])  # fmt: skip
        return evidence(gpus=facts)

    assert severities("bias_before_batch_norm", *map(of, (29, 30, 149, 150, 500))) == LADDER
    finding = found(of(150), "bias_before_batch_norm")
    assert finding is not None
    assert finding.gain_ms == pytest.approx(0.15)
    assert "use_bias=False" in finding.action


def test_programs_that_are_channels_last_are_not_told_to_be():
    assert found(convolutions(50, 100), "channels_last") is None
    turned = "model/conv-0-TransposeNHWCToNCHW-LayoutOptimizer"
    assert found(convolutions(100, 50, op=turned), "channels_last") is None
    assert found(convolutions(100, 50, name="gemm"), "channels_last") is None  # no convolution


@pytest.mark.parametrize(
    ("capability", "told"),
    [("6.1 (Pascal)", False), ("7.0 (Volta)", True), ("9.4", True), ("", True)],
)
def test_gpus_without_tensor_cores_are_let_off(capability, told):
    environment = dataclasses.replace(
        NO_ENVIRONMENT, detail_name=["Compute capability"], detail_value=[capability]
    )
    given = dataclasses.replace(in_32_bit(400), environments=[environment])
    assert (found(given, "no_mixed_precision") is not None) == told


# Host


def test_eager_ops_on_either_side():
    def of(eager: int, *, on_device: bool) -> Evidence:
        return evidence(ops=ops((on_device, "a", "MatMul", eager, True),
                                (on_device, "b", "Add", 1000 - eager, False)))  # fmt: skip

    for on_device in (False, True):
        ladder = [of(eager, on_device=on_device) for eager in (100, 101, 499, 500, 1000)]
        assert severities("eager_ops", *ladder) == LADDER
    assert found(of(100, on_device=True), "eager_ops") is None  # more than 10 %


def test_eager_calls_count_where_the_ops_leave_no_events():
    facts = host(eager_name=["MatMul", "Relu"], eager_count=ints(60, 2), eager_ps=ints(200 * US, 0))
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert eager_shares(given) == (pytest.approx(20.0), pytest.approx(math.nan, nan_ok=True))
    finding = found(given, "eager_ops")
    assert finding is not None
    assert "62 calls, most time in MatMul, Relu" in finding.detail
    assert finding.gain_ms is None
    assert finding.evidence.query == "f.eager=%3DEager"


def test_ops_that_write_checkpoints_belong_into_no_function():
    facts = host(eager_name=["SaveV2"], eager_count=ints(60), eager_ps=ints(500 * US))
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert found(given, "eager_ops") is None
    assert eager_shares(given)[0] == pytest.approx(100 * 500 / 1300)


def test_few_calls_beside_a_function_are_not_the_step():
    facts = host(eager_name=["Mul"], eager_count=ints(39), eager_ps=ints(500 * US))
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert found(given, "eager_ops") is None
    many = dataclasses.replace(facts, eager_count=ints(40))
    assert found(dataclasses.replace(given, hosts=[many]), "eager_ops") is not None


def test_ops_one_by_one_count_by_the_time_that_they_take_of_steps():
    """In each step of 1 ms from 100 to 400 µs; devices are idle for 250 µs of it."""
    start = ints(*range(0, 10_000 * US, 1000 * US)) + 100 * US
    called = ints(*[240 * US] * 10)
    runs = SingleOps(
        start,
        start + 300 * US,
        ints(*[20] * 10),
        called,
        ["Mul", "AddV2"],
        ints(150, 50),
        *NO_SENDS,
    )
    split = {Phase.OTHER: 150, Phase.HOST_COMPUTE: 100}
    finding = found(evidence(split, single_ops=[runs]), "eager_ops")
    assert finding is not None
    assert finding.severity == "high"
    assert finding.value == pytest.approx(30.0)
    assert finding.gain_ms == pytest.approx(0.25)
    assert "take 300 µs" in finding.detail
    assert "200 calls in all, most of them of Mul, AddV2" in finding.detail
    assert "20.0 % of that time passes between two calls" in finding.detail
    assert dict(parse_qsl(finding.evidence.query))["q"] == "EagerExecute"


def test_a_step_of_few_calls_is_not_said_to_run_op_by_op():
    """Such as that of a compiled function that is called once in each step of one millisecond."""

    def of(calls: int) -> Evidence:
        start = ints(*range(0, 10_000 * US, 1000 * US))
        each = ints(*[calls] * 10)
        counts = ints(10 * calls)
        runs = SingleOps(start, start + 900 * US, each, each, ["step"], counts, *NO_SENDS)
        return evidence({Phase.OTHER: 900}, single_ops=[runs])

    assert found(of(3), "eager_ops") is None
    assert found(of(4), "eager_ops") is not None


def test_a_wait_for_a_batch_is_no_eager_computation():
    given = ops((False, "EagerExecute: IteratorGetNext", "IteratorGetNext", 700, True),
                (False, "a", "MatMul", 300, False))  # fmt: skip
    assert eager_shares(evidence(ops=given))[0] == 0


def test_nothing_is_known_of_eager_ops_without_ops():
    assert all(map(math.isnan, eager_shares(evidence())))


def traced(share: int, mode: str = "traced-nonXla") -> Evidence:
    facts = host(
        function_name=["f", "g"], function_mode=[mode, "notTraced-nonXla"],
        function_calls=ints(2, 5), function_ps=ints(share * US, (1000 - share) * US),
        tracings=ints(7, 1), functions=ints(1, 1),
    )  # fmt: skip
    return evidence({Phase.OTHER: 50}, host_facts=facts)


def test_functions_that_are_traced_anew():
    assert severities("retracing", *map(traced, (199, 200, 499, 500, 1000))) == LADDER
    finding = found(traced(500), "retracing")
    assert finding is not None
    assert finding.detail == "f: 2 calls, 500 µs, traced 7 times by then."
    assert finding.gain_ms == pytest.approx(0.05)  # 500 µs over ten steps
    assert found(traced(500, "eager"), "retracing") is not None
    assert found(traced(500, "concrete"), "retracing") is None


def test_the_first_call_of_a_function_is_not_traced_anew():
    given = traced(500)
    (facts,) = given.hosts
    once = dataclasses.replace(facts, function_calls=ints(1, 5), tracings=ints(1, 1))
    assert found(dataclasses.replace(given, hosts=[once]), "retracing") is None
    again = dataclasses.replace(facts, function_calls=ints(1, 5), tracings=ints(2, 1))
    finding = found(dataclasses.replace(given, hosts=[again]), "retracing")
    assert finding is not None
    assert finding.detail == "f: 1 call, 500 µs, traced 2 times by then."


def test_functions_of_one_name_are_not_one():
    given = traced(500)
    facts = dataclasses.replace(given.hosts[0], function_name=["<lambda>", "g"],
                                functions=ints(2, 1))  # fmt: skip
    finding = found(dataclasses.replace(given, hosts=[facts]), "retracing")
    assert finding is not None
    assert finding.detail == "<lambda> (2 tf.functions or more): 2 calls, 500 µs."


def test_functions_that_run_eagerly_are_not_said_to_be_traced():
    assert claim(traced(500), "retracing").title.endswith("goes to calls that trace them")
    eager = found(traced(500, "eager"), "retracing")
    assert eager is not None
    assert eager.title.endswith("goes to running them eagerly")


def test_three_of_many_functions_are_named():
    names = list("abcd")
    facts = host(
        function_name=names, function_mode=["traced-xla"] * 4, function_calls=ints(2, 2, 2, 2),
        function_ps=ints(*[250 * US] * 4), tracings=ints(0, 0, 0, 0),
        functions=ints(1, 1, 1, 1),
    )  # fmt: skip
    assert "and 1 more" in claim(evidence(host_facts=facts), "retracing").detail


def test_compilation_within_the_trace():
    def of(time: int) -> Evidence:
        facts = host(compilations=2, compile_ps=time * MS, compile_first_ps=0,
                     compile_last_ps=900 * MS, compile_name=["XlaCompile"],
                     compile_count=ints(2), compile_name_ps=ints(time * MS))  # fmt: skip
        return evidence({Phase.COMPILATION: share}, host_facts=facts)

    share = 30
    assert severities("compilation", *map(of, (29, 30, 149, 150, 2000))) == LADDER
    share = 20
    assert severities("compilation", of(29), of(2000)) == [None, "low"]  # outside of the steps
    finding = found(of(150), "compilation")
    assert finding is not None
    assert "2 compilations, 150 ms in all, from 0 µs to 900 ms of the trace" in finding.detail
    assert finding.gain_ms == pytest.approx(0.02)
    assert claim(of(2000), "compilation").value == 100.0


def test_the_host_that_compiled_most_is_told():
    quiet, busy = host(), host(compilations=1, compile_ps=40 * MS, compile_name=["X"])
    given = dataclasses.replace(
        evidence(), hosts=[quiet, busy], environments=[NO_ENVIRONMENT, NO_ENVIRONMENT]
    )
    assert claim(given, "compilation").value == pytest.approx(4.0)


def test_ops_outside_of_compilation():
    def of(share: int, name: str, kind: str) -> Evidence:
        return evidence(ops=ops((True, name, kind, share, False), (True, "b", "Add", 1000 - share,
                        False), (False, "c", "XlaSendToHost", 9000, False)))  # fmt: skip

    ladder = [of(share, "a", "XlaSendToHost") for share in (50, 51, 199, 200, 500)]
    assert severities("outside_compilation", *ladder) == LADDER
    assert found(of(51, "x:XlaRecvFromHost", "Unknown"), "outside_compilation") is not None
    assert found(of(51, "x", "Add"), "outside_compilation") is None


# Memory


def test_memory_near_capacity():
    def of(peak: int, *, is_device: bool = True) -> Evidence:
        return evidence(memory=memory(("GPU_1_bfc", True, 1, 1000, 0.0),
                                      ("GPU_0_bfc", is_device, peak, 1000, 0.0)))  # fmt: skip

    assert severities("memory_near_capacity", *map(of, (899, 900, 979, 980, 1000))) == LADDER
    finding = found(of(980), "memory_near_capacity")
    assert finding is not None
    assert finding.title == "The memory of GPU_0_bfc is 98.0 % full at its peak"
    assert found(of(980, is_device=False), "memory_near_capacity") is None


def test_free_memory_in_pieces():
    def of(fragmentation: float, peak: int = 500) -> Evidence:
        return evidence(memory=memory(("GPU_0_bfc", True, peak, 1000, fragmentation)))

    ladder = map(of, (0.49, 0.5, 0.79, 0.8, 0.9))
    assert severities("memory_fragmentation", *ladder) == [
        None,
        "low",
        "low",
        "moderate",
        "moderate",
    ]
    assert found(of(0.9, 499), "memory_fragmentation") is None  # plenty is free
    assert found(of(math.nan), "memory_fragmentation") is None
    assert "Of 500 bytes that are free at the peak the largest piece has 100 bytes" in (
        claim(of(0.8), "memory_fragmentation").detail
    )


@pytest.mark.parametrize(
    ("name", "device", "fragmentation", "is_jax", "lists", "other"),
    [
        ("GPU_0_bfc", "GPU", 0.6, False, True, True),
        ("GPU_0_bfc", "GPU", 0.4, False, True, False),  # the free memory is in one piece
        ("GPU_0_bfc", "AMD GPU", 0.6, False, True, False),
        ("gpu_async_0", "GPU", 0.6, False, True, False),
        ("GPU_0_bfc", "GPU", 0.6, True, False, False),
    ],
)
def test_options_near_a_full_memory(name, device, fragmentation, is_jax, lists, other):
    given = evidence(
        memory=memory((name, True, 950, 1000, fragmentation)),
        devices=dataclasses.replace(GPU, type=device),
        ops=ops((True, "jit(f)/add" if is_jax else "model/add", "add", 1, False)),
    )
    full = found(given, "memory_near_capacity")
    assert full is not None
    assert ("report_tensor_allocations_upon_oom" in full.action) == lists
    assert ("cuda_malloc_async" in full.action) == other
    pieces = found(given, "memory_fragmentation")
    assert pieces is None or ("cuda_malloc_async" in pieces.action) == other
    half = dataclasses.replace(given, memory=memory((name, True, 500, 1000, fragmentation)))
    assert found(half, "memory_near_capacity") is None


def test_an_allocator_of_no_capacity_says_nothing():
    given = evidence(memory=memory(("GPU_0_bfc", True, 0, 0, math.nan)))
    assert [one.id for one in find_findings(given)] == ["no_bottleneck"]


# All together


def test_findings_are_ordered_by_gain_then_severity():
    facts = host(eager_ps=ints(900 * US), eager_name=["A"], eager_count=ints(40))
    given = evidence(
        {Phase.INPUT: 100, Phase.KERNEL_LAUNCH: 200, Phase.COLLECTIVES: 31},
        host_facts=facts,
        memory=memory(("GPU_0_bfc", True, 91, 100, 0.0)),
    )
    assert [one.id for one in find_findings(given)] == [
        "kernel_launch", "input_bound", "collectives", "eager_ops", "memory_near_capacity",
    ]  # fmt: skip


def test_where_nothing_is_wrong_that_is_said():
    (finding,) = find_findings(evidence({Phase.INPUT: 10}))
    assert (finding.id, finding.severity) == ("no_bottleneck", "good")
    assert finding.value == pytest.approx(99.0)
    (on_cpu,) = find_findings(evidence({Phase.HOST_COMPUTE: 980}, devices=NO_GPU))
    assert on_cpu.value == pytest.approx(100.0)


def test_without_steps_that_is_the_last_finding_and_no_gain_is_told():
    job = job_of([])
    full = memory(("0", True, 95, 100, 0.0))
    given = dataclasses.replace(evidence(memory=full, devices=TPU), job=job, means=step_means(job))
    assert [one.id for one in find_findings(given)] == ["memory_near_capacity", "no_steps"]
    busy = dataclasses.replace(traced(1000), job=job, means=step_means(job))
    retracing = find_findings(busy)[0]
    assert (retracing.id, retracing.gain_ms, retracing.gain_ratio) == ("retracing", None, None)


def test_tpus_that_idle_are_told_so_in_their_own_words():
    finding = found(evidence({Phase.OTHER: 40}, devices=TPU), "all_others")
    assert finding is not None
    assert "several steps in one compiled function" in finding.action


@given(st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 1000), max_size=14))
def test_every_finding_is_complete_and_over_its_threshold(split):
    job = job_of([{"GPU:0": split}, {"GPU:0": split}])
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    findings = find_findings(given)
    assert findings
    assert len({one.id for one in findings}) == len(findings)
    for one in findings:
        assert one.severity in SEVERITIES
        assert one.title
        assert one.detail
        assert one.action
        assert one.guide.url.startswith("https://")
        assert one.next_page.tool
        assert one.evidence.tool
        if one.id != "no_steps":
            assert one.value >= one.threshold or math.isnan(one.value)
        assert (one.gain_ms is None) == (one.gain_ratio is None)
        if one.gain_ratio is not None:
            assert 0 <= one.gain_ratio <= 1


def test_findings_lead_to_their_events_in_the_worst_step():
    def page(split: Sequence[dict[Phase, int]], name: str, **parts: object) -> dict[str, str]:
        job = job_of([{"GPU:0": one} for one in split])
        given = dataclasses.replace(evidence(**parts), job=job, means=step_means(job))  # type: ignore[arg-type]
        finding = found(given, name)
        assert finding is not None
        assert finding.next_page.tool == "trace_viewer"
        return dict(parse_qsl(finding.next_page.query))

    launches = [{Phase.KERNEL_LAUNCH: 100}, {Phase.KERNEL_LAUNCH: 300}, {Phase.KERNEL_LAUNCH: 200}]
    place = page(launches, "kernel_launch")
    job = job_of([{"GPU:0": one} for one in launches])
    assert place == {
        "q": "category:launch",
        "step": job.label[1],
        "from_ms": f"{job.start_ps[1] / 1e9:.9f}",
        "to_ms": f"{(job.start_ps[1] + job.duration_ps[1]) / 1e9:.9f}",
    }
    outputs = page([{Phase.OUTPUT: 300}], "output_bound", devices=GPU)
    assert (outputs["q"], outputs["regex"]) == ("^memcpyd(2|to)h", "1")
    assert "q" not in page([{Phase.OTHER: 300}], "all_others")


def test_names_of_the_trace_are_cut_and_of_one_line():
    assert shortened("a\n b\t c") == "a b c"
    assert len(shortened("x" * 500)) <= 80
    assert shortened("x" * 500).startswith("xxx")
    assert OPS.showing(type="a&b=c").query == "f.type=a%26b%3Dc"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 µs"), (0.0123, "12.3 µs"), (0.1, "100 µs"), (1, "1 ms"), (12.34, "12.3 ms"),
     (999.4, "999 ms"), (1234, "1.23 s"), (12_345_000, "12345 s")],
)  # fmt: skip
def test_durations_in_sentences(value, text):
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (5 * 2**20, "5 MiB"),
     (15.5 * 2**30, "15.5 GiB"), (15.25 * 2**30, "15.3 GiB"), (2**42, "4 TiB")],
)  # fmt: skip
def test_sizes_in_sentences(count, text):
    assert size(count) == text
