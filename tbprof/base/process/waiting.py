"""Cancels the work of a thread whose client no longer waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tbprof.base.errors import TbprofError

_is_awaited: ContextVar[Callable[[], bool]] = ContextVar("is_awaited", default=lambda: True)


class Abandoned(TbprofError):
    """The client no longer waits for the response."""

    code = "abandoned"
    # The status that nginx logs for this.
    status = 499


@contextmanager
def awaited_while(is_awaited: Callable[[], bool]) -> Iterator[None]:
    """Inside the block, `check_awaited` raises once `is_awaited` returns False in this thread."""
    before = _is_awaited.set(is_awaited)
    try:
        yield
    finally:
        _is_awaited.reset(before)


def check_awaited() -> None:
    """Raises Abandoned if the client no longer waits; called between pieces of work."""
    if not _is_awaited.get()():
        raise Abandoned("the client no longer waits for this response")
