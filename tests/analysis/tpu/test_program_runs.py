"""The runs of programs on TPU cores."""

from pathlib import Path

from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.program_runs import ProgramRuns, find_program_runs
from tbprof.xplane.reader import read_space


def runs_of(content: bytes) -> ProgramRuns:
    space = space_of(content)
    return find_program_runs(space, Programs(space))


def test_runs_are_by_core_and_time():
    runs = runs_of(
        draw(
            {
                "/device:TPU:0": "XLA Modules |aa.bbb\nXLA Ops |oo.ooo",
                "/device:TPU:1": "XLA Modules |.aa",
                "/device:GPU:0": "XLA Modules |aa",
            },
            names={"a": "jit_f(1)", "b": "jit_g(2)"},
            start_ns=5_000,
        )
    )
    assert runs.planes == ["TPU:0", "TPU:1"]
    shown = [
        (runs.planes[plane], runs.programs[program], start // 10**6, end // 10**6)
        for plane, program, start, end in zip(
            runs.plane, runs.program, runs.start_ps, runs.end_ps, strict=True
        )
    ]
    assert shown == [
        ("TPU:0", "jit_f(1)", 5, 7),
        ("TPU:0", "jit_g(2)", 8, 11),
        ("TPU:1", "jit_f(1)", 6, 8),
    ]


def test_a_trace_without_tpus_has_none():
    runs = runs_of(draw({"/host:CPU": "t |a"}))
    assert (runs.planes, runs.programs, runs.start_ps.size) == ([], [], 0)


def test_runs_of_the_tpu_trace(tpu_trace: Path):
    space = read_space(tpu_trace)
    runs = find_program_runs(space, Programs(space))
    assert runs.start_ps.size == 414
    assert runs.programs[runs.program[0]] == "jit_convert_element_type(2433868464432466958)"
    assert int(runs.start_ps[0]) == 5_353_251_593_250
    assert int(runs.end_ps[0]) == 5_353_252_554_578
