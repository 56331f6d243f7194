"""Which program a TPU ran at its peak."""

import numpy as np
from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.allocators import find_allocators
from tbprof.analysis.memory.memory import find_memory
from tbprof.analysis.tpu.program_runs import ProgramRuns, find_program_runs
from tbprof.base.records import replace
from tbprof.tools.memory.peak_programs import program_at_peak

# On two cores, of which the first allocates at 0 and at 4 µs, the second at 6 µs.
TRACE = draw(
    {
        "/device:TPU:0": "XLA Modules |ff.ggg",
        "/device:TPU:1": "XLA Modules |..ff",
        "/host:CPU": "main |a...b.c",
    },
    names={"f": "jit_f(7)", "g": "jit_g(9)", **dict.fromkeys("abc", "MemoryAllocation")},
    stats={
        letter: {"index_on_host": core, "bytes_allocated": bytes_, "bytes_available": 100}
        for letter, core, bytes_ in (("a", 0, 5), ("b", 0, 9), ("c", 1, 9))
    },
)


def peak_programs(runs: ProgramRuns | None = None) -> list[str]:
    space = space_of(TRACE)
    programs = Programs(space)
    allocators = find_allocators(["h0"], [find_memory(space, programs, None)])
    of_host = runs or find_program_runs(space, programs)
    return [program_at_peak(allocator, {"h0": of_host}) for allocator in allocators]


def test_it_is_the_one_that_ran_on_the_device_when_most_was_in_use():
    assert peak_programs() == ["jit_g(9)", ""]  # the second core ran nothing then


def test_without_runs_of_the_device_it_is_not_known():
    runs = find_program_runs(space_of(TRACE), Programs(space_of(TRACE)))
    assert peak_programs(replace(runs, planes=["TPU:4", "TPU:5"])) == ["", ""]
    nothing, none = np.zeros(0, np.int64), np.zeros(0, np.int32)
    assert peak_programs(ProgramRuns([], [], none, none, nothing, nothing)) == ["", ""]
