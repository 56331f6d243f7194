"""Work on several items in threads: compiled kernels release the interpreter lock."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_T = TypeVar("_T")
_Other = TypeVar("_Other")

# Less takes a processor a few ms, as does importing the pool.
_BYTES_THAT_PAY = 1 << 22
PIECE = 1 << 19
# A task costs 20 µs, which is much for each of 100,000 lines.
_MOST_TASKS = 1024
# Of all who work in parallel at the same time, for each processor: a server has many requests.
_HELPERS_PER_PROCESSOR = 2

_helping = 0
_helping_lock = threading.Lock()


def thread_pool(threads: int | None, name: str = "") -> "ThreadPoolExecutor":
    """A pool of `threads` threads. Imported late, since it imports logging."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, name)


@contextmanager
def helpers(most: int | None = None) -> Iterator[int]:
    """How many threads the block may start, at most `most`, or one for each processor.

    0 if others have started as many as are of use: then the caller should work alone.
    """
    global _helping
    processors = os.cpu_count() or 1
    with _helping_lock:
        free = max(0, _HELPERS_PER_PROCESSOR * processors - _helping)
        threads = min(free, processors if most is None else most)
        _helping += threads
    try:
        yield threads
    finally:
        with _helping_lock:
            _helping -= threads


def in_parallel(
    function: Callable[[int], _T], items: Sequence[int], size: int = _BYTES_THAT_PAY
) -> list[_T]:
    """`function` of each item, in order; in threads unless `size` bytes in total are too few."""
    if size < _BYTES_THAT_PAY or len(items) < 2:
        return [function(item) for item in items]
    step = -(-len(items) // _MOST_TASKS)
    begins = range(0, len(items), step)
    # As many as there are processors: each running item takes memory of its own.
    with helpers() as threads:
        if threads < 2:
            return [function(item) for item in items]
        with thread_pool(threads) as pool:
            parts = pool.map(
                lambda begin: [function(item) for item in items[begin : begin + step]], begins
            )
            return [result for part in parts for result in part]


def both(function: Callable[[], _T], other: Callable[[], _Other], size: int) -> tuple[_T, _Other]:
    """What two functions return; at the same time unless `size` bytes in total are too few."""
    if size < _BYTES_THAT_PAY:
        return function(), other()
    with thread_pool(1) as pool:
        beside = pool.submit(other)
        return function(), beside.result()


def in_line_ranges(function: Callable[[int, int], _T], first_event: Sequence[int]) -> list[_T]:
    """`function(begin, end)` of ranges of lines, in order; in threads if they have many rows.

    Rows `first_event[i]:first_event[i + 1]` are those of line i.
    """
    lines = len(first_event) - 1
    cuts = [0]
    for line in range(1, lines):
        if first_event[line] - first_event[cuts[-1]] >= PIECE:
            cuts.append(line)
    cuts.append(lines)
    return in_parallel(lambda at: function(cuts[at], cuts[at + 1]), range(len(cuts) - 1))


def in_pieces(function: Callable[[int, int], _T], size: int, piece: int = PIECE) -> list[_T]:
    """`function(begin, end)` of pieces of `size` rows, in order; in threads if there are many."""
    begins = range(0, size, piece)
    return in_parallel(lambda begin: function(begin, min(begin + piece, size)), begins)
