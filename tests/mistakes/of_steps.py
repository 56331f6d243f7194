"""Known mistakes of the pages that are about steps: overview, input pipeline, pod viewer."""

import json
import re

from helpers.payloads import rows
from jobs import TpuJob, draw_tpu_job
from traces import draw
from traces.misread_runs import copies, host_copies, instant, looping, many_steps, marked, starving
from traces.runs import RUNS, gpu_steps, idle_python

from mistakes.catalogue import Show, mistake, times

HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"
STEPS = "steps"


def tpu(**changes: object) -> bytes:
    """The file of a TPU job of one host."""
    return draw_tpu_job(TpuJob(**{"steps": 5, **changes})).files["host0"]  # type: ignore[arg-type]


@mistake(STEPS, "On GPUs, compilation, kernel launch, host compute and input are always 0.")
def host_side_of_a_gpu_step(show: Show) -> str:
    pages = show(gpu_steps(f"{'.' * 20}{'k' * 20}", "L" * 20))
    assert times(pages, "step", "kernelLaunch", "deviceCompute") == [(40, 20, 20)] * 3
    return "kernel launch 20 of 40 µs per step"


@mistake(
    STEPS, "A GPU step ends with its last kernel: the gap before the next step belongs to no step."
)
def gaps_between_steps(show: Show) -> str:
    pages = show(starving())
    assert times(pages, "step", "deviceCompute", "infeed")[0] == (20, 6, 10)
    return "a step of 20 µs, 10 of them input"


@mistake(STEPS, "`MemcpyH2D` and similar copies count as 32 bit compute.")
def copies_are_no_compute(show: Show) -> str:
    pages = show(copies())
    assert times(pages, "deviceCompute", "infeed", "outfeed", "deviceToDevice") == [(3, 2, 1, 1)]
    return "compute 3 µs, input 2, output 1, device to device 1"


@mistake(
    STEPS, "Several GPUs are shown as one: simultaneous work counts once, and the rest is cut off."
)
def several_gpus(show: Show) -> str:
    trace = draw(
        {
            HOST: "python |ssssssssssssssssssss",
            GPU: "Stream #1 |kkkkkkkkkk",
            "/device:GPU:1": "Stream #1 |.....mmmmmmmmmmmmmmm",
        },
        names={"s": "train", "k": "a", "m": "b"},
        stats=marked("s") | {"k": {"kernel_details": "regs:1"}, "m": {"kernel_details": "regs:1"}},
    )
    found = show(trace).pod["train 0"]
    compute = {worker: record["stepBreakdownUs"]["1"] for (_, worker), record in found.items()}
    assert compute == {"GPU:0": 10, "GPU:1": 15}
    return "GPU:0 computes for 10 µs, GPU:1 for 15"


@mistake(STEPS, "bfloat16, 8 bit and integers count as 32 bit compute.")
def precision_of_kernels(show: Show) -> str:
    trace = draw(
        {HOST: "python |ssssssssss", GPU: "Stream #1 |aaaabbbccc"},
        names={"s": "train", "a": "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn",
               "b": "sm90_xmma_gemm_e4m3e4m3_f32f32_f32_tn", "c": "sgemm_f32"},
        stats=marked("s") | {letter: {"kernel_details": "regs:1"} for letter in "abc"},
    )  # fmt: skip
    [row] = show(trace).steps.values()
    found = [row[f"deviceCompute{bits}Ms"] * 1e3 for bits in ("16", "8", "32")]
    assert [round(one, 6) for one in found] == [4, 3, 3]
    return "16 bit 4 µs, 8 bit 3, 32 bit 3"


@mistake(STEPS, "The first and the last of more than five steps are not shown.")
def first_and_last_steps(show: Show) -> str:
    shown = list(show(many_steps(8)).steps)
    assert shown == [f"train {number}" for number in range(8)]
    return "8 of 8 steps"


