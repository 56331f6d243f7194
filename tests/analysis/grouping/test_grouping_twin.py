"""Groups of random traces, against the slow twin."""

import pytest
from analysis.grouping.grouping_twin import (
    CAPTURED,
    EXECUTOR,
    NEXT,
    RECORD,
    START,
    STOP,
    Event,
    Plane,
    slow_groups,
    space_bytes,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import space_of

from tbprof.analysis.grouping.grouping import find_grouping

IDS = st.integers(0, 2)
TIMES = st.integers(0, 24)


def stats(**parts: st.SearchStrategy[dict[str, int]]) -> st.SearchStrategy[dict[str, int]]:
    """Stats of all of the parts."""
    return st.tuples(*parts.values()).map(
        lambda found: {k: v for part in found for k, v in part.items()}
    )


def maybe(**values: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, int]]:
    """These stats together, in one of three cases."""
    return st.one_of(st.just({}), st.just({}), st.fixed_dictionaries(values))


def rarely(**values: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, int]]:
    return st.one_of(*[st.just({})] * 9, st.fixed_dictionaries(values))


POOL_IDS = st.integers(0, 4)
TYPES = st.sampled_from([2, 2, 2, 3, 15])
CONTEXTS = {
    "made": maybe(_pt=TYPES, _p=IDS),
    "used": maybe(_ct=TYPES, _c=IDS),
    "pid": rarely(_pid=st.integers(7, 8)),
    "beside": rarely(_a=st.just(1)),
}
RUN = maybe(id=st.integers(5, 8), iter_num=st.integers(0, 2))


def event(
    names: list[str], found: st.SearchStrategy[dict[str, int]], longest: int = 9
) -> st.SearchStrategy[Event]:
    return st.builds(Event, st.sampled_from(names), TIMES, st.integers(0, longest), found)


RECORDS = event([RECORD], st.fixed_dictionaries({"_pt": st.just(15), "_p": POOL_IDS}), 0)
ORDINARY = event(["op", "other"], stats(**CONTEXTS))
EXECUTORS = event([EXECUTOR, NEXT, CAPTURED], stats(run=RUN, **CONTEXTS))
MARKERS = event(
    ["train", "FunctionRun", "SessionRun", "TraceContext"],
    stats(
        root=maybe(_r=st.integers(1, 2)),
        step=maybe(step_num=st.integers(0, 99)),
        run=RUN,
        **CONTEXTS,
    ),
)
EXECUTIONS = event(["FunctionRun", "SessionRun", EXECUTOR, EXECUTOR], stats(run=RUN, **CONTEXTS))


@st.composite
def step_lines(draw: st.DrawFn) -> list[Event]:
    """Steps one after the other, some inside others, and hand-overs anywhere."""
    events, at = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), max_size=4)):
        level = draw(st.sampled_from([1, 1, 1, 2]))
        events.append(Event("train", at + gap, length, {"_r": level}))
        at += gap + length
    events += draw(st.lists(RECORDS, min_size=1, max_size=6))
    return draw(st.permutations(events + draw(st.lists(MARKERS, max_size=1))))


@st.composite
def pool_lines(draw: st.DrawFn) -> list[Event]:
    """Regions one after the other, or one in another, with events in and around them."""
    events, at = [], 0
    tasks = st.tuples(st.integers(0, 5), st.integers(0, 9), POOL_IDS, st.integers(0, 9))
    for gap, length, id_, inner in draw(st.lists(tasks, max_size=4)):
        events.append(Event(START, at + gap, 0, {"_ct": 15, "_c": id_}))
        within = st.builds(
            Event, st.just("op"), st.integers(at + gap, at + gap + length), st.integers(0, 5)
        )
        events += draw(st.lists(within, max_size=3))
        if inner > 5:
            id_ = draw(POOL_IDS)
            events.append(Event(RECORD, at + gap + length // 2, 0, {"_pt": 15, "_p": id_}))
        events.append(Event(STOP, at + gap + length, 0))
        at += gap + (length if inner > 1 else 1)
    return events + draw(st.lists(ORDINARY, max_size=2))


def lines(*kinds: st.SearchStrategy[Event]) -> st.SearchStrategy[Plane]:
    events = st.lists(st.one_of(*kinds), max_size=14)
    return st.lists(events, min_size=1, max_size=3)


def hosts(*kinds: st.SearchStrategy[Event]) -> st.SearchStrategy[list[Plane]]:
    return st.lists(lines(*kinds), min_size=1, max_size=2)


def check(planes: list[Plane], processes: list[int | None], *, follows_pools: bool) -> None:
    processes = processes[: len(planes)]
    content = space_bytes(planes, processes)
    grouping = find_grouping(space_of(content), follows_pools=follows_pools)
    groups, labels = slow_groups(planes, processes, follows_pools=follows_pools)
    assert grouping.roots.label == labels
    assert [host.group.tolist() for host in grouping.hosts] == groups


PROCESSES = st.sampled_from([[None, None], [7, 8], [7, 7], [7, None]])


@pytest.mark.slow
@given(hosts(ORDINARY, MARKERS), PROCESSES)
@settings(max_examples=60, deadline=None)
def test_groups_are_those_of_the_twin(planes: list[Plane], processes: list[int | None]):
    check(planes, processes, follows_pools=True)


@pytest.mark.slow
@given(hosts(ORDINARY, EXECUTORS, EXECUTIONS), PROCESSES)
@settings(max_examples=60, deadline=None)
def test_groups_without_markers_are_those_of_the_twin(
    planes: list[Plane], processes: list[int | None]
):
    check(planes, processes, follows_pools=True)


@pytest.mark.slow
@given(hosts(MARKERS, EXECUTORS, EXECUTIONS), PROCESSES)
@settings(max_examples=60, deadline=None)
def test_groups_with_executions_are_those_of_the_twin(
    planes: list[Plane], processes: list[int | None]
):
    check(planes, processes, follows_pools=False)


@pytest.mark.slow
@given(step_lines(), st.lists(pool_lines(), min_size=1, max_size=3), st.booleans())
@settings(max_examples=120, deadline=None)
def test_groups_of_work_in_pools_are_those_of_the_twin(
    steps: list[Event], pools: list[list[Event]], follows_pools: bool
):
    check([[steps, *pools]], [None], follows_pools=follows_pools)
