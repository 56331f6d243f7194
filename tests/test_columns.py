"""Large columns are memory of their own, which the system takes back."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tbprof.base.columns import empty_column


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
