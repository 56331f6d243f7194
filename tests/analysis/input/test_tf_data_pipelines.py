"""Which pipelines a trace has: of hosts, of devices, inside of others, recorded in part."""

from traces import COLUMN_PS, drawn_space
from traces.input_pipelines import (
    HOST,
    MAPPED,
    MAPPING,
    ROOT,
    SIMPLE,
    element,
    ids,
    nodes,
    pipelines,
    tf_data,
)

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import find_tf_data


def test_a_pipeline_that_a_function_asks_is_part_of_the_one_that_runs_it():
    names = {
        "r": ROOT, "g": f"{ROOT}::FlatMap", "f": "InstantiatedCapturedFunction::Run",
        "e": "ExecutorState::Process", "R": ROOT, "S": ROOT, "m": f"{ROOT}::Map",
    }  # fmt: skip
    found = tf_data(
        """
        python |rrrrrrrrrr
               |.gggggggg
               |..ffffff
        pool   |...eeeee...SS
               |....RRR
               |....mmm
        """,
        names,
        {
            "r": ids(1), "g": ids(2, 1), "R": ids(5), "S": ids(5), "m": ids(6, 5),
            "f": {"id": 9}, "e": {"id": 9},
        },
    )  # fmt: skip
    # The second call of the inner one came out of a function whose begin was not recorded.
    assert pipelines(found) == {"Host:0": [(0, 10)]}
    types = [found.type_name[row] for row in found.iterator.tolist()]
    assert types == ["Root", "FlatMap", "Root", "Map"]
    assert found.parent.tolist() == [-1, 0, 1, 2]
    assert (found.self_ps // COLUMN_PS).tolist() == [2, 5, 0, 3]


DEVICES = {
    "r": "Iterator::Prefetch", "q": "Iterator::Prefetch",
    "c": "PrefetchConsume", "P": "PrefetchProduce",
    "g": "Iterator::Prefetch::Generator", "h": "Iterator::Prefetch::Generator",
    "d": "PrefetchConsume", "Q": "PrefetchProduce",
    "H": ROOT, "m": f"{ROOT}::Map",
}  # fmt: skip
FETCHED = {
    "r": ids(1), "g": ids(2, 1), "q": ids(3), "h": ids(4, 3),
    "c": element(0), "P": element(0), "d": element(0), "Q": element(0), "H": ids(7), "m": ids(8, 7),
}  # fmt: skip


def test_device_pipelines_come_after_host_pipelines_and_draw_from_them():
    found = tf_data(
        """
        gpu 0 |rrrrrrrr
              |.......c
        gpu 1 |.qqqqqqqq
              |........d
        pool  |.PPPPPP
              |.ggggg
        pool2 |..QQQQQQ
              |..hhhhh
        host  |...HHH
              |...mm
        """,
        DEVICES,
        FETCHED,
    )
    assert pipelines(found) == {"Host:0": [(3, 3)], "Device:0": [(0, 8)], "Device:1": [(1, 8)]}
    assert found.is_device.tolist() == [False, True, True]
    assert found.source.tolist() == [-1, 0, 0]
    assert nodes(found, 1) == {"Prefetch": (8, 3, 1, "*"), "Generator": (5, 5, 1, "!")}


def test_a_profile_of_devices_alone_has_no_source():
    pipelines = tf_data("gpu |rrrr\n    |...c\npool |.PPP\n     |.gg", DEVICES, FETCHED)
    assert (pipelines.pipeline_name, pipelines.source.tolist()) == (["Device:0"], [-1])


def test_a_device_iterator_that_asks_the_host_on_its_thread_draws_from_that():
    names = DEVICES | {"f": "InstantiatedCapturedFunction::Run", "O": ROOT}
    found = tf_data(
        """
        gpu   |rrrrrrrr
              |.......c
        pool  |.PPPPPPP
              |.gggggg
              |..ffff
              |...HHH
              |...mm
        other |O
        """,
        names,
        FETCHED | {"f": {"id": 3}, "O": ids(20)},
    )
    assert pipelines(found) == {"Host:0": [(0, 1)], "Host:1": [(3, 3)], "Device:0": [(0, 8)]}
    assert found.source.tolist() == [-1, -1, 1]
    assert nodes(found, 2) == {"Prefetch": (8, 2, 1, "*"), "Generator": (6, 6, 1, "!")}


def test_the_iterators_of_a_mirrored_strategy_are_device_pipelines():
    names = {"r": ROOT, "p": f"{ROOT}::Prefetch", "g": f"{ROOT}::Prefetch::Generator"}
    pipelines = tf_data(
        "a |rrrr\n  |.ppp\n  |.gg", names, {"r": ids(1), "p": ids(2, 1), "g": ids(3, 2)}
    )
    assert pipelines.pipeline_name == ["Device:0"]
    assert pipelines.wait_ps.tolist() == [0, COLUMN_PS, 2 * COLUMN_PS]


def test_several_pipelines_are_numbered_by_their_first_calls():
    names = {"a": ROOT, "b": ROOT, "c": ROOT, "d": ROOT}
    stats = {"a": ids(9), "b": ids(5), "c": ids(9), "d": ids(5)}
    found = tf_data("x |.aa...cccc\ny |bbb.dd", names, stats)
    assert pipelines(found) == {"Host:0": [(0, 3), (4, 2)], "Host:1": [(6, 4), (1, 2)]}
    assert found.threads == ["x", "y"]
    assert found.call_thread.tolist() == [1, 1, 0, 0]
    assert found.root.tolist() == [0, 1]


def test_without_a_root_the_outermost_calls_are_what_is_known():
    found = tf_data("pool |bbbb.bbb\n     |.m...mm", SIMPLE, {"b": ids(2, 1), "m": ids(3, 2)})
    assert pipelines(found) == {"Host:0": [(0, 4), (5, 3)]}
    assert found.is_partial.tolist() == [True]
    assert found.orphans == 1


def test_a_stage_that_was_made_anew_is_no_pipeline():
    # The second epoch's Map has not been called yet, its threads have read ahead.
    names = MAPPING | {"I": f"{ROOT}::ParallelMapV2::Range"}
    found = tf_data(
        "python |rrrr\n       |.ppp\n       |...c\npool |PP.P\n     |ii.I",
        names,
        MAPPED | {"I": ids(33, 32)},
    )
    assert pipelines(found) == {"Host:0": [(0, 4)]}
    assert found.orphans == 0


def test_two_host_planes_are_one_host():
    names = {"r": ROOT, "m": f"{ROOT}::Map", "s": ROOT, "n": f"{ROOT}::Batch"}
    stats = {"r": ids(1), "m": ids(2, 1), "s": ids(3), "n": ids(4, 3)}
    space = drawn_space(
        [(HOST, "a |rrrr\n  |.mm"), (f"{HOST} [77]", "b |.sssss\n  |..nn")],
        names=names,
        stats=stats,
    )
    found = find_tf_data(space, Programs(space))
    assert pipelines(found) == {"Host:0": [(0, 4)], "Host:1": [(1, 5)]}
    assert nodes(found, 1) == {"Root": (5, 3, 1, "!"), "Batch": (2, 2, 1, "*")}
    assert found.threads == ["a", "b"]
