"""The type of an event, read from its bytes, is the one that decoding its line found."""

from random import Random

import numpy as np
import pytest
from traces import drawn_space
from xplane import generate

from tbprof.events.space import Space
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import read_space, space_in


def check(space: Space) -> int:
    for plane in space.planes:
        events = plane.events()
        rows = Random(1).sample(range(len(events)), len(events))
        found = plane.event_types(events.source[rows])
        assert found.tolist() == events.type[rows].tolist()
    return sum(len(plane.events()) for plane in space.planes)


def test_types_are_those_of_the_lines():
    space = drawn_space({"/host:CPU": "t |aabb.c.a", "/device:GPU:0": "s |x.y"})
    assert check(space) == 6
    plane = space.planes[0]
    assert plane.event_types(np.array([-1], np.int64)).tolist() == [-1]
    assert plane.event_types(np.empty(0, np.int64)).size == 0


def test_stats_of_a_type_are_read_alone():
    plane = drawn_space(
        {"/host:CPU": "t |a.b"}, type_stats={"a": {"flops": 3, "source": "f.py:1"}}
    ).planes[0]
    details = [plane.types.details(row) for row in range(2)]
    assert sorted(details) == [[], [("flops", 3), ("source", "f.py:1")]]


@pytest.mark.parametrize("window", [64, 2**19])
def test_types_of_generated_spaces(window):
    for seed in range(40):
        check(space_in(Buffer(generate.space(Random(seed)), f"seed {seed}", window)))


def test_types_of_a_real_trace(gpu_trace):
    assert check(read_space(gpu_trace)) > 20_000
