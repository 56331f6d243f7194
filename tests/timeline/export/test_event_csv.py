"""Names, memory and ranges of events as rows of CSV; `test_chrome.py` compares all of a space's."""

import contextlib

import pytest
from timeline.export.chrome_twin import expected_events
from timeline.export.csv_twin import check_rows, rows, table
from traces import drawn_space

from tbprof.timeline.export.chrome import Host, TimeRange
from tbprof.timeline.export.event_csv import event_csv


@pytest.mark.parametrize(
    "name", ["a,b", 'say "x"', "two\nlines", "\r", "=1+1", "@x", "-", "\0", "é𝄞", "", "'", " "]
)
def test_names_are_cells(name: str) -> None:
    space = drawn_space([(name or "p", "t |ab")], names={"a": name, "b": "b"})
    check_rows(space, expected_events(space))


def test_names_of_a_megabyte_take_no_more_memory_than_a_few_of_them() -> None:
    space = drawn_space({"p": "t |" + "ab" * 20}, names={"a": "x" * 10**6, "b": "y"})
    hosts = [Host("h0", lambda: contextlib.nullcontext(space))]
    sizes = [len(chunk) for chunk in event_csv(hosts)]
    assert sum(sizes) > 20 * 10**6
    assert max(sizes) < 5 * 10**6


def test_a_range_of_several_hosts() -> None:
    space = drawn_space({"/host:CPU": "t |aab..c"})
    found = rows(table(space, space, span=TimeRange(2_500_000, 3_000_000)))
    assert found == [
        ("h0", "/host:CPU", "t", "b", 2, 1),
        ("h1", "/host:CPU", "t", "a", 1, 2),
        ("h1", "/host:CPU", "t", "b", 3, 1),
    ]
