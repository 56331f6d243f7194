"""What findings rest on: GPUs' kernels and copies, the host's overheads, memory."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces import Ref, drawn_space

from tbprof.analysis.gpu.gpu_facts import GpuFacts, find_gpu_facts, gaps_before, merge_gpu_facts
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_facts import HostFacts, find_host_facts
from tbprof.analysis.host.host_roles import classify_host_names
from tbprof.analysis.memory.memory import find_memory
from tbprof.analysis.memory.memory_peaks import MemoryPeaks, find_memory_peaks, merge_memory_peaks
from tbprof.analysis.memory.memory_usage import summarize
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.xplane.reader import read_space

HOST, GPU = "/host:CPU", "/device:GPU:0"
US = 10**6
KERNEL = {"kernel_details": "regs:8"}


def gpu(planes: dict[str, str], **options) -> GpuFacts:
    space = drawn_space(planes, **options)
    return find_gpu_facts(space, Programs(space))


def host(drawing: str, **options) -> HostFacts:
    space = drawn_space({HOST: drawing}, **options)
    return find_host_facts(space, Programs(space))


def memory(drawing: str, **options) -> MemoryPeaks:
    space = drawn_space({HOST: drawing}, **options)
    return find_memory_peaks(space, Programs(space))


# GPUs


def test_kernels_their_median_and_the_pauses_before_small_ones():
    """a 6 µs, b 4 µs after 2 µs, c 1 µs at once, d 2 µs after 40 µs: too long for a launch."""
    facts = gpu(
        {GPU: f"Stream #1 |aaaaaa..bbbbc{'.' * 40}dd", "/device:GPU:1": ""},
        stats=dict.fromkeys("abcd", KERNEL),
        plane_stats={GPU: {"memory_size": 1000}},
    )
    assert facts.name == ["GPU:0"]
    assert facts.memory_bytes.tolist() == [1000]
    assert facts.kernels.tolist() == [4]
    assert facts.kernel_ps.tolist() == [13 * US]
    assert facts.median_ps.tolist() == [3 * US]
    assert facts.small_kernels.tolist() == [3]
    assert facts.small_ps.tolist() == [7 * US]
    assert facts.small_gap_ps.tolist() == [2 * US]
    assert facts.busy_ps.tolist() == [13 * US]
    assert facts.window_ps.tolist() == [55 * US]


def test_a_kernel_of_five_microseconds_is_not_small_and_one_pause_of_twenty_counts():
    facts = gpu(
        {GPU: f"Stream #1 |aaaaa{'.' * 20}bbbb{'.' * 21}cccc"}, stats=dict.fromkeys("abc", KERNEL)
    )
    assert facts.small_kernels.tolist() == [2]
    assert facts.small_gap_ps.tolist() == [20 * US]


def test_other_streams_fill_a_pause():
    facts = gpu(
        {GPU: """
            Stream #1 |aa......bb
            Stream #2 |.ccccc
        """},
        stats=dict.fromkeys("abc", KERNEL),
    )  # fmt: skip
    assert facts.small_gap_ps.tolist() == [2 * US]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=12))
def test_gaps_are_what_nothing_covers(intervals):
    start = np.array([begin for begin, _ in intervals], np.int64)
    duration = np.array([length for _, length in intervals], np.int64)
    covered = {index for begin, length in intervals for index in range(begin, begin + length)}
    instants = set(start.tolist())
    expected = 0
    if intervals:
        open_until = {begin + length for begin, length in intervals}
        assert open_until
        expected = sum(index not in covered for index in range(min(instants), max(instants)))
    assert gaps_before(start, duration).sum() == expected


def test_what_runs_side_by_side_takes_its_time_once():
    """Copies of 6 and 4 that overlap for 3, small kernels of 3 and 2 that overlap for 1."""
    facts = gpu(
        {GPU: """
            Stream #1 |hhhhhh.kkk
            Stream #2 |...gggg..mm
        """},
        names=dict.fromkeys("hg", "MemcpyH2D"),
        stats=dict.fromkeys("km", KERNEL),
    )  # fmt: skip
    assert (facts.copy_ps.tolist(), facts.copying_ps.tolist()) == ([10 * US], [7 * US])
    assert (facts.kernel_ps.tolist(), facts.small_ps.tolist()) == ([5 * US], [4 * US])


def test_copies_by_kind_with_sizes_and_pageable_memory():
    facts = gpu(
        {GPU: "Stream #1 |aab.ccc.d.e.m", "/device:GPU:1": "Stream #1 |a"},
        names={"a": "MemcpyH2D", "b": "MEMCPYHtoD", "c": "MemcpyD2D", "d": "MemcpyP2P",
               "e": "MemcpyD2H", "m": "Memset"},
        stats={
            "a": {"memcpy_details": "kind_src:pageable kind_dst:device size:100 dest:0 async:1"},
            "b": {"memcpy_details": Ref("size:11 dest:4 async:0")},
            "c": {"memcpy_details": "size:x"},
            "d": {"memcpy_details": "size:5"},
        },
    )  # fmt: skip
    assert facts.name == ["GPU:0", "GPU:1"]
    rows = zip(facts.copy_gpu.tolist(), facts.copy_kind, facts.copies.tolist(),
               (facts.copy_ps // US).tolist(), facts.copy_bytes.tolist(),
               facts.pageable.tolist(), strict=True)  # fmt: skip
    assert list(rows) == [
        (0, "MemcpyDToD", 1, 3, -1, 0),
        (0, "MemcpyDToH", 1, 1, -1, 0),
        (0, "MemcpyHToD", 2, 3, 111, 1),
        (0, "MemcpyPToP", 1, 1, 5, 0),
        (1, "MemcpyHToD", 1, 1, 100, 1),
    ]
    assert facts.kernels.tolist() == [0, 0]
    assert facts.median_ps.tolist() == [-1, -1]


def test_copies_that_a_driver_makes_by_kernels_are_copies():
    details = {"kernel_details": "grid:1,1,1 block:256,1,1"}
    facts = gpu(
        {"/host:CPU": "api |xy", GPU: "Stream #1 |aa.bbb.kk.s"},
        names={"x": "hipMemcpyDtoDAsync", "y": "hipModuleLaunchKernel",
               "a": "__amd_rocclr_copyBuffer.kd", "b": "__amd_rocclr_copyBufferAligned.kd",
               "s": "__amd_rocclr_fillBufferAligned.kd"},
        stats={"x": {"correlation_id": 1}, "y": {"correlation_id": 2},
               "a": {**details, "correlation_id": 1}, "b": details, "s": details,
               "k": {**details, "correlation_id": 2}},
    )  # fmt: skip
    assert facts.copy_kind == ["Memcpy", "MemcpyDToD"]
    assert (facts.copy_ps // US).tolist() == [3, 2]
    assert facts.kernels.tolist() == [1]
    assert facts.kernel_ps.tolist() == [2 * US]


@pytest.mark.parametrize(
    ("drawing", "add", "norm", "lost"),
    [
        ("Stream #1 |aaa.nn.aa.nnn", "m/conv/BiasAdd", "m/bn/FusedBatchNormV3", 5),
        ("Stream #1 |aaa.kk.nn", "m/conv/BiasAdd", "m/bn/FusedBatchNormV3", 0),
        ("Stream #1 |aaa\nStream #2 |....nn", "m/conv/BiasAdd", "m/bn/FusedBatchNormV3", 0),
        ("Stream #1 |aaa.nn", "m/head/conv/BiasAdd", "m/stem/bn/FusedBatchNormV3", 0),
        ("Stream #1 |aaa.nn", "m/conv/BiasAdd", "m/bn/FusedBatchNormGradV3", 0),
        ("Stream #1 |aaa.nn", "BiasAdd", "FusedBatchNormV3", 3),
    ],
)
def test_biases_that_are_normalized_away(drawing, add, norm, lost):
    details = {"kernel_details": "grid:1,1,1 block:1,1,1"}
    facts = gpu(
        {GPU: drawing},
        stats={"a": {**details, "tf_op": f"{add}:BiasAdd"}, "k": details,
               "n": {**details, "tf_op": f"{norm}:{norm.rpartition('/')[2]}"}},
    )  # fmt: skip
    assert (facts.bias_ps // US).tolist() == [lost]


def test_hosts_are_one_behind_the_other():
    one = gpu({GPU: "Stream #1 |a"}, names={"a": "MemcpyH2D"})
    both = merge_gpu_facts([one, one])
    assert both.name == ["GPU:0", "GPU:0"]
    assert both.copy_gpu.tolist() == [0, 1]


def test_a_trace_without_gpus_has_no_rows():
    facts = gpu({HOST: "t |a"})
    assert facts.name == facts.copy_kind == []
    assert facts.window_ps.tolist() == []
    assert merge_gpu_facts([facts, facts]).copy_gpu.tolist() == []


# Python


def test_whether_frames_of_python_were_recorded():
    assert host("t |a", names={"a": "$train.py:7 fit"}).has_python
    assert not host("t |a", names={"a": "x:Op"}).has_python


# Calls, eager ops, functions, compilation


def test_updates_of_graphs_are_counted():
    names = {"u": "command_buffer::update", "e": "command_buffer::execute", "l": "cuGraphLaunch"}
    facts = host("t |uueee..uuuee\n  |..ll....l", names=names)
    assert facts.has_graphs
    assert (facts.graph_updates, facts.graph_update_ps) == (2, 5_000_000)


def test_calls_of_programs_and_functions_are_counted_once_each():
    """JAX leaves two events for a call, one in the other; ops and the runtime are no calls.

    Neither is what is called while a function is traced.
    """
    facts = host(
        """
        python |pppp.pp.ee.s.o
               |tttt.pp.rr
               |.qq.
        """,
        names={
            "p": "PjitFunction(step)",
            "t": "$pjit.py:9 trace",
            "q": "PjitFunction(matmul)",
            "e": "EagerLocalExecute: __inference_step_7",
            "s": "SessionRun",
            "o": "EagerLocalExecute: Mul",
            "r": "ExecutorState::Process",
        },
    )
    assert facts.calls == 4
    assert host("python |o", names={"o": "EagerLocalExecute: Mul"}).calls == 0


def test_eager_ops_are_those_that_run_no_function():
    facts = host(
        "t |mm.mmm.r.ff.ii.x",
        names=dict.fromkeys("mrfix", "EagerExecute"),
        stats={"m": {"eager_op": "MatMul", "is_func": 0}, "r": {"eager_op": "Relu", "is_func": 0},
               "f": {"eager_op": "__inference_f_1", "is_func": 1},
               "i": {"eager_op": "IteratorGetNext", "is_func": 0}, "x": {"eager_op": "Old"}},
    )  # fmt: skip
    assert facts.eager_name == ["MatMul", "Relu"]
    assert facts.eager_count.tolist() == [2, 1]
    assert facts.eager_ps.tolist() == [5 * US, 1 * US]


def test_functions_by_mode_without_the_calls_inside():
    facts = host(
        """
            t |ffffff.ff.aa
              |.ggg
        """,
        names={"f": "train", "g": "loss", "a": "x:Op"},
        stats={
            "f": {"tf_function_call": "traced-nonXla", "tracing_count": 3},
            "g": {"tf_function_call": Ref("notTraced-nonXla"), "tracing_count": 1},
            "a": {"tf_function_call": "eager"},
        },
    )
    assert list(zip(facts.function_name, facts.function_mode, strict=True)) == [
        ("train", "traced-nonXla"),
        ("loss", "notTraced-nonXla"),
    ]
    assert facts.function_calls.tolist() == [2, 1]
    assert facts.function_ps.tolist() == [5 * US, 3 * US]
    assert facts.tracings.tolist() == [3, 1]


def test_functions_of_one_name_are_told_apart_by_their_counts_of_tracings():
    """Three calls that trace for the first time are of three functions; those of f of one."""
    facts = host(
        "t |aa.bb.cc.ff.gg.hh",
        names={**dict.fromkeys("abc", "<lambda>"), **dict.fromkeys("fgh", "f")},
        stats={
            letter: {"tf_function_call": mode, "tracing_count": count}
            for letter, mode, count in (
                ("a", "traced-nonXla", 1), ("b", "traced-nonXla", 1), ("c", "traced-nonXla", 1),
                ("f", "traced-nonXla", 1), ("g", "traced-nonXla", 2), ("h", "notTraced-nonXla", 2),
            )
        },
    )  # fmt: skip
    by_call = zip(facts.function_name, facts.function_mode, facts.functions.tolist(), strict=True)
    assert sorted(by_call) == [
        ("<lambda>", "traced-nonXla", 3), ("f", "notTraced-nonXla", 1), ("f", "traced-nonXla", 1),
    ]  # fmt: skip


def test_planes_of_one_host_add_up():
    space = drawn_space(
        [(HOST, "t |ff"), (f"{HOST} [7]", "t |f.e")],
        names={"f": "step", "e": "EagerExecute"},
        stats={"f": {"tf_function_call": "eager", "tracing_count": 2},
               "e": {"eager_op": "Add", "is_func": 0}},
    )  # fmt: skip
    facts = find_host_facts(space, Programs(space))
    assert (facts.function_calls.tolist(), facts.function_ps.tolist()) == ([2], [3 * US])
    assert facts.tracings.tolist() == [2]
    assert facts.eager_name == ["Add"]


def test_compilation_is_the_union_over_threads():
    """Spans [1, 7) and [10, 11); the pass inside is not a compilation of its own."""
    facts = host(
        """
            main |.ccccc....d
            pool |..bbbbb
                 |...p
        """,
        names={"c": "backend_compile", "b": "PjRtCpuClient::Compile", "d": "XlaCompilation",
               "p": "CpuCompiler::RunBackend"},
    )  # fmt: skip
    assert (facts.compilations, facts.compile_ps) == (2, 7 * US)
    assert (facts.compile_first_ps, facts.compile_last_ps) == (1 * US, 11 * US)
    assert facts.compile_name == ["PjRtCpuClient::Compile", "backend_compile", "XlaCompilation"]


def test_the_functions_that_compile_are_those_of_the_innermost_calls():
    facts = host(
        """
            python |ffffff.ffff.gggg.ff
                   |fffff..fff..gggg.ff
                   |.p......p...hhh..
                   |.cc.....c...c..
        """,
        names={"f": "PjitFunction(step)", "g": "PjitFunction(outer)", "h": "PjitFunction(inner)",
               "p": "$pjit.py:9 compile", "c": "backend_compile"},
    )  # fmt: skip
    assert facts.compiled_name == ["step", "inner"]
    assert facts.compiled_calls.tolist() == [2, 1]


def test_a_program_that_compiles_nothing():
    facts = host("t |ab", names={"a": "TfrtTpuCompiler", "b": "$compiler.py:3 compile"})
    assert (facts.compilations, facts.compile_ps) == (0, 0)
    assert (facts.compile_first_ps, facts.compile_last_ps) == (-1, -1)


@pytest.mark.parametrize(
    "name",
    ["w:j_compile", "compile", "my compilation", "ForwardPass", "RecordCpuCompilerStacktrace",
     "StatefulPartitionedCall/compile_loss/mse/Mean:Mean"],
)  # fmt: skip
def test_annotations_and_layers_with_the_word_in_their_name_are_no_compilation(name: str):
    """Keras names the ops of a loss `compile_loss`."""
    assert host("t |aaaa", names={"a": name}).compile_ps == 0
    [role] = classify_host_names([name], has_device=False).tolist()
    assert role != Phase.COMPILATION


# Memory


def change(allocator: object, allocated: int, available: int, **more: object) -> dict[str, object]:
    owner = {"allocator_name": allocator} if isinstance(allocator, str) else {}
    return {**owner, "bytes_allocated": allocated, "bytes_available": available, **more}


def test_the_peak_of_each_allocator_and_what_was_free_then():
    peaks = memory(
        "t |abcde",
        names={"a": "MemoryAllocation", "b": "MemoryAllocation", "c": "MemoryDeallocation",
               "d": "MemoryAllocation", "e": "MemoryAllocation"},
        stats={
            "a": change("GPU_0_bfc", 10, 90, bytes_reserved=0, peak_bytes_in_use=70),
            "b": change("GPU_0_bfc", 40, 50, bytes_reserved=10, fragmentation=0.25,
                        peak_bytes_in_use=60),
            "c": change("GPU_0_bfc", 50, 50, bytes_reserved=0, fragmentation=0.5),
            "d": change("gpu_host_bfc", 5, 0),
            "e": {**change(1, 7, 3), "index_on_host": 2, "device_ordinal": 9},
        },
    )  # fmt: skip
    assert peaks.name == ["GPU_0_bfc", "gpu_host_bfc", "2"]
    assert peaks.is_device.tolist() == [True, False, True]
    assert peaks.peak_bytes.tolist() == [50, 5, 7]
    assert peaks.capacity_bytes.tolist() == [100, 5, 10]
    assert peaks.fragmentation[0] == 0.25
    assert np.isnan(peaks.fragmentation[1:]).all()


def test_memory_events_of_nobody_are_left_out():
    assert memory("t |a", names={"a": "MemoryAllocation"}).name == []
    assert memory("t |a").name == []


def test_hostile_sizes_stay_in_range():
    stats = {"a": change("cpu", -5, 2**63 - 1, bytes_reserved=2**63 - 1, fragmentation="x")}
    peaks = memory("t |a", names={"a": "MemoryAllocation"}, stats=stats)
    assert peaks.peak_bytes.tolist() == [2**60]
    assert peaks.capacity_bytes.tolist() == [2**61]
    assert math.isnan(peaks.fragmentation[0])


def test_allocators_of_hosts_are_one_behind_the_other():
    one = memory("t |a", names={"a": "MemoryAllocation"}, stats={"a": change("cpu", 5, 6)})
    both = merge_memory_peaks(["h0", "h1"], [one, one])
    assert both.name == ["h0: cpu", "h1: cpu"]
    assert merge_memory_peaks(["h0"], [one]).name == ["cpu"]
    assert both.capacity_bytes.tolist() == [11, 11]


def test_the_peaks_of_the_v100_trace_are_those_of_the_reference(gpu_trace: Path):
    space = read_space(gpu_trace)
    peaks = find_memory_peaks(space, Programs(space))
    row = peaks.name.index("GPU_6_bfc")
    assert peaks.peak_bytes[row] == 6_210_111_488
    assert peaks.capacity_bytes[row] == 15_477_102_400
    assert peaks.fragmentation[row] == pytest.approx(0.000961762)
    memory = find_memory(space, Programs(space))
    summary, row = summarize(memory), memory.name.index("GPU_6_bfc")
    assert (summary.allocations[row], summary.deallocations[row]) == (761, 208)
    # The maximum, not what the last event in the file says.
    assert summary.lifetime_bytes[memory.name.index("GPU_4_bfc")] == 6_208_853_760