@mistake(
    STEPS,
    "3 % of 'All others' is potentially input-bound; with frames of Python on, a loop that sleeps "
    "is all host compute.",
)
def guesses_at_input(show: Show) -> str:
    trace = draw(
        {HOST: f"python |{'s' * 40}\n       |ii{'o' * 36}\n       |r"},
        names={"s": "train", "i": "IteratorGetNext", "r": "Iterator::Root", "o": "x:MatMul"},
        stats=marked("s"),
    )
    pages = show(trace)
    assert times(pages, "infeed", "other") == [(2, 2)]
    assert "POTENTIALLY" not in pages.properties["input_conclusion"]
    frames = show(idle_python())
    [(host,)] = times(frames, "hostCompute")
    assert host == 6
    return "not potentially input-bound at 5 % each; host compute 6 of 40 µs under Python frames"


@mistake(STEPS, "Input that is fetched before the marker belongs to no step.")
def input_before_the_marker(show: Show) -> str:
    trace = draw(
        {HOST: "python |ssss......tttt\n|.aa.IIIIII.bb"},
        names={"s": "train", "t": "train", "a": "x:MatMul", "b": "x:MatMul",
               "I": "IteratorGetNext"},
        stats=marked("st"),
    )  # fmt: skip
    found = times(show(trace), "step", "infeed")
    assert found[0] == (10, 6)
    return "6 of 10 µs are input"


PREFETCH = """
    consumer |rrrrrrrr
             |.pppppp.
    producer |qqqqqqq.
             |.mmmmm..
"""


@mistake(STEPS, "Waiting for a prefetched element counts as preprocessing.")
def waiting_is_no_preprocessing(show: Show) -> str:
    names = {"r": "Iterator::Root", "p": "Iterator::Root::Prefetch", "q": "PrefetchProduce",
             "m": "Iterator::Root::Prefetch::Map"}  # fmt: skip
    sums = show(draw({HOST: PREFETCH}, names=names)).input_page[2]["p"]
    assert (sums["preprocessing_us"], sums["waiting_us"]) == ("9.000", "6.000")
    return "preprocessing 9 µs, waiting 6"


@mistake(
    STEPS,
    "Parallel interleave counts as reading on demand, unknown readers and caches as preprocessing.",
)
def categories_of_readers(show: Show) -> str:
    names = {"a": "Iterator::Root::ParallelInterleaveV4[0]::TFRecord",
             "b": "Iterator::Root::Parquet", "c": "Iterator::Root::MemoryCacheImpl"}  # fmt: skip
    table = rows(show(draw({HOST: "t |a.b.c"}, names=names)).input_page[2])
    found = {row["opName"]: row["category"] for row in table}
    kinds = [found[names[letter]] for letter in "abc"]
    assert kinds == ["Advanced file read", "Demanded file read", "Advanced file read"]
    return "in advance, on demand, in advance"


@mistake(STEPS, "The overview of a TPU gives no recommendation.")
def tpus_have_recommendations(show: Show) -> str:
    pages = show(tpu())
    assert "highly input-bound: 25.0 %" in pages.properties["input_conclusion"]
    assert {"input_bound", "collectives"} <= set(pages.findings)
    return "highly input-bound, 25.0 %; collectives 15.0 %"


@mistake(STEPS, "Columns of a TPU step mix cores and count transfers twice.")
def columns_of_a_tpu_step_add_up(show: Show) -> str:
    pages = show(tpu(host_copy_us=9_000, vmem_copy_us=2_000, callback_us=4_000))
    columns = ("tcComputeTimeMs", "tcInfeedTimeMs", "tcOutfeedTimeMs", "tcIdleTimeMs",
               "hostTransferTimeMs", "hostCallbackTimeMs", "tcCopyTimeMs")  # fmt: skip
    row = pages.steps["train 100"]
    total = sum(row[column] for column in columns)
    assert abs(total - row["stepTimeMs"]) < 1e-6
    return f"the columns add up to the step of {total:.3f} ms"


