"""Groups of drawn traces, rule by rule."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from analysis.grouping.grouping_twin import Event, space_bytes
from traces import Ref, Unsigned, draw, space_of

from tbprof.analysis.grouping.group_roots import event_names
from tbprof.analysis.grouping.grouping import Grouping, find_grouping, group_of_device_events
from tbprof.events.space import Space

HOST = "/host:CPU"
EXECUTOR = "ExecutorState::Process"
POOL = {
    "R": "ThreadpoolListener::Record",
    "S": "ThreadpoolListener::StartRegion",
    "E": "ThreadpoolListener::StopRegion",
}
ROOT = {"_r": 1}

Drawing = str | Mapping[str, str] | Sequence[tuple[str, str]]


def made(id_: int, type_: int = 2) -> dict[str, int]:
    return {"_pt": type_, "_p": id_}


def used(id_: int, type_: int = 2) -> dict[str, int]:
    return {"_ct": type_, "_c": id_}


def grouping_of(drawing: Drawing, root_name: str = "", **more) -> tuple[Space, Grouping]:
    planes = {HOST: drawing} if isinstance(drawing, str) else drawing
    space = space_of(draw(planes, **more))
    return space, find_grouping(space, root_name)


def members(grouping: Grouping) -> dict[str, str]:
    """The names of the events of each group, by its label ("" for none), sorted."""
    found: dict[str, list[str]] = {label: [] for label in grouping.roots.label}
    for host in grouping.hosts:
        texts = event_names(host.events, np.arange(len(host.events)))
        for text, group in zip(texts, host.group.tolist(), strict=True):
            label = grouping.roots.label[group] if group >= 0 else ""
            found.setdefault(label, []).append(text)
    return {label: " ".join(sorted(texts)) for label, texts in found.items()}


def groups(drawing: Drawing, root_name: str = "", **more) -> dict[str, str]:
    return members(grouping_of(drawing, root_name, **more)[1])


# What a root encloses, and what that has caused.


def test_a_root_takes_what_it_encloses_on_its_thread():
    drawing = """
        main  |a.tttttttt.b
              |..ccc.dd....
              |...e........
        other |..fff.......
    """
    assert groups(drawing, stats={"t": ROOT}) == {"t 0": "c d e t", "": "a b f"}


def test_asynchronous_events_are_neither_inside_nor_around_others():
    drawing = """
        main  |tttttttt
              |.aaaaaa.
              |..bbbb..
        other |.xxx....
              |.y......
    """
    stats = {"t": ROOT, "a": {"_a": 1}, "b": made(1), "x": {"_a": 1} | used(1)}
    assert groups(drawing, stats=stats) == {"t 0": "b t x", "": "a y"}


def test_contexts_lead_to_other_threads_and_on_from_there():
    drawing = """
        main  |tttt....
              |.p......
        two   |..cccc..
              |...q....
        three |....d...
        four  |....e...
    """
    stats = {"t": ROOT, "p": made(1), "c": used(1), "q": made(-5), "d": used(-5), "e": used(7)}
    assert groups(drawing, stats=stats) == {"t 0": "c d p q t", "": "e"}


def test_contexts_of_other_types_and_processes_are_others():
    drawing = """
        main |tttttttt....
             |.p..........
        two  |...a.b.c.d..
    """
    stats = {
        "t": ROOT,
        "p": made(1, 4),
        "a": used(1, 5),
        "b": used(1, 4) | {"_pid": 9},
        "c": used(1, 4) | {"_pid": 7},
        "d": {"_ct": 4, "_c": Unsigned(1)},
    }
    found = groups(drawing, stats=stats, plane_stats={HOST: {"process_id": 7}})
    assert found == {"t 0": "c d p t", "": "a b"}


def test_planes_of_subprocesses_share_no_contexts():
    planes = {
        HOST: """
            main |tttt
                 |.p..
        """,
        f"{HOST} [8]": """
            main |..c.
        """,
    }
    stats = {"t": ROOT, "p": made(1), "c": used(1)}
    apart = {HOST: {"process_id": 7}, f"{HOST} [8]": {"process_id": 8}}
    assert groups(planes, stats=stats, plane_stats=apart) == {"t 0": "p t", "": "c"}
    assert groups(planes, stats=stats) == {"t 0": "c p t"}


@pytest.mark.parametrize(("producers", "is_linked"), [(63, True), (64, False)])
def test_a_context_of_crowds_says_nothing(producers: int, is_linked: bool):
    line = [Event("train", 0, 200, ROOT)]
    line += [Event("p", at, 1, made(1)) for at in range(producers)]
    content = space_bytes([[line, [Event("c", at, 1, used(1)) for at in range(64)]]], [None])
    (host,) = find_grouping(space_of(content)).hosts
    assert (host.group[-64:] == 0).all() == is_linked
    assert (host.group[: producers + 1] == 0).all()


def test_executors_lead_to_the_iterators_of_their_execution_and_iteration():
    drawing = """
        main |ffff.....
        pool |.xxx.yyy.
        data |..a..b.c.
    """
    names = {"f": "FunctionRun", "x": EXECUTOR, "y": EXECUTOR} | dict.fromkeys(
        "abc", "IteratorGetNextOp::DoCompute"
    )
    stats = {
        "f": ROOT | made(1),
        "x": used(1) | {"id": 5, "iter_num": 0},
        "y": {"id": 6, "iter_num": 0},
        "a": {"id": 5, "iter_num": 0},
        "b": {"id": 6, "iter_num": 0},
        "c": {"id": 5, "iter_num": 1},
    }
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.hosts[0].group.tolist() == [0, 0, -1, 0, -1, -1]


def test_a_context_that_an_earlier_group_has_taken_stays_with_it():
    drawing = """
        main  |tttt.uuuu
              |.p....q...
        other |..c....d.
    """
    stats = {"t": ROOT, "u": ROOT, "p": made(1), "q": made(1), "c": used(1), "d": used(1)}
    assert groups(drawing, stats=stats) == {"t 0": "c d p t", "u 1": "q u"}


# Which events are roots, and what groups are called.


def test_roots_are_numbered_by_level_then_time_and_none_is_inside_another_of_its_level():
    drawing = """
        one |tttttttttt.ss
            |.bbbb.uu.....
            |..c..........
        two |v............
    """
    stats = {"t": ROOT, "b": {"_r": 2}, "u": ROOT, "s": ROOT, "v": ROOT}
    found = groups(drawing, stats=stats)
    assert found == {"b 0": "b c", "t 1": "t u", "v 2": "v", "s 3": "s"}


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
    found = groups(drawing, names=names)
    assert found == {
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
    found = groups(drawing, names=names, stats=stats)
    assert found == {
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
    found = groups(drawing, names=names)
    assert found == {"0": "FunctionRun SessionRun a", "1": "FunctionRun b"}


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
    found = groups(
        "main |tttt.uuu\n     |.l......", names={"l": name}, stats={"t": ROOT, "u": ROOT}
    )
    assert found == {"t 0": f"{name} t", "u 1": "u"}


def test_the_users_event_begins_the_groups_where_it_occurs_most():
    drawing = """
        one |aaaa.aaa.ttt
            |.a......b...
        two |a...........
    """.replace(".a......b", ".c......b")
    names = {"c": "a"}
    found = groups(drawing, "a", names=names, stats={"t": ROOT})
    assert found == {"a 0": "a a", "a 1": "a", "": "a b t"}


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


# Thread pools.


def pooled(id_: int) -> dict[str, dict[str, int]]:
    return {"R": made(id_, 15), "S": used(id_, 15)}


def test_work_handed_to_a_pool_is_of_the_step_and_marks_are_of_none():
    drawing = """
        main |tttttttt
             |.R......
        pool |a.S.bb.E.c
    """
    found = groups(drawing, names=POOL, stats={"t": ROOT, **pooled(3)})
    marks = " ".join(sorted(POOL.values()))
    assert found == {"t 0": "b t", "": f"{marks} a c"}


def test_work_in_pools_hands_on_and_causes_more():
    drawing = """
        main  |tttttttttttt
              |.R..........
        pool  |..S.aa.E....
              |....Q.......
        pool2 |......F.bb.G
        other |.......c....
    """
    names = POOL | {"Q": POOL["R"], "F": POOL["S"], "G": POOL["E"]}
    stats = {
        "t": ROOT, **pooled(3), "Q": made(4, 15), "F": used(4, 15), "b": made(9), "c": used(9),
    }  # fmt: skip
    found = groups(drawing, names=names, stats=stats)
    assert found["t 0"] == "a b c t"


@pytest.mark.parametrize(
    ("pool", "of"),
    [
        ("..S.bb.E................", "t 0"),  # while the step runs
        (".......S.bb.E...........", "t 0"),  # before the next one, which it reaches into
        ("..........S.bb.E........", ""),  # after the next one has begun
        ("..S.bb............E.....", ""),  # a loop that goes on for steps
        ("S.bb.E..................", ""),  # before it was handed over
    ],
)
def test_the_time_of_work_in_a_pool_says_whether_it_is_of_the_step(pool: str, of: str):
    drawing = f"""
        main |tttttt..uuuuuu..vvvvvv..
             |.R......................
        pool |{pool}
    """
    stats = {"t": ROOT, "u": ROOT, "v": ROOT, **pooled(3)}
    found = groups(drawing, names=POOL, stats=stats)
    assert "b" in found[of].split()


def test_work_of_the_only_step_may_take_any_time():
    drawing = """
        main |ttt.....................
             |.R......................
        pool |....S.bb............E...
    """
    assert groups(drawing, names=POOL, stats={"t": ROOT, **pooled(3)})["t 0"] == "b t"


def test_events_that_begin_with_a_region_or_go_on_after_it():
    drawing = """
        main |ttttttttttttt
             |.R...........
        pool |..SaaEbbbb...
             |........d....
    """
    columns = space_of(draw({HOST: drawing}, names=POOL, stats={"t": ROOT, **pooled(3)}))
    assert members(find_grouping(columns))["t 0"] == "a t"
    line = [
        Event(POOL["S"], 2, 0, used(3, 15)),
        Event("a", 2, 3),
        Event("b", 4, 9),
        Event(POOL["E"], 6, 0),
    ]
    main = [Event("t", 0, 20, ROOT), Event(POOL["R"], 1, 0, made(3, 15))]
    found = members(find_grouping(space_of(space_bytes([[main, line]], [None]))))
    assert found["t 0"] == "a t"


def test_regions_without_an_end_or_a_beginning_are_none():
    drawing = """
        main |tttttttttt
             |.R........
        pool |E.a.S.b...
    """
    assert groups(drawing, names=POOL, stats={"t": ROOT, **pooled(3)})["t 0"] == "t"


@pytest.mark.parametrize(("records", "is_linked"), [(63, True), (64, False)])
def test_an_id_that_crowds_of_regions_share_says_nothing(records: int, is_linked: bool):
    main = [Event("t", 0, 1000, ROOT)]
    main += [Event(POOL["R"], 1, 0, made(3, 15)) for _ in range(records)]
    pool = []
    for at in range(10, 10 + 4 * 64, 4):
        pool += [
            Event(POOL["S"], at, 0, used(3, 15)),
            Event("b", at + 1, 1),
            Event(POOL["E"], at + 3, 0),
        ]
    (host,) = find_grouping(space_of(space_bytes([[main, pool]], [None]))).hosts
    assert (host.group[-2:0:-3][:64] == 0).all() == is_linked


# Devices.


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


def test_requests_and_callbacks_are_reached_by_their_keys():
    drawing = """
        main |tttttttt
             |.a.b....
        two  |..c.d.e.
    """
    names = {
        "a": "EnqueueRequestLocked", "b": "DoEnqueueProgram",
        "c": "TransferH2DRequest", "d": "CompleteCallbacks", "e": "TransferH2DRequest",
    }  # fmt: skip
    run = {"device_ordinal": 1, "queue_id": 2, "run_id": 3}
    request = {"request_id": 1, "queue_addr": 2}
    stats = {
        "t": ROOT, "a": request, "b": run, "c": request, "d": run | {"core_type": 0},
        "e": request | {"request_id": 9},
    }  # fmt: skip
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.hosts[0].group.tolist() == [0, 0, 0, 0, 0, -1]


# Groups that a file brings.


def test_groups_of_a_file_keep_their_ids_and_names():
    planes = {
        HOST: """
            main |tttt.ffff..
                 |.a...b.....
        """,
        "/device:GPU:0": """
            Steps     |..xxx.yy
            Stream #1 |..k.l.m.
        """,
    }
    names = {"t": "train", "f": "FunctionRun"}
    stats = {
        "t": {"group_id": 7, "step_name": "train 40"}, "a": {"group_id": 7},
        "f": {"group_id": 2**40}, "x": {"group_id": 7}, "y": {"group_id": -1, "step_name": "late"},
        "k": {"group_id": 7}, "l": {}, "m": {"group_id": -1},
    }  # fmt: skip
    space, grouping = grouping_of(planes, names=names, stats=stats)
    roots = grouping.roots
    assert grouping.is_from_file
    assert grouping.ids.tolist() == [-1, 7, 2**40]
    assert roots.label == ["late", "train 40", str(2**40)]
    assert roots.number.tolist() == [-1, 40, 2**40]
    assert roots.name == ["", "train", "FunctionRun"]
    assert roots.is_marker.tolist() == [False, True, False]
    assert roots.row.tolist() == [-1, 0, 2]
    assert roots.start_ps.tolist() == [-1, 0, 5_000_000]
    assert roots.duration_ps.tolist() == [0, 4_000_000, 4_000_000]
    assert grouping.hosts[0].group.tolist() == [1, 1, 2, -1]
    plane = space.planes[1]
    assert group_of_device_events(grouping, plane, plane.events([1])).tolist() == [1, -1, 0]


def test_the_root_of_a_group_in_a_file_has_a_step_name_else_a_level_else_runs_a_function():
    drawing = """
        main |ffff.rrrr.nnnn
             |.......o...f..
    """
    names = {"f": "FunctionRun"}
    stats = {
        "f": {"group_id": 0}, "r": ROOT | {"group_id": 1}, "o": ROOT | {"group_id": 1},
        "n": {"group_id": 0, "step_name": "n 5"},
    }  # fmt: skip
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.roots.name == ["n", "r"]
    assert grouping.roots.label == ["n 5", "1"]


# Any space.


def test_a_space_without_hosts_has_no_groups():
    space, grouping = grouping_of({"/device:GPU:0": "s |aa"}, stats={"a": {"correlation_id": 1}})
    assert grouping.hosts == []
    assert len(grouping.roots) == 0
    assert group_of_device_events(grouping, space.planes[0], space.planes[0].events()).tolist() == [
        -1
    ]


def test_groups_are_found_once():
    space, grouping = grouping_of("main |tttt", stats={"t": ROOT})
    assert find_grouping(space) is grouping
    space.planes[0].cache.clear()
    assert find_grouping(space) is not grouping


@pytest.mark.parametrize("shape", ["inner first", "one context", "levels", "pools"])
def test_time_grows_with_the_number_of_events_whatever_they_say(shape: str):
    """Each of these takes minutes if events are visited more than once."""
    size = 20_000
    nested = [Event("e", at, 2 * (size - at), {}) for at in range(size)]
    if shape == "inner first":
        deep = [Event("e", at, 2 * (size - at), used(size - at)) for at in range(size)]
        main = [Event("t", 0, 2 * size, ROOT)]
        main += [Event("p", at, 0, made(at)) for at in range(size)]
        plane = [main, deep]
    elif shape == "one context":
        main = [Event("t", 0, 2 * size, ROOT | made(1))]
        plane = [main, [Event("e", at, 2 * (size - at), used(1)) for at in range(size)]]
    elif shape == "levels":
        plane = [[Event("e", at, 2 * (size - at), {"_r": at}) for at in range(size)]]
    else:
        main = [Event("t", 0, 2 * size, ROOT)] + [Event(POOL["R"], 0, 0, made(1, 15))] * 60
        inner = [Event(POOL["S"], at, 0, used(1, 15)) for at in range(size // 2)]
        inner += [Event(POOL["E"], size + at, 0, {}) for at in range(size // 2)]
        plane = [main, inner, nested]
    space = space_of(space_bytes([plane], [None]))
    find_grouping(space_of(space_bytes([[[Event("t", 0, 9, ROOT)]]], [None])))
    start = time.process_time()
    find_grouping(space)
    assert time.process_time() - start < 3
