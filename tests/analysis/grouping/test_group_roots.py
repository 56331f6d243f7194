"""Which events are roots, and what groups are called."""

import pytest
from analysis.grouping.test_grouping import EXECUTOR
from helpers.drawn.drawn_groups import HOST, ROOT, grouping_of, groups, members
from traces import Ref

from tbprof.analysis.grouping.grouping import group_of_device_events


def test_roots_are_numbered_by_level_then_time_and_none_is_inside_another_of_its_level():
    drawing = """
        one |tttttttttt.ss
            |.bbbb.uu.....
            |..c..........
        two |v............
    """
    stats = {"t": ROOT, "b": {"_r": 2}, "u": ROOT, "s": ROOT, "v": ROOT}
    group_of = groups(drawing, stats=stats)
    assert group_of == {"b 0": "b c", "t 1": "t u", "v 2": "v", "s 3": "s"}


def test_a_step_number_or_iteration_of_the_root_or_around_it_is_its_number():
    drawing = """
        main |.aaaa.bbbb.cccc.dd
             |..s...............
    """
    stats = {
        "a": {"step_num": 7},
        "s": ROOT,
        "b": ROOT | {"step_num": -3},
        "c": ROOT | {"step_num": 4, "iter_num": 9},
        "d": ROOT | {"graph_type": Ref("train_graph"), "step_num": 2**62},
    }
    _, grouping = grouping_of(drawing, names={"b": "train"}, stats=stats)
    roots = grouping.roots
    assert roots.label == ["s 7", "train -3", "c 9", f"train_graph {2**62}"]
    assert roots.name == ["s", "train", "c", "d"]
    assert roots.number.tolist() == [7, -3, 9, 2**62]
    assert roots.is_marker.all()
    assert (roots.start_ps // 10**6).tolist() == [2, 6, 11, 16]
    assert (roots.duration_ps // 10**6).tolist() == [1, 4, 4, 2]
    assert roots.row.tolist() == [1, 2, 3, 4]
    assert roots.plane.tolist() == [0] * 4


def test_executions_are_called_by_their_number_alone():
    names = {"f": "FunctionRun", "g": "FunctionRun"}
    _, grouping = grouping_of("main |fff.ggg", names=names, stats={"f": ROOT, "g": ROOT})
    assert grouping.roots.label == ["0", "1"]
    assert grouping.roots.name == ["FunctionRun"] * 2
    assert not grouping.roots.is_marker.any()


@pytest.mark.parametrize("name", ["TraceContext", "BatchingSessionRun", "ProcessBatch"])
def test_old_names_are_roots_without_a_stat(name: str):
    assert groups("main |tttt\n     |.a..", names={"t": name}) == {f"{name} 0": f"{name} a"}


def test_batches_come_before_what_is_around_them():
    names = {"p": "ProcessBatch", "b": "BatchingSessionRun"}
    drawing = """
        main |bbbbbb.
             |.ppp...
             |..a....
    """
    group_of = groups(drawing, names=names)
    assert group_of == {
        "ProcessBatch 0": "ProcessBatch a",
        "BatchingSessionRun 1": "BatchingSessionRun",
    }


def test_functions_of_input_pipelines_are_no_roots():
    drawing = """
        main |ttt.....
        data |.cccc.rr
             |..ff....
    """
    names = {"c": "InstantiatedCapturedFunction::RunAsync"} | dict.fromkeys("fr", "FunctionRun")
    stats = {"t": ROOT, "c": {"id": 3}, "f": ROOT | {"id": 3}, "r": ROOT | {"id": 4}}
    group_of = groups(drawing, names=names, stats=stats)
    assert group_of == {
        "t 0": "t",
        "1": "FunctionRun",
        "": "FunctionRun InstantiatedCapturedFunction::RunAsync",
    }


def test_without_marks_executions_are_roots_unless_they_are_inside_one():
    drawing = """
        main |.ssssss.fff
             |..ggg......
             |..a.....b..
    """
    names = {"s": "SessionRun", "g": "FunctionRun", "f": "FunctionRun"}
    group_of = groups(drawing, names=names)
    assert group_of == {"0": "FunctionRun SessionRun a", "1": "FunctionRun b"}


def test_nothing_is_a_step_where_nothing_says_so():
    _, grouping = grouping_of("main |aaaa.bbb", names={"a": "PjitFunction(f)"})
    assert len(grouping.roots) == 0
    assert grouping.hosts[0].group.tolist() == [-1, -1]


def test_iterations_of_a_loop_are_the_steps_of_one_long_execution():
    drawing = """
        main |ffffffffffff
        one  |.x.y..z..w..
        two  |..v..u......
    """
    names = {"f": "FunctionRun"} | dict.fromkeys("xyzwvu", EXECUTOR)
    turn = {"x": 0, "v": 0, "y": 1, "u": 1, "z": 2, "w": 2}
    stats = {"f": ROOT, **{one: {"id": 5, "iter_num": at} for one, at in turn.items()}}
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.roots.label == ["0", "1", "2"]
    assert grouping.roots.name == [EXECUTOR] * 3
    assert grouping.hosts[0].group.tolist() == [-1, 0, 1, 2, 2, 0, 1]


def test_loops_inside_the_steps_of_a_program_are_no_steps():
    """An RNN: each of several executions has a loop; or the program marks its steps itself."""
    drawing = """
        main |fff.ggg.hhh
        one  |.xy..zw..uv
    """
    names = dict.fromkeys("fgh", "FunctionRun") | dict.fromkeys("xyzwuv", EXECUTOR)
    runs = {"x": (5, 0), "y": (5, 1), "z": (6, 0), "w": (6, 1), "u": (7, 0), "v": (7, 1)}
    loops = {one: {"id": run, "iter_num": at} for one, (run, at) in runs.items()}
    stats = {"f": ROOT, "g": ROOT, "h": ROOT, **loops}
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.roots.name == ["FunctionRun"] * 3
    names["f"] = "train"
    _, grouping = grouping_of(drawing, names=names, stats={"f": ROOT, **loops})
    assert grouping.roots.label == ["train 0"]


@pytest.mark.parametrize(
    "name", ["WhileOp-EvalCond", "WhileOp-StartBody", "ForOp", "ParallelForOp", "ForeverOp"]
)
def test_loop_ops_do_not_switch_grouping_off(name: str):
    """Defect 28 of the reference: one such event, and the whole trace had no steps."""
    group_of = groups(
        "main |tttt.uuu\n     |.l......", names={"l": name}, stats={"t": ROOT, "u": ROOT}
    )
    assert group_of == {"t 0": f"{name} t", "u 1": "u"}


def test_the_users_event_begins_the_groups_where_it_occurs_most():
    drawing = """
        one |aaaa.aaa.ttt
            |.a......b...
        two |a...........
    """.replace(".a......b", ".c......b")
    names = {"c": "a"}
    group_of = groups(drawing, "a", names=names, stats={"t": ROOT})
    assert group_of == {"a 0": "a a", "a 1": "a", "": "a b t"}


def test_executions_that_the_user_has_chosen_are_markers():
    _, grouping = grouping_of("one |aaaa.bb", "RunGraph", names=dict.fromkeys("ab", "RunGraph"))
    assert grouping.roots.label == ["RunGraph 0", "RunGraph 1"]
    assert grouping.roots.is_marker.all()


def test_the_users_event_that_a_host_lacks_gives_no_groups():
    _, grouping = grouping_of("one |aaaa", "nope", stats={"a": ROOT})
    assert len(grouping.roots) == 0
    assert grouping.hosts[0].group.tolist() == [-1]


def test_the_users_event_counts_more_than_the_groups_of_the_file():
    stats = {
        "a": {"group_id": 3, "step_name": "x 3"},
        "c": {"correlation_id": 5},
        "k": {"correlation_id": 5},
    }
    planes = {HOST: "one |.aa.\n    |ccc.", "/device:GPU:0": "s |..kk"}
    space, grouping = grouping_of(planes, "c", stats=stats)
    assert not grouping.is_from_file
    assert members(grouping) == {"c 0": "a c"}
    plane = space.planes[1]
    assert group_of_device_events(grouping, plane, plane.events()).tolist() == [0]


def test_named_roots_are_the_only_groups():
    planes = [(HOST, "main |tttttt"), ("/device:TPU:0", "Steps |..a.b.c")]
    space, grouping = grouping_of(planes, "t")
    assert grouping.roots.label == ["t 0"]
    group = group_of_device_events(grouping, space.planes[1], space.planes[1].events())
    assert group.tolist() == [-1, -1, -1]
    assert len(grouping_of(planes, "nope")[1].roots) == 0


def test_named_roots_are_those_of_the_program_and_not_of_threads_that_work_ahead():
    """Functions of tf.data are run under the same name, and there may be more of them."""
    drawing = """
        tf_data_private_threadpool |t.t.t.t.
        python                     |..ttt.t.
    """
    _, grouping = grouping_of(drawing, "t")
    assert grouping.roots.start_ps.tolist() == [2 * 10**6, 6 * 10**6]
    _, grouping = grouping_of("tf_data_private_threadpool |t.t.t.t.", "t")
    assert len(grouping.roots) == 4
