"""The table of instructions that ran on a host."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass

UNKNOWN = -1
# The category of device work without an instruction.
NOT_IN_HLO = "not in HLO"
TENSOR_CORE, SPARSE_CORE = "TensorCore", "SparseCore"


@dataclass(frozen=True, slots=True)
class ProgramOps:
    """One row per program, instruction and type of core, summed over the devices of a host.

    `program_id` is the unsigned id as a decimal text, `program` the module's name ("jit_f"), and
    `digest` a hash of the program's instructions; "" if unknown. `name` is that of the instruction,
    or that of the event for work without one, whose category is `NOT_IN_HLO`. `category` is the one
    that TPUs record ("loop fusion"), or the same derived from the instruction. `scope` is the
    framework op ("jit(f)/add" or "jit(f)/add:Type"), `source` is "file:line"; "" if unknown.
    `stack` is a row of `stacks`, texts with one line per frame, -1 for none. `core` is "TensorCore"
    or "SparseCore" on TPUs, else "". `dtype` is the element type of most of its work; `result` and
    `operands` are shapes with their layouts, shortened if they are long. `replica_groups` are the
    devices among which a collective exchanges data, "" for others.

    `occurrences` are executions; each may launch several `kernels`. `total_ps` includes nested
    instructions, `self_ps` does not. The work took `span_ps`: the total, or the time from start to
    done for a copy or an exchange that runs concurrently with other ops. The work of such a pair is
    that of the done, if it ran; the start then has none. The work of all occurrences is `flops`
    (TPUs: as if all types had the rate of the fastest), `model_flops` (as stated by the program),
    `transcendentals`, and bytes in all memories, in the device's main memory, and in those on the
    chip; -1 if unknown. `is_computed` marks work that is computed from the shapes of the program.
    `is_product` marks matrix products and convolutions, which may use matrix units;
    `product_dtype`, `product_size` and `product_passes` are the fields of `MatrixProduct`, `tiling`
    and `tile_waste_ppm` those of `Tiling` ("" and 0 if unknown), and `core_use` is a `CoreUse`.
    `move` is a `Move` for instructions that move data without computing, and `is_of_argument` marks
    those that move program arguments that nothing else takes. Instructions with `is_entry` run once
    per execution of their program, outside of loops and branches. Rows with `has_inner` contain
    other rows that have their own work, so the work of both must not be added.

    The kernels of row r are `first_kernel[r:r + 2]` of the `kernel_…` columns, longest first.
    `dma_stall_ps` is the time that ops waited for transfers, -1 if not recorded.

    `device_type` of the host is "TPU", "GPU" or "CPU", "" if nothing ran; `devices` counts those
    with events. `window_ps` sums their windows from the first op to the last, `idle_ps` the time in
    these in which no op runs.
    """

    program_id: list[str]
    program: list[str]
    digest: list[str]
    name: list[str]
    opcode: list[str]
    category: list[str]
    deduplicated_name: list[str]
    scope: list[str]
    source: list[str]
    core: list[str]
    dtype: list[str]
    result: list[str]
    operands: list[str]
    replica_groups: list[str]
    product_dtype: list[str]
    product_size: NDArray[np.int64]
    product_passes: NDArray[np.int64]
    tiling: list[str]
    tile_waste_ppm: NDArray[np.int64]
    core_use: NDArray[np.int64]
    move: NDArray[np.int64]
    stack: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    kernels: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    span_ps: NDArray[np.int64]
    dma_stall_ps: NDArray[np.int64]
    flops: NDArray[np.int64]
    model_flops: NDArray[np.int64]
    transcendentals: NDArray[np.int64]
    bytes_accessed: NDArray[np.int64]
    hbm_bytes: NDArray[np.int64]
    cmem_read_bytes: NDArray[np.int64]
    cmem_written_bytes: NDArray[np.int64]
    vmem_read_bytes: NDArray[np.int64]
    vmem_written_bytes: NDArray[np.int64]
    is_computed: NDArray[np.bool_]
    is_product: NDArray[np.bool_]
    has_inner: NDArray[np.bool_]
    is_of_argument: NDArray[np.bool_]
    is_entry: NDArray[np.bool_]
    first_kernel: NDArray[np.int64]
    kernel_name: list[str]
    kernel_occurrences: NDArray[np.int64]
    kernel_total_ps: NDArray[np.int64]
    stacks: list[str]
    device_type: str = ""
    devices: int = 0
    window_ps: int = 0
    idle_ps: int = 0
    sparse_cores: int = 0
    sparse_core_idle_ps: int = 0
