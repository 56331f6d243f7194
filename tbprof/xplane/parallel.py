"""Threads for passes over bytes: compiled kernels hold no interpreter lock."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")

# Threads cost about 0.1 ms to start.
_BYTES_THAT_PAY = 1 << 20


def in_parallel(function: Callable[[int], _T], items: Sequence[int], size: int) -> list[_T]:
    """`function` of each item, in order; by threads where `size` bytes in all make it pay."""
    if size < _BYTES_THAT_PAY or len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(function, items))
