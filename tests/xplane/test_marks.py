"""Stats that are read while events are decoded are those that are read of them afterwards."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from traces import Unsigned, draw, drawn_space, space_of
from xplane import generate

import tbprof.xplane.plane
from tbprof.analysis.grouping.file_groups import _read
from tbprof.analysis.host.host_events import async_rows, has_flag, host_events
from tbprof.analysis.vocabulary.lines import recorded_lines
from tbprof.base import names
from tbprof.base.errors import BadTrace
from tbprof.events.marks import MarkNames
from tbprof.events.space import Plane
from tbprof.events.stats import StatColumn
from tbprof.kernels.codes import HAS_RARE, IS_ODD
from tbprof.xplane.reader import read_space

HOST = "/host:CPU"


@pytest.fixture(autouse=True)
def of_short_lines_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tbprof.xplane.plane, "_SHARED_BYTES", -1)


def drawn(stats: Mapping[str, Any]) -> Plane:
    return drawn_space({HOST: "main |a.b.c.d"}, stats=stats).planes[0]


def test_a_number_flags_and_rare_stats_are_read_on_the_way():
    plane = drawn({
        "a": {"group_id": 7, "is_eager": 1},
        "b": {"is_eager": 0, "step_name": "train 1"},
        "c": {"group_id": 0, "flops": 3},
    })  # fmt: skip
    marks = plane.events(None, MarkNames("group_id", ("is_eager", "flops"), ("step_name",))).marks
    assert marks is not None
    assert marks.is_set("is_eager").tolist() == [True, False, False, False]
    assert marks.is_set("flops").tolist() == [False, False, True, False]
    assert marks.odd_rows().tolist() == []
    assert marks.odd_rows(or_rare=True).tolist() == [1]
    number = marks.take_number()
    assert number is not None
    assert number.tolist() == [7, -1, 0, -1]
    assert marks.take_number() is None


@pytest.mark.parametrize("value", [-1, 2**31, Unsigned(2**63), 0.5, "7", b"7"])
def test_what_is_no_small_number_is_odd(value: object):
    plane = drawn({"a": {"group_id": value}, "b": {"group_id": 2**31 - 1}})
    marks = plane.events(None, MarkNames("group_id", (), ())).marks
    assert marks is not None
    assert marks.odd_rows().tolist() == [0]
    assert marks.number.tolist() == [-1, 2**31 - 1, -1, -1]


def test_events_that_are_chosen_keep_their_flags():
    plane = drawn({"a": {"is_eager": 1}, "c": {"is_eager": 1}})
    events = plane.events(None, MarkNames("group_id", ("is_eager",), ()))
    some = events.select(np.array([1, 2]))
    assert has_flag(some, "is_eager").tolist() == [False, True]
    assert some.marks is not None
    assert some.marks.take_number() is None


WANTED = MarkNames("group_id", ("flops", "device_offset_ps"), ("tf_op",))


def test_marks_of_any_space_are_its_stats():
    for seed in range(300):
        try:
            space = space_of(generate.space(Random(seed)))
        except BadTrace:  # without planes
            continue
        for plane in space.planes:
            check_marks(plane)


def test_marks_of_random_values_are_their_stats():
    random = Random(7)
    numbers, odd = 0, 0
    for _ in range(40):
        stats = {
            letter: {
                name: random.choice(VALUES) for name in generate.NAMES if random.random() < 0.4
            }
            for letter in "abcd"
        }
        more = check_marks(drawn(stats))
        numbers, odd = numbers + more[0], odd + more[1]
    assert numbers > 20
    assert odd > 20


VALUES = (
    0,
    1,
    2,
    300,
    2**31 - 1,
    2**31,
    -1,
    2**40,
    Unsigned(5),
    Unsigned(2**64 - 1),
    0.0,
    "a",
    b"",
)


def check_marks(plane: Plane) -> tuple[int, int]:
    """How many numbers were read on the way, and how many events are odd."""
    events = plane.events(None, WANTED)
    if events.marks is None:
        return 0, 0
    own = plane.event_stats(events.source, generate.NAMES)
    bits = events.marks.bits
    plain = (bits & IS_ODD) == 0
    group = own["group_id"].integers(-1)
    assert (events.marks.number[plain] == group[plain]).all()
    for flag in WANTED.flags:
        assert (events.marks.is_set(flag) == is_set(own[flag]))[plain].all()
    assert (bits[plain & own["tf_op"].is_present] & HAS_RARE).all()
    return int(np.count_nonzero(group[plain] >= 0)), int(np.count_nonzero(~plain))


def is_set(column: StatColumn) -> np.ndarray:
    return column.integers() != 0


def test_groups_and_flags_are_the_same_where_types_say_some_of_them():
    stats = {"a": {"group_id": 3, "_a": 1}, "b": {"group_id": 2**40}, "c": {"step_name": "x 1"}}
    for types in ({}, {"d": {"group_id": 5}}, {"d": {"_a": 1}}, {"b": {"step_name": "late"}}):
        content = draw({HOST: "main |a.b.c.d"}, stats=stats, type_stats=types)
        check_groups(space_of(content).planes[0])


def test_groups_of_recorded_traces_are_the_same(gpu_trace: Path):
    for plane in read_space(gpu_trace).planes:
        if plane.name == HOST:
            check_groups(plane)


def check_groups(plane: Plane) -> None:
    plane.expected_stats.update([names.GROUP_ID, names.IS_EAGER, names.ASYNC])
    events, plain = host_events(plane), plane.events(recorded_lines(plane))
    assert events.marks is not None
    assert plain.marks is None
    assert async_rows(events).tolist() == async_rows(plain).tolist()
    assert has_flag(events, names.IS_EAGER).tolist() == has_flag(plain, names.IS_EAGER).tolist()
    found, expected = _read(events), _read(plain)
    assert np.append(found.ids, -1)[found.own].tolist() == (
        np.append(expected.ids, -1)[expected.own].tolist()
    )
    order, wanted = np.lexsort((found.rank, found.row)), np.lexsort((expected.rank, expected.row))
    for column in ("row", "rank", "label"):
        one, other = getattr(found, column)[order], getattr(expected, column)[wanted]
        assert one.tolist() == other.tolist()
