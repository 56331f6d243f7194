"""A trace whose parts are computed, and how often each is."""

import math
import threading
from collections import Counter
from functools import partial

import numpy as np
import pytest
from traces import draw

from helpers.drawn.replaced_parts import before_part, replace_part
from tbprof.engine.parts import PARTS, PartKey, part_keys

TRACE = draw(
    {"/host:CPU": "t |aaaa", "/device:GPU:0": "Stream #1 |k"},
    names={"a": "op:Op", "k": "kernel"},
    stats={"k": {"kernel_details": "regs:8", "tf_op": "日本:X"}},
)


def keys(*names: str, **params: str) -> list[PartKey]:
    return part_keys(names, params)


class Counting:
    """Counts the computations of every part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._patch = monkeypatch
        for name in PARTS:
            self.replace(name)

    def replace(self, name: str, version: int | None = None) -> None:
        before_part(self._patch, name, partial(self._count, name))
        replace_part(self._patch, name, version=version or PARTS[name].version)

    def _count(self, name: str) -> None:
        with self._lock:
            self.counts[name] += 1


def same(one: object, other: object) -> bool:
    """Equality that takes arrays and NaN as people do."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return one == other
