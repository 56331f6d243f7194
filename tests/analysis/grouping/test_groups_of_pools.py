"""Groups of work that thread pools do."""

import pytest
from analysis.grouping.grouping_twin import Event, space_bytes
from helpers.drawn.drawn_groups import HOST, ROOT, groups, made, members, used
from traces import drawn_space, space_of

from tbprof.analysis.grouping.grouping import find_grouping

POOL = {
    "R": "ThreadpoolListener::Record",
    "S": "ThreadpoolListener::StartRegion",
    "E": "ThreadpoolListener::StopRegion",
}


def pooled(id_: int) -> dict[str, dict[str, int]]:
    return {"R": made(id_, 15), "S": used(id_, 15)}


def test_work_handed_to_a_pool_is_of_the_step_and_marks_are_of_none():
    drawing = """
        main |tttttttt
             |.R......
        pool |a.S.bb.E.c
    """
    group_of = groups(drawing, names=POOL, stats={"t": ROOT, **pooled(3)})
    marks = " ".join(sorted(POOL.values()))
    assert group_of == {"t 0": "b t", "": f"{marks} a c"}


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
    group_of = groups(drawing, names=names, stats=stats)
    assert group_of["t 0"] == "a b c t"


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
    group_of = groups(drawing, names=POOL, stats=stats)
    assert "b" in group_of[of].split()


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
    columns = drawn_space({HOST: drawing}, names=POOL, stats={"t": ROOT, **pooled(3)})
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
    for start in range(10, 10 + 4 * 64, 4):
        pool += [
            Event(POOL["S"], start, 0, used(3, 15)),
            Event("b", start + 1, 1),
            Event(POOL["E"], start + 3, 0),
        ]
    (host,) = find_grouping(space_of(space_bytes([[main, pool]], [None]))).hosts
    assert (host.group[-2:0:-3][:64] == 0).all() == is_linked
