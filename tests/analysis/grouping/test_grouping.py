"""What a root encloses, and what that has caused: groups of drawn traces, rule by rule."""

from collections.abc import Callable

import pytest
from analysis.grouping.grouping_twin import Event, space_bytes
from analysis.grouping.test_groups_of_pools import POOL
from helpers.drawn.drawn_groups import HOST, ROOT, grouping_of, groups, made, used
from helpers.promises.growth import is_linear
from traces import Unsigned, space_of

from tbprof.analysis.grouping.grouping import Grouping, find_grouping, group_of_device_events

EXECUTOR = "ExecutorState::Process"


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
    group_of = groups(drawing, stats=stats, plane_stats={HOST: {"process_id": 7}})
    assert group_of == {"t 0": "c d p t", "": "a b"}


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
    line += [Event("p", index, 1, made(1)) for index in range(producers)]
    content = space_bytes([[line, [Event("c", index, 1, used(1)) for index in range(64)]]], [None])
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

    def grouping(size: int) -> Callable[[], Grouping]:
        space = space_of(space_bytes([_crossing(shape, size)], [None]))
        return lambda: find_grouping(space)

    assert is_linear(grouping, 20_000)


def _crossing(shape: str, size: int) -> list[list[Event]]:
    """The lines of a plane whose events hold, call and follow one another."""
    nested = [Event("e", index, 2 * (size - index), {}) for index in range(size)]
    if shape == "inner first":
        deep = [Event("e", index, 2 * (size - index), used(size - index)) for index in range(size)]
        main = [Event("t", 0, 2 * size, ROOT)]
        main += [Event("p", index, 0, made(index)) for index in range(size)]
        return [main, deep]
    if shape == "one context":
        main = [Event("t", 0, 2 * size, ROOT | made(1))]
        return [main, [Event("e", index, 2 * (size - index), used(1)) for index in range(size)]]
    if shape == "levels":
        return [[Event("e", index, 2 * (size - index), {"_r": index}) for index in range(size)]]
    main = [Event("t", 0, 2 * size, ROOT)] + [Event(POOL["R"], 0, 0, made(1, 15))] * 60
    inner = [Event(POOL["S"], index, 0, used(1, 15)) for index in range(size // 2)]
    inner += [Event(POOL["E"], size + index, 0, {}) for index in range(size // 2)]
    return [main, inner, nested]
