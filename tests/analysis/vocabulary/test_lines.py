"""Which lines hold events of the program."""

from traces import drawn_space

from tbprof.analysis.gpu.gpu_facts import find_gpu_facts
from tbprof.analysis.gpu.kernels import find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.run.environment import find_environment
from tbprof.analysis.vocabulary.lines import recorded_lines
from tbprof.base import names

GPU = "/device:GPU:0"
DRAWING = """
    _counters_     |c.c.c.c.c
    Stream #1      |.kk......
    TensorFlow Ops |.oo......
"""
DERIVED = {"TensorFlow Ops": names.DERIVED_FIRST - 2**32}


def test_points_of_counters_and_derived_events_are_no_recorded_events():
    (plane,) = drawn_space({GPU: DRAWING}, line_ids=DERIVED).planes
    assert recorded_lines(plane) == [1]


def test_points_of_counters_on_a_gpu_are_no_kernels():
    details = {"kernel_details": "grid:1,1,1 block:1,1,1"}
    stats = {"c": {"watts": 300, **details}, "k": details}
    space = drawn_space({GPU: DRAWING}, line_ids=DERIVED, stats=stats)
    kernels = find_kernels(space, Programs(space))
    assert kernels.name == ["k"]
    assert kernels.occurrences.tolist() == [1]
    without = DRAWING.replace("_counters_     |c.c.c.c.c", "")
    bare = drawn_space({GPU: without}, line_ids=DERIVED, stats=stats)
    facts, expected = (find_gpu_facts(one, Programs(one)) for one in (space, bare))
    assert facts.window_ps.tolist() == expected.window_ps.tolist() == [2_000_000]
    assert facts.kernels.tolist() == [1]
    assert find_environment(space, Programs(space)).window_ps == 2_000_000
