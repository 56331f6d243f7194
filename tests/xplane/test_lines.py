"""Timelines: order, nesting rows, chunks of one line, clocks."""

from collections.abc import Callable
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from helpers.promises.growth import is_linear
from traces import COLUMN_PS, drawn_space, space_of
from xplane import generate
from xplane.generate import body, scalar
from xplane.whole import whole

from tbprof.events.space import Plane
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.lines import event_estimates
from tbprof.xplane.lines.event_estimates import most_events
from tbprof.xplane.lines.line_index import Span
from tbprof.xplane.reader import space_in

US = COLUMN_PS


def _rows(plane: Plane) -> list[tuple[int, str, int, int]]:
    """(line, name, start µs, duration µs) of each event."""
    events = plane.events()
    names = plane.strings.take(plane.types.name[events.type].tolist())
    starts, durations = (events.start_ps // US).tolist(), (events.duration_ps // US).tolist()
    return list(zip(events.line.tolist(), names, starts, durations, strict=True))


def test_events_are_ordered_by_line_start_and_longest_first() -> None:
    drawing = """
        one |mmmm.rr
            |.aa..b.
        two |.mm
    """

    (plane,) = drawn_space({"p": drawing}).planes

    assert _rows(plane) == [
        (0, "m", 0, 4), (0, "a", 1, 2), (0, "r", 5, 2), (0, "b", 5, 1), (1, "m", 1, 2),
    ]  # fmt: skip


def test_some_lines_alone_are_read() -> None:
    (plane,) = drawn_space({"p": "one |a\ntwo |bb\nthree |ccc"}).planes

    events = plane.events([2, 0])

    assert plane.strings.take(events.lines.name.tolist()) == ["three", "one"]
    assert events.first_event.tolist() == [0, 1, 2]
    assert events.duration_ps.tolist() == [3 * US, US]
    assert len(plane.events([])) == 0


def _event(start: int, duration: int, type_: int = 1) -> bytes:
    return body(4, scalar(1, type_) + scalar(2, start) + scalar(3, duration))


def test_equal_events_keep_the_files_order_when_a_line_is_sorted() -> None:
    events = _event(9, 1) + _event(5, 2, 1) + _event(5, 2, 2) + _event(5, 3, 3)
    types = b"".join(body(4, scalar(1, at) + body(2, body(2, f"t{at}"))) for at in (1, 2, 3))

    (plane,) = space_of(body(1, body(2, "p") + body(3, scalar(1, 1) + events) + types)).planes

    found = plane.events()
    assert found.start_ps.tolist() == [5, 5, 5, 9]
    assert found.type.tolist() == [2, 0, 1, 0]


def test_xlines_of_one_id_and_name_are_one_timeline() -> None:
    """A recorder that writes in chunks; the second chunk has a time stamp of its own."""
    first = body(3, scalar(1, 7) + body(2, "t") + _event(0, 100) + _event(10, 5))
    second = body(3, scalar(1, 7) + body(2, "t") + scalar(3, 1) + _event(1, 2) + _event(500, 1))
    other = body(3, scalar(1, 7) + body(2, "u") + _event(3, 1))

    (plane,) = space_of(body(1, body(2, "p") + first + other + second)).planes

    events = plane.events()
    assert plane.lines.id.tolist() == [7, 7]
    assert events.line.tolist() == [0, 0, 0, 0, 1]
    assert events.start_ps.tolist() == [0, 10, 1001, 1500, 3]


def test_a_line_in_chunks_reads_as_if_it_were_whole() -> None:
    for seed in range(200):
        random = Random(seed)
        events = [body(4, generate.event(random)) for _ in range(9)]
        head = scalar(1, 3) + body(2, "t") + scalar(3, 50)
        whole = body(1, body(2, "p") + body(3, head + b"".join(events)))
        parts = [body(3, head + b"".join(events[index : index + 2])) for index in range(0, 9, 2)]
        (one,) = space_of(whole).planes
        (many,) = space_of(body(1, body(2, "p") + b"".join(parts))).planes
        assert one.events().start_ps.tolist() == many.events().start_ps.tolist()
        assert one.events().duration_ps.tolist() == many.events().duration_ps.tolist()
        merged = [plane.events().aggregated.occurrences.tolist() for plane in (one, many)]
        assert merged[0] == merged[1]


@pytest.mark.parametrize("rows", [[1], [2, 0], [0, 1, 2], []])
def test_lines_read_as_if_no_others_had_been_read_before(rows: list[int]) -> None:
    def columns(plane: Plane) -> list[list[int]]:
        events = plane.events(rows)
        of_events = events.line, events.type, events.start_ps, events.duration_ps, events.source
        merged = events.aggregated
        of_merged = merged.line, merged.type, merged.occurrences, merged.duration_ps, merged.source
        parts = (*of_events, *of_merged, events.first_event, events.lines.id, events.lines.start_ps)
        return [column.tolist() for column in parts]

    for seed in range(100):
        random = Random(seed)
        lines = [
            body(3, scalar(1, line) + b"".join(body(4, generate.event(random)) for _ in range(9)))
            for line in (5, 6, 7)
        ]
        file = body(1, body(2, "p") + b"".join(lines))
        (alone,), (after_others,) = (space_of(file).planes for _ in range(2))
        after_others.events()
        assert columns(after_others) == columns(alone)


def test_epoch_times_count_from_the_first_line_of_all_planes() -> None:
    now = 1_800_000_000 * 10**9
    planes = [
        body(1, body(2, name) + body(3, scalar(3, stamp) + _event(2, 1)))
        for name, stamp in (("p", now + 7), ("p", now), ("q", 5))
    ]

    space = space_of(b"".join(planes))

    assert space.start_ns == now
    assert [plane.events().start_ps.tolist() for plane in space.planes] == [[7002], [2], [5002]]
    assert [plane.name for plane in space.planes] == ["p", "p", "q"]


def test_a_time_stamp_behind_the_events_counts() -> None:
    line = body(3, scalar(1, 1) + _event(2, 1) + scalar(3, 4) + body(2, "late"))

    (plane,) = space_of(body(1, body(2, "p") + line)).planes

    events = plane.events()
    assert events.start_ps.tolist() == [4002]
    assert plane.strings.take(events.lines.name.tolist()) == ["late"]


@pytest.mark.parametrize("number", [-1, -(2**63), 2**40, 0])
def test_line_ids_may_be_any_integer(number: int) -> None:
    (plane,) = drawn_space({"p": "l |a"}, line_ids={"l": number}).planes

    assert plane.lines.id.tolist() == plane.lines.display_id.tolist() == [number]


def _short(at: int) -> bytes:
    """A line with an event, of which odd ones tell what they are called behind it."""
    event = _event(at, 1 + at % 3)
    head = scalar(1, at + 1) + body(2, f"line {at}")
    if at % 2:
        told = scalar(10, at) + body(11, f"shown {at}")
        return body(3, head + scalar(3, at) + event * (at % 5) + told)
    return body(3, head + event * (at % 5) + scalar(3, at))


def test_many_short_lines_are_read_as_each_by_itself() -> None:
    plane = body(2, "p") + b"".join(_short(index) for index in range(500))
    content = body(1, plane + body(4, scalar(1, 1) + body(2, body(2, "t"))))

    (together,) = space_in(Buffer(content, "x")).planes
    (apart,) = space_in(Buffer(content, "x", 1000)).planes

    assert _rows(together) == _rows(apart)
    for events in (together.events(), apart.events()):
        text = events.plane.strings.take
        assert text(events.lines.name.tolist()) == [f"line {index}" for index in range(500)]
        assert text(events.lines.display_name.tolist()) == [
            f"shown {index}" if index % 2 else f"line {index}" for index in range(500)
        ]
        assert events.lines.display_id.tolist() == [
            index if index % 2 else index + 1 for index in range(500)
        ]
        assert events.lines.start_ps.tolist() == [index * 1000 for index in range(500)]


def _of_event(at: int, more: bytes = b"") -> bytes:
    return body(4, scalar(1, 1) + scalar(2, at * US) + scalar(3, US) + more)


_LATER = {
    "as many": b"".join(map(_of_event, range(200, 2000))),
    "more": body(4, b"") * 9000,
    "fewer": b"".join(_of_event(index, body(9, "x" * 90)) for index in range(200, 400)),
    "entries for many": (_of_event(200) + body(4, scalar(1, 1) + scalar(5, 3))) * 900,
    "none in order": b"".join(map(_of_event, range(2000, 200, -1))),
    "damage": b"".join(map(_of_event, range(200, 900))) + b"\xff" * 11 + _of_event(3) * 900,
    "a time stamp behind": b"".join(map(_of_event, range(200, 2000))) + scalar(3, 5),
    "names behind": _of_event(7) * 1800 + body(2, "late") + body(11, "shown") + scalar(10, 4),
}


@pytest.mark.parametrize("later", _LATER.values(), ids=_LATER)
@pytest.mark.parametrize("is_tiny", [False, True])
def test_a_long_line_is_read_whatever_follows_its_start(is_tiny: bool, later: bytes) -> None:
    start = body(4, b"") * 900 if is_tiny else b"".join(map(_of_event, range(200)))

    def line(number: int) -> bytes:
        return body(3, scalar(1, number) + body(2, f"line {number}") + start + later)

    content = body(1, body(2, "p") + line(1) + line(2) + line(3))

    def read(window: int) -> list[Any]:
        # Details follow from where an event is, however its line was read.
        return whole(space_in(Buffer(content, "x", window)), every=101)

    # A window that holds each line, and one in which some of its start fits alone.
    counted, estimated = read(1 << 20), read(1000)
    with patch.multiple(event_estimates, _SAMPLES=3, _SAMPLE=400):
        by_little = read(1000)

    assert estimated == counted
    assert by_little == counted


def test_estimates_are_a_little_more_than_there_is() -> None:
    random = Random(1)
    texts = [body(4, scalar(1, 3) + body(5, "x" * size)) for size in (5, 60, 90)]
    events = b"".join(
        _of_event(index, b"".join(random.choices(texts, k=random.randrange(4))))
        for index in range(30_000)
    )
    assert 30_000 <= most_events(Buffer(events, "x"), Span(0, len(events), 0)) <= 36_000
    # What comes first does not count for all of it.
    start = b"".join(_of_event(index, texts[2] * 9) for index in range(300))
    mixed = Span(0, len(start + events), 0)
    assert 30_300 <= most_events(Buffer(start + events, "x"), mixed) <= 37_000
    tiny = body(4, scalar(1, 1)) * 90_000
    assert most_events(Buffer(tiny, "x"), Span(0, len(tiny), 0)) == 0
    nothing = bytes(500_000)
    assert most_events(Buffer(nothing, "x"), Span(0, len(nothing), 0)) == 0


def test_chunks_of_a_line_continue_it_however_many_there_are() -> None:
    chunk = body(3, scalar(1, 7) + body(2, "main") + _event(0, 1))

    def reading(chunks: int) -> Callable[[], Plane]:
        content = body(1, body(2, "p") + chunk * chunks)
        return lambda: _with_events(space_in(Buffer(content, "x")).planes[0])

    plane = reading(20_000)()
    assert plane.lines.id.tolist() == [7]
    assert len(plane.events()) == 20_000
    assert is_linear(reading, 20_000)


def _with_events(plane: Plane) -> Plane:
    plane.events()
    return plane


def test_short_lines_are_decoded_once_as_long_as_someone_may_ask_again() -> None:
    [plane] = drawn_space({"p": "one |mm.rr\ntwo |aaa"}).planes
    first = plane.events([1])
    assert plane.events([1]).start_ps is first.start_ps
    assert plane.events([0, 1]).start_ps is not first.start_ps
    plane.cache.clear()
    assert plane.events([1]).start_ps is not first.start_ps
    assert plane.events([1]).start_ps.tolist() == first.start_ps.tolist()
