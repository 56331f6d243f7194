"""Whether anybody still waits for what this thread is computing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tbprof.base.errors import TbprofError

_is_awaited: ContextVar[Callable[[], bool]] = ContextVar("is_awaited", default=lambda: True)


class Abandoned(TbprofError):
    """Nobody waits for the answer any more."""

    code = "abandoned"
    # As nginx logs it.
    status = 499


@contextmanager
def awaited_while(is_awaited: Callable[[], bool]) -> Iterator[None]:
    """What this thread computes inside the block is for somebody who may leave."""
    before = _is_awaited.set(is_awaited)
    try:
        yield
    finally:
        _is_awaited.reset(before)


def check_awaited() -> None:
    """Raises Abandoned if nobody waits: called between pieces of work."""
    if not _is_awaited.get()():
        raise Abandoned("nobody waits for this answer any more")
