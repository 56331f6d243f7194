"""Events and their stats as columns, from drawn traces."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from traces import COLUMN_PS, Ref, Unsigned, drawn_space

from tbprof.events.strings import Strings

DRAWING = """
    one |mm.aa
        |.b
    two |mm..a
"""


def _space(**options):
    return drawn_space({"/host:CPU": DRAWING}, **options)


def test_selected_events_keep_their_lines() -> None:
    (plane,) = _space().planes
    events = plane.events()

    some = events.select(np.array([1, 2, 4]))

    assert events.line.tolist() == [0, 0, 0, 1, 1]
    assert some.line.tolist() == [0, 0, 1]
    assert some.first_event.tolist() == [0, 2, 3]
    assert some.start_ps.tolist() == [COLUMN_PS, 3 * COLUMN_PS, 4 * COLUMN_PS]
    assert len(events.select(np.zeros(0, np.int64))) == 0


def test_tables_of_types_are_spread_over_events() -> None:
    (plane,) = _space().planes
    events = plane.events()
    no_type = replace(events, type=np.where(events.start_ps > 0, events.type, np.int32(-1)))
    types = plane.types.id.size
    letters = plane.strings.take(plane.types.name.tolist())
    codes = np.array([*map(ord, letters), 0], np.int16)

    spread = no_type.by_type(codes)

    expected = [codes[type_] for type_ in no_type.type.tolist()]
    assert spread.tolist() == expected
    assert spread.dtype == np.int16
    assert (
        no_type.rows_of(codes == ord("a")).tolist() == np.flatnonzero(spread == ord("a")).tolist()
    )
    assert no_type.rows_of(np.zeros(types + 1, bool)).tolist() == []
    assert events.used_types(types).tolist() == sorted(set(events.type.tolist()))
    assert no_type.used_types(types).tolist() == sorted(set(no_type.type.tolist()) - {-1})


def test_spreading_goes_over_more_events_than_one_piece() -> None:
    (plane,) = _space().planes
    events = plane.events()
    many = replace(events, type=np.resize(np.array([0, 1, -1, 1], np.int32), 200_001))

    rows = many.rows_of(np.array([False, True, *[False] * (plane.types.id.size - 1)]))

    assert rows.tolist() == np.flatnonzero(many.type == 1).tolist()
    assert many.used_types(plane.types.id.size).tolist() == [0, 1]


def test_stats_of_the_type_are_defaults_of_its_events() -> None:
    (plane,) = _space(
        stats={"a": {"flops": 0}, "b": {"bytes_accessed": Unsigned(2**64 - 1)}},
        type_stats={"a": {"flops": 7}, "m": {"flops": 9, "tf_op": "x"}},
    ).planes

    stats = plane.events().stats(["flops", "bytes_accessed", "tf_op"])

    # m b a m a: an event's own 0 counts.
    assert stats["flops"].integers(-1).tolist() == [9, -1, 0, 9, 0]
    assert stats["flops"].is_present.tolist() == [True, False, True, True, True]
    assert plane.strings.take(stats["tf_op"].texts().tolist()) == ["x", "", "", "x", ""]
    unsigned = stats["bytes_accessed"]
    assert unsigned.integers().tolist() == [0, -1, 0, 0, 0]
    assert np.array_equal(unsigned.numbers(), [np.nan, 2.0**64, *[np.nan] * 3], equal_nan=True)


def test_texts_and_references_of_one_content_are_one_id() -> None:
    (plane,) = _space(
        stats={
            "m": {"tf_op": "same"},
            "a": {"tf_op": Ref("same")},
            "b": {"tf_op": b"same", "flops": 1.5},
        }
    ).planes

    stats = plane.events().stats(["tf_op", "flops"])

    ids = stats["tf_op"].texts()
    assert ids.tolist() == [ids[0], -1, ids[0], ids[0], ids[0]]
    assert plane.strings[int(ids[0])] == "same"
    assert [stats["tf_op"].blob(row) for row in range(3)] == [b"same", b"same", None]
    assert np.isnan(stats["tf_op"].numbers()).all()
    assert stats["flops"].numbers(0).tolist() == [0, 1.5, 0, 0, 0]


def test_no_events_have_no_stats() -> None:
    (plane,) = drawn_space({"p": "empty |..."}, stats={}).planes

    events = plane.events()
    stats = events.stats(["tf_op"])

    assert len(events) == 0
    assert stats["tf_op"].kind.size == stats["tf_op"].texts().size == 0


def test_threads_read_one_plane_at_a_time_and_together() -> None:
    (plane,) = _space(stats={"m": {"tf_op": "x"}}, type_stats={"a": {"flops": 1}}).planes

    def read(_: int) -> list[list[int]]:
        events = plane.events()
        stats = events.stats(["tf_op", "flops"])
        texts = plane.strings.take(stats["tf_op"].texts().tolist())
        return [events.start_ps.tolist(), stats["flops"].integers().tolist(), texts]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(64)))

    assert all(one == found[0] for one in found)


def test_strings_have_one_id_each() -> None:
    strings = Strings()

    ids = strings.intern(["a", "", "a", "b"])

    assert ids.tolist() == [0, 1, 0, 2]
    assert strings.intern(["b", "c"]).tolist() == [2, 3]
    assert len(strings) == 4
    assert strings.take([3, -1, 0]) == ["c", "", "a"]
    assert strings[-1] == ""
