"""The HLO ops of TPU cores: time, shapes, and properties from Cloud TPU's performance notes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.host_channels import Peer, is_exchange
from tbprof.analysis.hlo.host_copies import is_host_copy, is_vmem_copy
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.lines import tensor_core_planes
from tbprof.base.lazy import Later
from tbprof.base.records import as_dict, dataclass
from tbprof.events.space import Space

# Imported only for traces of TPUs, since it reads programs.
_read_ops = Later("tbprof.analysis.tpu.tpu_op_reading.read_ops")
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class TpuOps:
    """One row per instruction of a program that ran on TPU cores, summed over the cores.

    `op` is its name in op tables. `result` and `operands` are HLO shapes with layouts, `dtype` is
    the type of the largest array. `elements` and `padded_elements` are those of the result, `bytes`
    and `padded_bytes` those of all operands and results, -1 if unknown; `padding` describes the
    array with the most padding. `move`, `reduction`, `random` and `peer` hold `Move`, `Reduction`,
    `Random` and `Peer`.
    """

    name: list[str]
    program: NDArray[np.int64]
    op: list[str]
    op_type: list[str]
    category: list[str]
    opcode: list[str]
    dtype: list[str]
    result: list[str]
    operands: list[str]
    padding: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    elements: NDArray[np.int64]
    padded_elements: NDArray[np.int64]
    bytes: NDArray[np.int64]
    padded_bytes: NDArray[np.int64]
    is_assumed: NDArray[np.bool_]
    is_jax: NDArray[np.bool_]
    is_pool_gradient: NDArray[np.bool_]
    is_batch_norm: NDArray[np.bool_]
    move: NDArray[np.int64]
    reduction: NDArray[np.int64]
    random: NDArray[np.int64]
    peer: NDArray[np.int64]

    @property
    def wasted(self) -> NDArray[np.float64]:
        """[n] the share (0-1) of the bytes that is padding, NaN for unknown shapes."""
        padded = np.where(self.padded_bytes > 0, self.padded_bytes, np.nan)
        return np.asarray(1 - self.bytes / padded, np.float64)

    @property
    def is_host_copy(self) -> NDArray[np.bool_]:
        """[n] whether an op copies between the core's memory and host memory, or waits for that."""
        return self._passes(is_host_copy)

    @property
    def is_vmem_copy(self) -> NDArray[np.bool_]:
        """[n] whether an op copies between the core's vector memory and HBM, or waits for that."""
        return self._passes(is_vmem_copy)

    def _passes(self, test: Callable[[str, str], bool]) -> NDArray[np.bool_]:
        """[n] whether an op's opcode and shapes pass a test."""
        texts = zip(self.opcode, self.result, self.operands, strict=True)
        return np.array(
            [test(opcode, result + operands) for opcode, result, operands in texts], bool
        )

    @property
    def is_between_devices(self) -> NDArray[np.bool_]:
        """[n] whether an op exchanges data with another device directly, not through the host."""
        kinds = zip(self.category, self.opcode, strict=True)
        by_kind = np.array([any(is_exchange(part) for part in kind) for kind in kinds], bool)
        return np.asarray(by_kind & (self.peer == Peer.NONE), np.bool_)

    @property
    def is_collective(self) -> NDArray[np.bool_]:
        """[n] whether an op exchanges data with other cores, including those of other slices."""
        kinds = zip(self.category, self.opcode, strict=True)
        by_kind = [any(is_collective_op(part) for part in kind) for kind in kinds]
        return np.asarray(np.array(by_kind, bool) | (self.peer == Peer.SLICES), np.bool_)

    def longest(self, is_wanted: NDArray[np.bool_]) -> list[int]:
        """The rows in the mask with self time, longest first."""
        rows = np.flatnonzero(is_wanted & (self.self_ps > 0))
        return [int(row) for row in rows[np.argsort(-self.self_ps[rows], kind="stable")]]


def find_tpu_ops(space: Space, programs: Programs) -> TpuOps:
    """The ops of all TPU cores except SparseCores, in the order in which they first ran."""
    planes = tensor_core_planes(space)
    return _table(_read_ops(planes, programs)) if planes else _nothing()


def merge_tpu_ops(parts: Sequence[TpuOps]) -> TpuOps:
    """The sum over hosts, with one row per instruction of a program."""
    if len(parts) == 1:
        return parts[0]
    rows: dict[tuple[int, str], TpuOpRow] = {}
    for part in parts:
        for index, name in enumerate(part.name):
            values = {field: column[index] for field, column in as_dict(part).items()}
            key = (int(part.program[index]), name)
            row = rows.get(key)
            if row is None:
                rows[key] = TpuOpRow(**values)
                continue
            row.occurrences += values["occurrences"]
            row.total_ps += values["total_ps"]
            row.self_ps += values["self_ps"]
    return _table(list(rows.values()))


@dataclass(slots=True)
class TpuOpRow:
    """A row of `TpuOps` under construction."""

    name: str
    program: int
    op: str
    op_type: str
    category: str
    opcode: str
    dtype: str
    result: str
    operands: str
    padding: str
    elements: int
    padded_elements: int
    bytes: int
    padded_bytes: int
    is_assumed: bool
    is_jax: bool
    is_pool_gradient: bool
    is_batch_norm: bool
    move: int
    reduction: int
    random: int
    peer: int
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0


def _table(rows: list[TpuOpRow]) -> TpuOps:
    def columns() -> Iterator[Any]:
        for name, kind in TpuOps.__annotations__.items():
            values = [getattr(row, name) for row in rows]
            if kind == "list[str]":
                yield values
            elif "bool" in kind:
                yield np.array(values, bool)
            else:
                # The sizes of damaged shapes may exceed 64 bits.
                yield np.array([max(-_MOST, min(_MOST, int(value))) for value in values], np.int64)

    return TpuOps(*columns())


@functools.cache  # for each host of thousands
def _nothing() -> TpuOps:
    return _table([])
