"""Groups of work on devices, by launches, runs and steps of cores."""

import numpy as np
from helpers.drawn.drawn_groups import HOST, ROOT, grouping_of, made, used
from traces import Unsigned

from tbprof.analysis.grouping.grouping import group_of_device_events


def test_device_work_is_of_the_step_that_launched_it():
    planes = {
        HOST: """
            main |tttt.uuuu.c
                 |.a...b.....
        """,
        "/device:GPU:0": "s |..xx..yy..zz.ww",
    }
    stats = {
        "t": ROOT, "u": ROOT,
        "a": {"correlation_id": 5}, "b": {"correlation_id": Unsigned(6)},
        "c": {"correlation_id": 7},
        "x": {"correlation_id": Unsigned(5)}, "y": {"correlation_id": 6},
        "z": {"correlation_id": 7}, "w": {"correlation_id": 0},
    }  # fmt: skip
    space, grouping = grouping_of(planes, stats=stats)
    plane = space.planes[1]
    assert group_of_device_events(grouping, plane, plane.events()).tolist() == [0, 1, -1, -1]
    assert grouping.correlation.tolist() == [5, 6]
    some = plane.events().select(np.array([1, 2]))
    assert group_of_device_events(grouping, plane, some).tolist() == [1, -1]


def test_of_launches_with_one_id_the_last_counts():
    planes = {HOST: "main |tttt.uuuu\n     |.a...b...", "/device:GPU:0": "s |..xx"}
    stats = {"t": ROOT, "u": ROOT, **{key: {"correlation_id": 5} for key in "abx"}}
    space, grouping = grouping_of(planes, stats=stats)
    assert group_of_device_events(grouping, space.planes[1], space.planes[1].events()).tolist() == [
        1
    ]


TPU = "/device:TPU:3"


def test_runs_on_a_tpu_core_are_of_the_step_that_enqueued_them():
    """Run ids are larger on the host than on the device, which keeps 27 bits of them."""
    planes = {
        HOST: """
            main |tttttt.uuuuuu
                 |.a......b....
        """,
        TPU: """
            XLA Modules |..mmmm...nnnn
            XLA Ops     |.o.p..q..r..s
        """,
    }
    run = {"queue_id": 0, "device_ordinal": 3}
    stats = {
        "t": ROOT, "u": ROOT,
        "a": run | {"run_id": 4 + (1 << 27)}, "b": run | {"run_id": 5},
        "m": {"run_id": Unsigned(4), "queue_id": Unsigned(0)}, "n": {"run_id": 5, "queue_id": 0},
    }  # fmt: skip
    names = dict.fromkeys("ab", "DoEnqueueProgram")
    space, grouping = grouping_of(planes, names=names, stats=stats)
    (core,) = grouping.cores
    assert core.group.tolist() == [0, 1]
    plane = space.planes[1]
    assert group_of_device_events(grouping, plane, plane.events([1])).tolist() == [0, 0, 0, 1, 1]
    assert group_of_device_events(grouping, plane, plane.events([0])).tolist() == [0, 1]
    assert grouping.roots.label == ["t 0", "u 1"]


def test_a_step_of_a_tpu_core_is_reached_through_the_module_in_it():
    planes = {
        HOST: "main |tttttt\n     |.a....",
        TPU: """
            Steps       |..xxxxx.yyyy
            XLA Modules |...mm....nn.
        """,
    }
    stats = {"t": ROOT, "a": made(8, 12), "m": used(8, 12)}
    _, grouping = grouping_of(planes, stats=stats)
    assert grouping.cores[0].group.tolist() == [0, -1]


def test_steps_of_tpu_cores_that_nothing_leads_to_follow_the_hosts_groups():
    """Steps are the same on all cores when they have the same number."""
    planes = [
        (HOST, "main |tttttt"),
        ("/device:TPU:0", "Steps |..a.b.c"),
        ("/device:TPU:1", "Steps |....b.c"),
    ]
    _, grouping = grouping_of(planes, names={"a": "10", "b": "11", "c": "12"}, stats={"t": ROOT})
    assert [core.group.tolist() for core in grouping.cores] == [[1, 2, 3], [2, 3]]
    assert grouping.roots.label == ["t 0", "10", "11", "12"]
    assert grouping.roots.number.tolist() == [0, 10, 11, 12]
    assert grouping.roots.is_marker.tolist() == [True, False, False, False]
    assert grouping.roots.row.tolist() == [0, -1, -1, -1]


def test_a_core_that_missed_a_run_is_aligned_by_time():
    planes = [
        ("/device:TPU:0", "XLA Modules |i.aa.bb.cc."),
        ("/device:TPU:1", "XLA Modules |.....bb.cc."),
    ]
    _, grouping = grouping_of(planes, names={"b": "a", "c": "a"})
    assert [core.group.tolist() for core in grouping.cores] == [[0, 1, 2, 3], [2, 3]]
    assert grouping.roots.label == ["0", "1", "2", "3"]