@mistake(
    STEPS, "In the pod viewer, all-gather, reduce-scatter and collective-permute count as compute."
)
def collectives_of_tpus(show: Show) -> str:
    kinds = {"a": "all-gather", "b": "reduce-scatter", "c": "collective-permute"}
    trace = draw(
        {TPU: "Steps |ssssssssssss\nXLA Ops |aabbbccccd"},
        names={"s": "0", **{letter: f"%{kind}.1" for letter, kind in kinds.items()}, "d": "%add.1"},
        type_stats={letter: {"hlo_category": kind} for letter, kind in kinds.items()}
        | {"d": {"hlo_category": "loop fusion"}},
    )
    [record] = next(iter(show(trace).pod.values())).values()
    assert (record["stepBreakdownUs"]["3"], record["stepBreakdownUs"]["1"]) == (9, 1)
    return "collectives 9 µs, compute 1"


@mistake(
    STEPS,
    "Only the first of several hosts is analyzed, and one host without steps removes those of all.",
)
def all_hosts_count(show: Show) -> str:
    traces = RUNS["hosts"]()
    pages = show(*traces.values(), draw({HOST: "t |a"}, names={"a": "x:MatMul"}))
    assert times(pages, "step", "infeed") == [(40, 15)] * 3
    return "input 5 and 25 µs on two hosts: 15 of 40; the page names the third, which has none"


@mistake(
    STEPS, "FLOP rate and bandwidth are 0 %, as is a unit without a counter; idle time is 100 %."
)
def rates_of_tpus(show: Show) -> str:
    pages = show(tpu())
    top = pages.overview[0]["p"]
    assert float(top["flop_rate_utilization_relative_to_roofline"].rstrip("%")) > 1
    assert (top["mxu_utilization_percent"], top["host_idle_time_percent"]) == ("unknown",) * 2
    return (
        f"{top['flop_rate_utilization_relative_to_roofline']} of the peak, as drawn; matrix units: "
        "unknown"
    )


@mistake(STEPS, "A run on CPUs has the table of a TPU, and tips about a device called 'CPU_ONLY'.")
def cpus_have_their_own_table(show: Show) -> str:
    pages = show(RUNS["input"]()["h0"])
    assert not any(name.startswith("tc") for name in pages.steps["train 0"])
    texts = json.dumps([pages.overview[3], pages.overview[7]])
    assert "CPU_ONLY" not in texts
    return "columns of the host, tips about the host"


@mistake(STEPS, "The eager share of a program that runs op by op is 0 %.")
def eager_programs(show: Show) -> str:
    trace = draw(
        {HOST: f"python |{'s' * 40}\n       |{'EEEE.' * 8}\n       |{'.kk..' * 8}"},
        names={"s": "train", "E": "EagerExecute", "k": "EagerKernelExecute"},
        stats=marked("s") | {"E": {"is_func": 0, "eager_op": "MatMul"}},
    )
    pages = show(trace)
    share = pages.overview[0]["p"]["host_op_time_eager_percent"]
    assert share == "100.0%"
    return "100 % of the host's op time"


@mistake(STEPS, "Advice on eager ops, retracing and outside compilation is never given.")
def advice_on_callbacks(show: Show) -> str:
    found = show(tpu(callback_us=20_000)).findings
    named = [id_ for id_ in found if "callback" in id_]
    assert named
    return f"`{named[0]}`: {found[named[0]]['title']}"


@mistake(STEPS, "For a single step, the deviation is `-nan`, or the maximum 2.2e-308.")
def one_step_has_no_deviation(show: Show) -> str:
    pages = show(many_steps(1))
    content = json.dumps([pages.overview, pages.input_page])
    assert not re.search(r"\bnan\b", content, re.IGNORECASE)
    assert "e-308" not in content
    assert pages.properties["steptime_ms_standard_deviation"] == ""
    return "no deviation"


@mistake(STEPS, "Top ops are missing if kernels have no `tf_op`.")
def top_ops_by_annotation(show: Show) -> str:
    trace = draw(
        {HOST: "python |ssssssssss", GPU: "Stream #1 |.kkkkkk"},
        names={"s": "train", "k": "volta_sgemm"},
        stats=marked("s")
        | {"k": {"kernel_details": "regs:1", "annotation": "model/dense/MatMul:MatMul"}},
    )
    table = rows(show(trace).overview[0])
    assert [row["operation"] for row in table][:1] == ["model/dense/MatMul"]
    return "model/dense/MatMul"


