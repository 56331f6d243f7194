"""Threads for passes over bytes: compiled kernels hold no interpreter lock."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")

# Threads cost about 0.1 ms to start.
_BYTES_THAT_PAY = 1 << 20
# A task costs 20 µs, which is much for each of 100,000 lines.
_MOST_TASKS = 1024


def in_parallel(function: Callable[[int], _T], items: Sequence[int], size: int) -> list[_T]:
    """`function` of each item, in order; by threads where `size` bytes in all make it pay."""
    if size < _BYTES_THAT_PAY or len(items) < 2:
        return [function(item) for item in items]
    some = -(-len(items) // _MOST_TASKS)
    begins = range(0, len(items), some)
    # More would hold more windows, and wait for each other.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda at: [function(item) for item in items[at : at + some]], begins)
        return [found for part in parts for found in part]
