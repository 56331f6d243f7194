"""Large columns are memory of their own, which the system takes back."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tbprof.base.columns import empty_column, release_end


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_large_columns_are_private_memory() -> None:
    column = empty_column(1 << 18, np.int64)
    first = column.ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, access = line.split()[:2]
        begin, end = (int(bound, 16) for bound in span.split("-"))
        if begin <= first < end:
            assert access == "rw-p"  # the system gives shared memory no huge pages
            return
    raise AssertionError("the column lies nowhere")


def test_large_columns_can_be_written_and_read_like_any() -> None:
    for size in (0, 10, 1 << 18):
        column = empty_column(size, np.int64)
        column[:] = np.arange(size)
        assert column.dtype == np.int64
        assert column.flags.writeable
        assert column.sum() == size * (size - 1) // 2


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_end_of_a_column_returns_to_the_system() -> None:
    column = empty_column(1 << 23, np.int64)  # 64 MiB
    column[:] = 7
    before = resident_pages()
    release_end(column, 1000)
    assert before - resident_pages() > 15_000
    assert (column[:1000] == 7).all()


def test_columns_of_other_memory_stay_as_they_are() -> None:
    for column in (empty_column(10, np.int64), np.arange(10)[2:]):
        column[:] = 3
        release_end(column, 2)
        assert (column == 3).all()
