"""Correlation ids are read once."""

import pytest
from traces import drawn_space

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.gpu.gpu_events import find_gpu_kinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.events.stats import StatColumn


@pytest.mark.parametrize("gpus", [1, 2])
def test_ids_of_several_gpus_are_read_with_their_other_stats(gpus: int):
    planes = {f"/device:GPU:{index}": "Stream #1 |a.bc" for index in range(gpus)}
    ids = {"a": {"correlation_id": 5}, "b": {"correlation_id": 7}}
    space = drawn_space(planes, stats=ids)
    plane = space.planes[0]
    events = find_gpu_kinds(plane, Programs(space)).events
    asked: list[int] = []

    def read() -> StatColumn:
        asked.append(1)
        return events.stats(["correlation_id"])["correlation_id"]

    for _ in range(2):
        found = correlation_ids(events, read)
        assert found is not None
        assert found.integers(-1).tolist() == [5, 7, -1]
    assert len(asked) == (gpus == 1)


def test_without_the_stat_there_are_none():
    [plane] = drawn_space({"/device:GPU:0": "Stream #1 |a"}).planes
    assert correlation_ids(plane.events()) is None