@mistake(STEPS, "Only TPUs have a range of waiting for input, and hosts cannot be chosen.")
def range_of_waiting(show: Show) -> str:
    traces = RUNS["hosts"]()
    pages = show(*traces.values())
    row = pages.steps["train 0"]
    found = [row[f"waitingPercent{kind}"] for kind in ("Min", "Average", "Max")]
    assert [round(one, 6) for one in found] == [12.5, 37.5, 62.5]
    assert pages.engine.hosts(pages.run, "overview_page") == ["ALL_HOSTS", "host0", "host1"]
    return "12.5 to 62.5 % over two CPU hosts; all hosts, or each one alone"


@mistake(
    STEPS, "Advice on input is always the same, and says 'may be skipped' if there are no steps."
)
def advice_follows_the_input(show: Show) -> str:
    pages = show(draw({HOST: "t |a"}, names={"a": "Iterator::Root"}))
    assert "skipped" not in json.dumps(pages.input_page)
    names = {"a": "Iterator::Root::TFRecord", "b": "Iterator::Root::Map"}
    found = []
    for drawing in ("t |aaaaaaaa.b", "t |a.bbbbbbbb"):
        table = rows(show(draw({HOST: drawing}, names=names)).input_page[5])
        found.append(next(row["category"] for row in table if row["is_dominant"]))
    assert len(set(found)) == 2
    return f"the largest category comes first: {found[0]}, or {found[1]}"


@mistake(STEPS, "The average latency of inference is the median.")
def latency_of_inference(show: Show) -> str:
    table = rows(show(many_steps(5)).overview[4])
    assert table == []
    return "none: latencies of requests are not computed"


@mistake(STEPS, "Without markers, JAX and TPUs have no steps, and the advice is about Keras.")
def steps_without_markers(show: Show) -> str:
    pages = show(tpu(steps_line="none", has_markers=False, is_linked=False))
    assert pages.properties["is_inferred"] == "true"
    assert len(pages.steps) == 5
    return "5 steps of 100 ms, called inferred"


@mistake(STEPS, "If the details of a core are missing, records shift to other cores.")
def cores_without_details(show: Show) -> str:
    drawing = "Steps |ssssssss\nXLA Ops |{}"
    planes = {TPU: drawing.format("aaaa"), "/device:TPU:1": drawing.format("aaaaaa")}
    trace = draw(
        planes,
        names={"s": "0", "a": "%add.1"},
        type_stats={"a": {"hlo_category": "loop fusion"}},
        plane_stats={"/device:TPU:1": {"core_details": b"\x10\x01 \x01(\x050\x05"}},
    )
    found = next(iter(show(trace).pod.values()))
    compute = {worker: record["stepBreakdownUs"]["1"] for (_, worker), record in found.items()}
    assert compute == {"TPU:0": 4, "TPU:1": 6}
    return "TPU:0 4 µs, TPU:1 6"


@mistake(STEPS, "Copies within the host are missing from all columns.")
def copies_within_the_host(show: Show) -> str:
    pages = show(host_copies())
    [row] = pages.steps.values()
    parts = ("hostComputeTimeMs", "otherTimeMs")
    assert [round(row[part] * 1e3, 6) for part in parts] == [5, 5]
    return "op 2 µs and copy 3: host compute 5 of 10"


@mistake(STEPS, "An event without duration lasts until the end of the next event.")
def instants_last_no_time(show: Show) -> str:
    assert times(show(instant()), "hostCompute", "other") == [(2, 8)]
    return "host compute 2 of 10 µs"


@mistake(STEPS, "An op of a loop anywhere in the trace removes all steps.")
def loops_take_no_step_away(show: Show) -> str:
    assert len(show(looping()).steps) == 3
    return "3 of 3 steps"


@mistake(STEPS, "Any op whose type resembles input (`x/Batch:read`) is an input op.")
def input_ops(show: Show) -> str:
    names = {"a": "x/Batch:read", "b": "y:enqueue", "c": "Iterator::Root"}
    table = rows(show(draw({HOST: "t |aa.bb.c"}, names=names)).input_page[2])
    assert [row["opName"] for row in table] == ["Iterator::Root"]
    return "only Iterator::Root"
