"""Every event of a space as a row of CSV."""

import contextlib
import csv
import functools
import io
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from timeline.export.chrome_twin import expected_events, opened
from traces import draw, space_of
from xplane import generate

from tbprof.base.errors import BadTrace
from tbprof.events.space import Space
from tbprof.timeline.export.chrome import Host, TimeRange
from tbprof.timeline.export.event_csv import event_csv
from tbprof.xplane.reader import read_space

Row = tuple[str, str, str, str, Decimal, Decimal]


def table(*spaces: Space, span: TimeRange | None = None) -> bytes:
    hosts = [
        Host(f"h{number}", functools.partial(opened, space), number * 10**6)
        for number, space in enumerate(spaces)
    ]
    return b"".join(event_csv(hosts, span))


def rows(content: bytes) -> list[Row]:
    head, *found = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    assert head == ["host", "process", "thread", "name", "start_us", "duration_us"]
    return [(*row[:4], Decimal(row[4]), Decimal(row[5])) for row in found]  # type: ignore[misc]


def shown(text: str) -> str:
    text = text.replace("\0", "\ufffd")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def check(space: Space) -> None:
    million = Decimal(10**6)
    assert rows(table(space)) == [
        (
            "h0", shown(event.plane), shown(event.line), shown(event.name),
            event.start_ps / million, event.duration_ps / million,
        )
        for event in expected_events(space)
    ]  # fmt: skip


def test_generated_spaces_event_by_event() -> None:
    for seed in range(60):
        try:
            space = space_of(generate.space(Random(seed)))
        except BadTrace:
            continue
        check(space)


def test_recorded_traces_event_by_event(sample_logdir: Path) -> None:
    for path in sorted(sample_logdir.rglob("*.xplane.pb")):
        check(read_space(path))


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["gpu_trace", "tpu_trace"])
def test_accelerator_traces_event_by_event(trace: str, request: pytest.FixtureRequest) -> None:
    check(read_space(request.getfixturevalue(trace)))


@pytest.mark.parametrize(
    "name", ["a,b", 'say "x"', "two\nlines", "\r", "=1+1", "@x", "-", "\0", "é𝄞", "", "'", " "]
)
def test_names_are_cells(name: str) -> None:
    check(space_of(draw([(name or "p", "t |ab")], names={"a": name, "b": "b"})))


def test_names_of_a_megabyte_take_no_more_memory_than_a_few_of_them() -> None:
    space = space_of(draw({"p": "t |" + "ab" * 20}, names={"a": "x" * 10**6, "b": "y"}))
    hosts = [Host("h0", lambda: contextlib.nullcontext(space))]
    sizes = [len(chunk) for chunk in event_csv(hosts)]
    assert sum(sizes) > 20 * 10**6
    assert max(sizes) < 5 * 10**6


def test_a_range_of_several_hosts() -> None:
    space = space_of(draw({"/host:CPU": "t |aab..c"}))
    found = rows(table(space, space, span=TimeRange(2_500_000, 3_000_000)))
    assert found == [
        ("h0", "/host:CPU", "t", "b", 2, 1),
        ("h1", "/host:CPU", "t", "a", 1, 2),
        ("h1", "/host:CPU", "t", "b", 3, 1),
    ]
