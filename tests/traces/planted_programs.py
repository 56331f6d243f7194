"""Programs on a GPU, each with an instruction that is slow for one cause, and without it."""

from typing import Any

from traces.drawing import draw
from traces.programs import Program

GPU = "/device:GPU:0"
# In 1 µs: 2.048 million operations in 16 bit, half of it in TF32; 100,000 bytes.
CAPABLE = {
    "device_vendor": "Nvidia", "compute_cap_major": 8, "compute_cap_minor": 0, "core_count": 1,
    "clock_rate": 1_000_000, "memory_bandwidth": 100_000_000_000,
}  # fmt: skip
PLANTED = (
    "wide_products", "small_products", "memory_bound", "moved_data", "command_buffers",
    "partial_tiles",
)  # fmt: skip
# Of each step of 40 µs the instruction `p` takes 12, and `d`, a fast product in 16 bit, 18.
_STEP = "pppppppppppp..dddddddddddddddddd........"


def planted_gpu(cause: str, *, is_planted: bool = True, steps: int = 3) -> bytes:
    """Up to three steps of a program with the cause of a finding, or of the same without it."""
    program = Program()
    _dot(program, "d", "bf16", 256, 256, 256)
    _add(program, cause, is_planted=is_planted)
    for line, name in enumerate("dp", 12):
        program.named[name].metadata.source_file = "train.py"
        program.named[name].metadata.source_line = line
        program.named[name].metadata.op_name = f"jit(f)/{name}"
    kernels = {"d": "ampere_h1688gemm_128x128", "p": "ampere_s1688gemm_128x128"}
    ran = {"program_id": 7, "hlo_module": "jit_f", "kernel_details": "regs:8 grid:1 block:32"}
    marks = dict.fromkeys("stu"[:steps], "train")
    trace: bytes = draw(
        {
            "/host:CPU": f"python |{''.join(letter * 40 for letter in marks) or 'none'}",
            GPU: f"Stream #1 |{_STEP * max(steps, 1)}",
        },
        names={**kernels, **marks},
        stats={
            **{letter: {"_r": 1, "step_num": at} for at, letter in enumerate(marks)},
            **{letter: {**ran, "hlo_op": letter} for letter in kernels},
        },
        programs={"jit_f(7)": program.bytes()},
        plane_stats={GPU: CAPABLE},
    )
    return trace


def _add(program: Program, cause: str, *, is_planted: bool) -> None:
    """The instruction `p`."""
    if cause == "wide_products":
        _dot(program, "p", *(("f32", 160, 160, 160) if is_planted else ("bf16", 128, 128, 128)))
    elif cause == "small_products":
        _dot(program, "p", "bf16", 8 if is_planted else 64, 512, 1024)
    elif cause == "partial_tiles":
        _dot(program, "p", "bf16", 160 if is_planted else 128, 384, 128)
    elif cause == "memory_bound":
        # Of the bandwidth 80 %, or 40.
        elements = 120_000 if is_planted else 60_000
        program.add("x", "parameter", f"f32[{elements}]")
        program.add("p", "negate", f"f32[{elements}]", "x")
    elif cause == "moved_data":
        program.add("x", "parameter", "f32[256,128]{1,0}")
        opcode = "transpose" if is_planted else "negate"
        one = program.add("p", opcode, "f32[128,256]{1,0}", "x")
        one.dimensions.extend([1, 0] if is_planted else [])
    else:
        called = "command_buffer" if is_planted else "region"
        program.add("k", "add", "bf16[256,256]", "d", "d", within=called)
        program.add("p", "call", "bf16[256,256]", "d", calls=called)


def _dot(program: Program, name: str, dtype: str, rows: int, summed: int, columns: int) -> Any:
    program.add(f"{name}.l", "parameter", f"{dtype}[{rows},{summed}]")
    program.add(f"{name}.r", "parameter", f"{dtype}[{summed},{columns}]")
    dot = program.add(name, "dot", f"{dtype}[{rows},{columns}]", f"{name}.l", f"{name}.r")
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    dot.dot_dimension_numbers.rhs_contracting_dimensions.append(0)
