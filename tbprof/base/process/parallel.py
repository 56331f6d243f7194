"""Work on several items in threads: compiled kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_T = TypeVar("_T")
_Other = TypeVar("_Other")

# Less work takes a few ms, as does importing the thread pool.
_BYTES_THAT_PAY = 1 << 22
PIECE = 1 << 19
# A task costs 20 µs, which is too much for each of 100,000 lines.
_MOST_TASKS = 1024
# Threads per processor that `helpers` allows in total: a server has many requests.
_HELPERS_PER_PROCESSOR = 2

_helping = 0
_helping_lock = threading.Lock()


def thread_pool(threads: int | None, name: str = "") -> ThreadPoolExecutor:
    """A pool of `threads` threads. Imported late, since it imports logging."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, name)


@contextmanager
def helpers(most: int) -> Iterator[int]:
    """How many threads the block may start, at most `most`.

    0 if enough threads are running already: then the caller should work alone.
    """
    global _helping
    with _helping_lock:
        free = max(0, _HELPERS_PER_PROCESSOR * (os.cpu_count() or 1) - _helping)
        threads = min(free, most)
        _helping += threads
    try:
        yield threads
    finally:
        with _helping_lock:
            _helping -= threads


def in_parallel(
    function: Callable[[int], _T], items: Sequence[int], size: int = _BYTES_THAT_PAY
) -> list[_T]:
    """`function` of each item, in order; in threads unless `size` bytes in total are too few.

    The caller works as well. Threads that finish elsewhere join in. Raises what `function` raises.
    """
    # Each running item takes memory, so no more run than there are processors.
    pays = size >= _BYTES_THAT_PAY and len(items) > 1
    others = min(os.cpu_count() or 1, len(items)) - 1 if pays else 0
    if others < 1:
        return [function(item) for item in items]
    step = -(-len(items) // _MOST_TASKS)
    begins = range(0, len(items), step)
    parts: list[list[_T]] = [[] for _ in begins]
    waiting = deque(range(len(begins)))

    def work() -> None:
        while (part := _next(waiting)) is not None:
            begin = begins[part]
            try:
                parts[part] = [function(item) for item in items[begin : begin + step]]
            except BaseException:
                waiting.clear()
                raise

    with _shared_pool.threads() as pool:
        futures = [pool.submit(work) for _ in range(others)]
        try:
            work()
        finally:
            # Tasks that have not begun are no longer needed.
            errors = [
                error for future in futures if not future.cancel() and (error := future.exception())
            ]
    for error in errors:
        raise error
    return [result for part in parts for result in part]


def _next(waiting: deque[int]) -> int | None:
    try:
        return waiting.popleft()
    except IndexError:
        return None


class _SharedPool:
    """Threads that all parallel work shares, one for each additional processor.

    Each caller works as well, so none waits for the others. Threads that have finished the work of
    one caller help the next. They end with the last caller: threads inherit the priority of the
    thread that starts them, and threads of low priority must not serve others later.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callers = 0
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def threads(self) -> Iterator[ThreadPoolExecutor]:
        """The pool, for one caller."""
        with self._lock:
            self._callers += 1
            pool = self._pool = self._pool or thread_pool(max(1, (os.cpu_count() or 1) - 1))
        try:
            yield pool
        finally:
            with self._lock:
                self._callers -= 1
                if not self._callers:
                    self._pool = None
                    pool.shutdown(wait=False)


_shared_pool = _SharedPool()


def both(function: Callable[[], _T], other: Callable[[], _Other], size: int) -> tuple[_T, _Other]:
    """What two functions return; at the same time unless `size` bytes in total are too few."""
    if size < _BYTES_THAT_PAY:
        return function(), other()
    with thread_pool(1) as pool:
        future = pool.submit(other)
        return function(), future.result()


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
    return in_parallel(lambda index: function(cuts[index], cuts[index + 1]), range(len(cuts) - 1))


def in_pieces(function: Callable[[int, int], _T], size: int, piece: int = PIECE) -> list[_T]:
    """`function(begin, end)` of pieces of `size` rows, in order; in threads if there are many."""
    begins = range(0, size, piece)
    return in_parallel(lambda begin: function(begin, min(begin + piece, size)), begins)
