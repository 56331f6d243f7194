"""GPU kernels by kernel-op pair."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.devices import text_stat
from tbprof.analysis.devices.tensor_cores import CoreUse, core_use, is_amd, is_eligible
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.lines import gpus_with_lines
from tbprof.analysis.vocabulary.op_names import OpName
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import NamedTuple, dataclass, field
from tbprof.events.space import Plane, Space

if TYPE_CHECKING:
    from tbprof.analysis.gpu.gpu_events import GpuKinds
    from tbprof.analysis.gpu.gpu_work import GpuWork
    from tbprof.analysis.hlo.instruction import Fusion

# Many traces have no GPU.
_find_gpu_kinds = Later("tbprof.analysis.gpu.gpu_events.find_gpu_kinds")
_find_gpu_work = Later("tbprof.analysis.gpu.gpu_work.find_gpu_work")
_parse_launch = Later("tbprof.analysis.gpu.kernel_launch.parse_launch")


class KernelKey(NamedTuple):
    """The identity of a row: one kernel with one launch configuration and one op."""

    kernel: str
    op: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    registers: int  # -1 if not recorded
    shared_bytes: int  # -1 if not recorded
    is_eligible: bool
    core_use: int
    copy: str
    is_amd: bool
    dtype: str
    is_product: bool
    is_computed: bool


@dataclass(frozen=True, slots=True)
class Kernels:
    """One row per kernel-op pair and launch configuration, summed over streams and devices.

    Registers and shared bytes are -1, and occupancy is NaN, if not recorded. `occupancy_pct` is the
    mean weighted by time, as devices may differ. `core_use` holds `CoreUse`. `copy` is the type of
    what a driver copies or sets by a kernel of its own ("MemcpyDToD"), "" for kernels of the
    program. `flops`, `bytes` and `hbm_bytes` (in main memory) are the work of all occurrences: as
    recorded, or that of an instruction that launches only this kernel; -1 if unknown. `dtype` is
    the element type of most of its operations, "" if unknown, and `is_product` says that they are
    matrix products. `is_computed` marks work that is computed from the shapes of a program, which
    includes bytes that caches serve. Times in ps.
    """

    name: list[str]
    op: list[str]
    block: NDArray[np.int64]  # [n, 3]
    grid: NDArray[np.int64]  # [n, 3]
    registers: NDArray[np.int64]
    shared_bytes: NDArray[np.int64]
    is_eligible: NDArray[np.bool_]
    core_use: NDArray[np.int8]
    occupancy_pct: NDArray[np.float64]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    least_ps: NDArray[np.int64]
    most_ps: NDArray[np.int64]
    copy: list[str]
    is_amd: NDArray[np.bool_]
    flops: NDArray[np.int64]
    bytes: NDArray[np.int64]
    hbm_bytes: NDArray[np.int64]
    dtype: list[str]
    is_product: NDArray[np.bool_]
    is_computed: NDArray[np.bool_]

    @property
    def uses_tensor_cores(self) -> NDArray[np.bool_]:
        """[n] whether a kernel is known to run instructions of Tensor Cores or Matrix Cores."""
        return np.asarray(self.core_use == CoreUse.YES, bool)


@dataclass(slots=True)
class _KernelRows:
    """Rows under construction: their numbers by key, and the values added to them."""

    number: dict[KernelKey, int] = field(default_factory=dict)
    added: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def numbers(self, keys: Iterable[KernelKey]) -> NDArray[np.int64]:
        """[n] the rows of these keys."""
        number = self.number
        return np.array([number.setdefault(key, len(number)) for key in keys], np.int64)

    def add(
        self,
        row: NDArray[np.int64],
        occurrences: NDArray[np.int64],
        total_ps: NDArray[np.int64],
        least_ps: NDArray[np.int64],
        most_ps: NDArray[np.int64],
        occupancy_pct: NDArray[np.float64],
        *work: NDArray[np.int64],
    ) -> None:
        """Adds values to these rows [n]; NaN and -1 are unknown values.

        `work` is (operations, bytes, bytes in main memory).
        """
        columns = (occurrences, total_ps, least_ps, most_ps, occupancy_pct, *work)
        self.added.append((row, *columns))

    def table(self) -> Kernels:
        """The rows in the order in which their keys were first added."""
        keys = list(self.number)
        count, total, most = np.zeros((3, len(keys)), np.int64)
        least = np.full(len(keys), 2**62)
        weights, occupancies = np.zeros((2, len(keys)))
        work = np.zeros((3, len(keys)), np.int64)
        is_known = np.ones((3, len(keys)), bool)
        for row, occurrences, total_ps, least_ps, most_ps, occupancy_pct, *works in self.added:
            for index, counts in enumerate(works):
                np.add.at(work[index], row, counts)
                is_known[index, row[counts < 0]] = False
            np.add.at(count, row, occurrences)
            np.add.at(total, row, total_ps)
            np.minimum.at(least, row, least_ps)
            np.maximum.at(most, row, most_ps)
            measured = np.flatnonzero(~np.isnan(occupancy_pct))
            # Kernels without a duration still have an occupancy.
            weight = np.maximum(total_ps[measured], 1).astype(np.float64)
            np.add.at(weights, row[measured], weight)
            np.add.at(occupancies, row[measured], occupancy_pct[measured] * weight)
        occupancy = np.full(len(keys), np.nan)
        np.divide(occupancies, weights, out=occupancy, where=weights > 0)

        flops, bytes_, hbm_bytes = np.where(is_known, work, -1)

        columns: list[Sequence[Any]] = [*zip(*keys, strict=True)] or [()] * len(KernelKey._fields)
        (
            kernel, op, block, grid, registers, shared_bytes, is_eligible, use, copy, of_amd,
            dtype, is_product, is_computed,
        ) = columns  # fmt: skip
        return Kernels(
            [*kernel],
            [*op],
            np.array(block, np.int64).reshape(-1, 3),
            np.array(grid, np.int64).reshape(-1, 3),
            np.array(registers, np.int64),
            np.array(shared_bytes, np.int64),
            np.array(is_eligible, bool),
            np.array(use, np.int8),
            occupancy,
            count,
            total,
            least,
            most,
            [*copy],
            np.array(of_amd, bool),
            flops,
            bytes_,
            hbm_bytes,
            [*dtype],
            np.array(is_product, bool),
            np.array(is_computed, bool),
        )


def find_kernels(space: Space, programs: Programs) -> Kernels:
    """The kernels of all GPU planes: events of recorded lines that have `kernel_details`.

    Copies and memsets have none, except those that a driver implements as kernels. The op is the
    one whose annotation was open at the launch, or the framework op of the HLO instruction.
    """
    rows = _KernelRows()
    for kinds, kernels in _kernel_kinds(space, programs):
        rows.add(
            rows.numbers(kernels.key),
            kinds.occurrences[kernels.kind],
            kinds.total_ps[kernels.kind],
            kinds.least_ps[kernels.kind],
            kinds.most_ps[kernels.kind],
            kernels.occupancy_pct,
            *(counts[kernels.kind] for counts in kernels.work.of_kernels),
        )
    return rows.table()


def kernel_rows(space: Space, programs: Programs) -> Iterator[tuple[GpuKinds, NDArray[np.int64]]]:
    """(kinds, row in `find_kernels` of each, -1 for other events) of each GPU with kernels."""
    number: dict[KernelKey, int] = {}
    for kinds, kernels in _kernel_kinds(space, programs):
        row = np.full(len(kinds.details), -1, np.int64)
        row[kernels.kind] = [number.setdefault(key, len(number)) for key in kernels.key]
        yield kinds, row


@dataclass(frozen=True, slots=True)
class _KernelKinds:
    """The kinds of a GPU that are kernels, as rows of `GpuKinds`; unknown occupancies are NaN.

    `work` is that of all kinds.
    """

    kind: NDArray[np.int64]
    key: list[KernelKey]
    occupancy_pct: NDArray[np.float64]
    work: GpuWork


def _kernel_kinds(space: Space, programs: Programs) -> Iterator[tuple[GpuKinds, _KernelKinds]]:
    for plane in gpus_with_lines(space):
        if names.KERNEL_DETAILS in plane.stat_names:
            kinds = _find_gpu_kinds(plane, programs)
            yield kinds, _find_keys(plane, kinds, programs)


def _find_keys(plane: Plane, kinds: GpuKinds, programs: Programs) -> _KernelKinds:
    of_amd = is_amd(text_stat(plane, names.DEVICE_VENDOR), text_stat(plane, names.GPU_NAME))
    major = plane.stats.get(names.COMPUTE_MAJOR, -1)
    compute_major = major if isinstance(major, int) else -1
    work = _find_gpu_work(plane, programs)
    is_product, is_computed = work.is_product.tolist(), work.is_computed.tolist()
    keys: list[KernelKey] = []
    occupancy: list[float] = []
    ran: list[int] = []
    for kind, details in enumerate(kinds.details):
        if details is None:
            continue
        key, occupancy_pct = _key(
            kinds.event_name[kind],
            kinds.op[kind],
            details,
            kinds.copy[kind],
            kinds.equation[kind],
            (of_amd, compute_major),
            (work.dtype[kind], is_product[kind], is_computed[kind]),
            _fusion(kinds, kind, programs),
        )
        keys.append(key)
        occupancy.append(occupancy_pct)
        ran.append(kind)
    return _KernelKinds(np.array(ran, np.int64), keys, np.array(occupancy, np.float64), work)


@functools.lru_cache(maxsize=8192)  # the devices of a job launch the same kernels
def _key(
    kernel: str,
    op: OpName,
    details: str,
    copy: str,
    equation: str,
    device: tuple[bool, int],
    work: tuple[str, bool, bool],
    fusion: Fusion | None,
) -> tuple[KernelKey, float]:
    """(the row of a kernel, its occupancy).

    The `device` is (whether it is AMD's, its major version); `work` is the end of the row.
    """
    launch = _parse_launch(details)
    of_amd, compute_major = device
    use_of_cores = CoreUse.NO
    if not copy:
        use_of_cores = core_use(kernel, is_amd=of_amd, compute_major=compute_major, fusion=fusion)
    _, is_product, _ = work
    could_use = not copy and (is_product or _could_use(op, equation, fusion))
    key = KernelKey(
        kernel,
        op.name,
        launch.block,
        launch.grid,
        -1 if launch.registers is None else launch.registers,
        -1 if launch.shared_bytes is None else launch.shared_bytes,
        could_use or (use_of_cores == CoreUse.YES and bool(op.name)),
        use_of_cores,
        copy,
        of_amd,
        *work,
    )
    return key, math.nan if launch.occupancy_pct is None else launch.occupancy_pct


def _fusion(kinds: GpuKinds, kind: int, programs: Programs) -> Fusion | None:
    """The fusion that launched a kernel, None if it is unknown or another instruction."""
    name = kinds.instruction[kind]
    return programs.fusion(kinds.program_id[kind], kinds.module[kind], name) if name else None


def _could_use(op: OpName, equation: str, fusion: Fusion | None) -> bool:
    """Whether the op could use Tensor Cores, by its program, else by its type and name.

    Fusions next to a product may have the product's name, but multiply nothing.
    """
    if fusion is not None:
        return bool(fusion.products)
    return is_eligible(op.name, op.type, equation)


def merge_kernels(parts: Sequence[Kernels]) -> Kernels:
    """One table of several hosts' kernels: equal kernel-op pairs become one row."""
    if len(parts) == 1:
        return parts[0]
    rows = _KernelRows()
    row, before = rows.numbers(()), None
    for part in parts:
        # Hosts of one job run the same kernels.
        if before is None or not _has_rows_of(part, before):
            row = rows.numbers(_keys(part))
        before = part
        rows.add(
            row,
            part.occurrences,
            part.total_ps,
            part.least_ps,
            part.most_ps,
            part.occupancy_pct,
            part.flops,
            part.bytes,
            part.hbm_bytes,
        )
    return rows.table()


def _has_rows_of(part: Kernels, other: Kernels) -> bool:
    """Whether the rows of two hosts have the same keys, in the same order."""
    texts = [(table.name, table.op, table.copy, table.dtype) for table in (part, other)]
    return texts[0] == texts[1] and all(
        np.array_equal(getattr(part, name), getattr(other, name))
        for name in (
            "block", "grid", "registers", "shared_bytes", "is_eligible", "core_use", "is_amd",
            "is_product", "is_computed",
        )
    )  # fmt: skip


def _keys(part: Kernels) -> Iterator[KernelKey]:
    """The key of each row."""
    return map(
        KernelKey,
        part.name,
        part.op,
        map(tuple, part.block.tolist()),
        map(tuple, part.grid.tolist()),
        part.registers.tolist(),
        part.shared_bytes.tolist(),
        part.is_eligible.tolist(),
        part.core_use.tolist(),
        part.copy,
        part.is_amd.tolist(),
        part.dtype,
        part.is_product.tolist(),
        part.is_computed.tolist(),
    )
