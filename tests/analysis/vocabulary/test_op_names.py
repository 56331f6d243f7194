"""What full names say."""

import pytest

from tbprof.analysis.vocabulary.op_names import (
    OpCategory,
    copy_type,
    parse_op_name,
    parse_provenance,
)

TF, JAX, COPY = OpCategory.TENSORFLOW, OpCategory.JAX, OpCategory.COPY
UNKNOWN, DATA = OpCategory.UNKNOWN, OpCategory.TF_DATA

GRAMMAR = [
    # TensorFlow ops.
    ("sequential_1/conv2d_1/Relu:_FusedConv2D", (TF, "sequential_1/conv2d_1/Relu", "_FusedConv2D")),
    ("TFRecordDataset:TFRecordDataset", (TF, "TFRecordDataset", "TFRecordDataset")),
    ("unknown:_Arg", (TF, "unknown", "_Arg")),
    ("a/MatMul_1:MatMul", (TF, "a/MatMul_1", "MatMul")),
    (".a->b/Mul:Mul", (TF, ".a->b/Mul", "Mul")),
    # Types derived of the name.
    ("a/MatMul_12:", (TF, "a/MatMul_12", "MatMul")),
    ("jit(_psum)/jit(main)/reduce_sum:", (JAX, "jit(_psum)/jit(main)/reduce_sum", "reduce_sum")),
    ("jit(f)/mul_3:", (JAX, "jit(f)/mul_3", "mul")),
    (
        "jit(f)/transpose:transpose[permutation=(0, 3, 1, 2)]",
        (JAX, "jit(f)/transpose", "transpose"),
    ),
    ("XlaModule:", (TF, "XlaModule", "XlaModule")),
    # tf.data.
    ("Iterator::Root::Prefetch", (DATA, "Iterator::Root::Prefetch", "Dataset")),
    ("Iterator:", (DATA, "Iterator:", "Dataset")),
    # Copies, in any case.
    ("MEMCPYHtoD", (COPY, "MEMCPYHtoD", "MemcpyHToD")),
    ("memcpydtoh extra", (COPY, "memcpydtoh extra", "MemcpyDToH")),
    ("MEMCPYDtoD", (COPY, "MEMCPYDtoD", "MemcpyDToD")),
    ("MEMCPYHtoH", (COPY, "MEMCPYHtoH", "MemcpyHToH")),
    # No ops.
    ("MakeIterator::MapDataset", (UNKNOWN, "MakeIterator::MapDataset", "")),
    ("ThreadpoolListener::Record", (UNKNOWN, "ThreadpoolListener::Record", "")),
    ("EagerLocalExecute: X", (UNKNOWN, "EagerLocalExecute: X", "")),
    ("_send_resize/size_0:_Send", (UNKNOWN, "_send_resize/size_0:_Send", "")),
    ("MemoryAllocation", (UNKNOWN, "MemoryAllocation", "")),
    ("end: wrapped_tanh", (UNKNOWN, "end: wrapped_tanh", "")),
    ("$profiler.py:151 start_trace", (UNKNOWN, "$profiler.py:151 start_trace", "")),
    ("tpu::System::Execute", (UNKNOWN, "tpu::System::Execute", "")),
    ("MemcpyH2D", (UNKNOWN, "MemcpyH2D", "")),
    ("", (UNKNOWN, "", "")),
]


@pytest.mark.parametrize(("full", "expected"), GRAMMAR)
def test_names_of_events_follow_the_grammar(full, expected):
    assert parse_op_name(full) == expected


@pytest.mark.parametrize(
    ("full", "expected"),
    [
        # With and without the colon.
        ("jit(f)/jit(main)/dot_general", (JAX, "jit(f)/jit(main)/dot_general", "dot_general")),
        ("jit(f)/jit(main)/dot_general:", (JAX, "jit(f)/jit(main)/dot_general", "dot_general")),
        ("model/dense/MatMul_2", (TF, "model/dense/MatMul_2", "MatMul")),
        # Colons and slashes within.
        ("jit(f)/a:b/mul:", (JAX, "jit(f)/a:b/mul", "mul")),
        ("jit(f)/a:b/mul", (JAX, "jit(f)/a:b/mul", "mul")),
        ("a/b:c/MatMul:MatMul", (TF, "a/b:c/MatMul", "MatMul")),
        (
            "jit(f)/dot_general[dimension_numbers=(((1,), (0,)), ((), ())) precision=None]",
            (
                JAX,
                "jit(f)/dot_general[dimension_numbers=(((1,), (0,)), ((), ())) precision=None]",
                "dot_general",
            ),
        ),
        (
            "jit(f)/pjit[jaxpr={ lambda ; a:f32[8]. } name=x/y]",
            (JAX, "jit(f)/pjit[jaxpr={ lambda ; a:f32[8]. } name=x/y]", "pjit"),
        ),
        ("jit(f)/transpose(jvp(g))/add", (JAX, "jit(f)/transpose(jvp(g))/add", "add")),
        ("Foo::Bar", (TF, "Foo::Bar", "Foo::Bar")),
        ("", (UNKNOWN, "", "")),
    ],
)  # fmt: skip
def test_names_of_device_code_are_ops_however_they_are_written(full, expected):
    assert parse_provenance(full) == expected


@pytest.mark.parametrize("full", [full for full, expected in GRAMMAR if expected[0] != UNKNOWN])
def test_what_the_grammar_knows_it_knows_of_device_code_too(full):
    assert parse_provenance(full) == parse_op_name(full)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("MemcpyH2D", "MemcpyHToD"),
        ("MemcpyD2H", "MemcpyDToH"),
        ("MemcpyP2P", "MemcpyPToP"),
        ("memcpyDtoD", "MemcpyDToD"),
        ("Memset", "Memset"),
        ("volta_gemm", ""),
    ],
)
def test_copies_on_devices_are_typed_by_direction(event, expected):
    assert copy_type(event) == expected
