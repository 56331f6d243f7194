"""How often calls take memory for their frames."""

from collections.abc import Callable

import pytest

from tbprof.base.process.frame_stack import on_one_stack

resource = pytest.importorskip("resource", reason="POSIX counts page faults")

_CALLS = 200
_DEEP = 120


def _faults_at(depth: int) -> int:
    """The pages that are touched for the first time while a loop runs under so many calls."""
    if depth:
        return _faults_at(depth - 1)
    before: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(_CALLS):
        _leaf()
    after: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return after - before


def _leaf() -> int:
    """A call whose frame is larger than one of `_faults_at`: it does not fit at some depth."""
    return max(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)


def test_no_depth_of_calls_takes_memory_again_and_again() -> None:
    def deepest(faults_at: Callable[[int], int]) -> int:
        return max(faults_at(depth) for depth in range(_DEEP))

    assert on_one_stack(deepest)(_faults_at) < _CALLS / 10
