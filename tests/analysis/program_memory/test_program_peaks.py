"""The programs of a host with the most that each keeps in memory."""

from traces import draw, drawn_space, space_of
from traces.memory.memory_plans import MemoryPlan, planned_trace, train_step
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.program_memory.program_peaks import ProgramPeaks, find_program_peaks
from tbprof.analysis.program_memory.programs_that_ran import find_programs_that_ran


def peaks_of(content: bytes) -> ProgramPeaks:
    space = space_of(content)
    return find_program_peaks(space, Programs(space))


def test_peaks_are_by_program_and_memory_space():
    plan = train_step()
    plan.program.add("h", "copy-start", "f32[16]{0:S(5)}")
    plan.buffer("h", 64)
    plan.allocate(64, "h", space=5)
    bare = Program()
    bare.add("p", "parameter", "f32[4]")
    peaks = peaks_of(
        planned_trace(("jit_step(7)", plan.bytes()), ("jit_bare(9)", bare.bytes()), ran=[9])
    )
    step, bare_row = peaks.title.index("jit_step(7)"), peaks.title.index("jit_bare(9)")
    assert peaks.reason[step] == ""
    assert peaks.reason[bare_row] == "the compiler wrote no buffer assignment for the program"
    assert (peaks.has_run[step], peaks.has_run[bare_row], peaks.are_runs_known) == (0, 1, 1)
    # No trace of the heap says when `h` is in use.
    rows = zip(peaks.program.tolist(), peaks.space.tolist(), peaks.peak_bytes.tolist(),
               peaks.instruction, strict=True)  # fmt: skip
    assert [*rows] == [(step, 0, 13328, "dot"), (step, 5, 0, "")]
    assert peaks.device_bytes()[[step, bare_row]].tolist() == [13328, -1]
    assert len(set(peaks.digest)) == 2


def test_a_program_without_allocations_of_a_size_keeps_nothing():
    plan = MemoryPlan()
    plan.parameter("p", 0, "f32[0]{0}")
    peaks = peaks_of(planned_trace(("jit_f(7)", plan.bytes())))
    assert peaks.device_bytes().tolist() == [0]
    assert peaks.space.size == 0
    assert not peaks.are_runs_known


# Which programs ran.


def test_ops_of_a_tpu_say_their_programs_by_their_types():
    trace = draw(
        {"/device:TPU:0": "XLA Ops |aab", "/host:CPU": "python |h"},
        stats={"h": {"program_id": 9}},
        type_stats={"a": {"program_id": 5}, "b": {"program_id": -2}, "c": {"program_id": 6}},
    )
    assert find_programs_that_ran(space_of(trace)) == {5, 2**64 - 2}


def test_events_of_a_gpu_say_their_programs():
    trace = draw(
        {"/device:GPU:0": "Stream #1 |aab", "/host:CPU": "python |h"},
        stats={"a": {"program_id": 5}, "b": {}, "h": {"program_id": 9}},
    )
    assert find_programs_that_ran(space_of(trace)) == {5}


def test_without_devices_threads_of_the_host_run_programs():
    trace = draw({"/host:CPU": "tf_XLAEigen |h"}, stats={"h": {"program_id": 9}})
    assert find_programs_that_ran(space_of(trace)) == {9}
    assert find_programs_that_ran(drawn_space({"/host:CPU": "python |h"})) is None
