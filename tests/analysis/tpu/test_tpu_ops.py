"""The HLO ops of TPU cores, from drawn traces and programs made by hand."""

import dataclasses
import math

import numpy as np
import pytest
from traces import Unsigned, draw, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.tpu_ops import TpuOps, find_tpu_ops, merge_tpu_ops
from tbprof.analysis.vocabulary.instruction_roles import Move, Reduction
from tbprof.analysis.vocabulary.tpu_op_names import Random, batch_norm_scope, random_kind
from tbprof.xplane.reader import read_space

TPU, META = "/device:TPU:0", "/host:metadata"
US = 1_000_000
BIG = "f32[64,1024]{1,0:T(8,128)}"


def ops_of(content: bytes) -> TpuOps:
    space = space_of(content)
    return find_tpu_ops(space, Programs(space))


def ran(program: Program | None, *rows: str, tf_op: dict[str, str] | None = None) -> TpuOps:
    """The ops of a core on which each of these ran 1 µs: instructions, or texts of some."""
    letters = "abcdefghijklmnopqrstuvwxyz"[: len(rows)]
    names = dict(zip(letters, rows, strict=True))
    stats: dict[str, dict[str, object]] = {letter: {"program_id": 7} for letter in letters}
    for letter, row in names.items():
        own = row.removeprefix("%").partition(" = ")[0]
        if tf_op and own in tf_op:
            stats[letter]["tf_op"] = tf_op[own]
    programs = {} if program is None else {"jit_f(7)": program.bytes()}
    planes = {TPU: f"XLA Ops |{letters}"}
    return ops_of(draw(planes, names=names, type_stats=stats, programs=programs))


def by_name(ops: TpuOps, column: str) -> dict[str, object]:
    values = getattr(ops, column)
    plain = values if isinstance(values, list) else values.tolist()
    return dict(zip(ops.name, plain, strict=True))


def test_an_instruction_is_a_row_with_its_own_time_over_all_cores():
    """A loop of 8 µs holds 3 + 2 µs of its body; SparseCores count elsewhere."""
    ops = ops_of(
        draw(
            {
                TPU: "XLA Ops |wwwwwwww.f\n        |.fff.gg.",
                "/device:TPU:1": "XLA Ops |ff",
                "/device:TPU:0 SparseCore 0": "XLA Ops |ff",
            },
            names={
                "w": "%while.1 = (s32[]) while((s32[]) %t)",
                "f": f"%fusion.1 = {BIG} fusion({BIG} %x)",
            },
            display_names={"g": "g.2"},
            type_stats={
                "w": {"program_id": 1},
                "f": {"program_id": 1, "tf_op": "a/Mul:Mul", "hlo_category": "loop fusion"},
                "g": {"program_id": 1, "hlo_category": "data formatting"},
            },
        )
    )
    assert ops.name == ["while.1", "fusion.1", "g"]
    assert ops.occurrences.tolist() == [1, 3, 1]
    assert (ops.total_ps // US).tolist() == [8, 6, 2]
    assert (ops.self_ps // US).tolist() == [3, 6, 2]
    assert ops.op == ["%while.1 = (s32[]) while((s32[]) %t)", "a/Mul", "g.2"]
    assert ops.op_type == ["Unknown", "Mul", "data formatting"]
    assert ops.opcode == ["while", "fusion", "data formatting"]
    assert ops.category == ["", "loop fusion", "data formatting"]
    assert ops.elements.tolist() == [-1, 65536, -1]
    assert ops.padded_bytes.tolist() == [-1, 2 * 4 * 65536, -1]


def test_shapes_are_those_of_the_program_before_those_of_the_text():
    program = Program()
    program.add("x", "parameter", "bf16[7,3]{1,0:T(8,128)(2,1)}")
    program.add("neg.1", "negate", "bf16[7,3]{1,0:T(8,128)(2,1)}", "x")
    text = "%neg.1 = f32[8,128]{1,0} negate(f32[8,128]{1,0} %x)"
    (known,) = ran(program, text).padded_bytes.tolist()
    (stated,) = ran(None, text).padded_bytes.tolist()
    assert (known, stated) == (2 * 2048, 2 * 4096)
    ops = ran(program, "neg.1")
    assert (ops.dtype, ops.result) == (["bf16"], ["bf16[7,3]{1,0:T(8,128)(2,1)}"])
    assert ops.elements.tolist() == [21]
    assert ops.padded_elements.tolist() == [1024]
    assert ops.wasted.tolist() == [pytest.approx(1 - 21 / 1024)]
    assert ops.padding == ["bf16[7,3]: 7 as 8, 3 as 128"]
    assert ops.is_assumed.tolist() == [False]


def test_a_stat_may_state_the_shape_or_the_text():
    for stats in (
        {"shape_with_layout": "f32[100,50]{1,0:T(8,128)}"},
        {"hlo_text": "%a = f32[100,50]{1,0:T(8,128)} iota(), iota_dimension=0"},
        {"long_name": "%a = f32[100,50]{1,0:T(8,128)} iota(), iota_dimension=0"},
    ):
        ops = ops_of(draw({TPU: "XLA Ops |a"}, type_stats={"a": stats}))
        assert ops.padded_elements.tolist() == [104 * 128], stats
    ops = ops_of(draw({TPU: "XLA Ops |a"}))
    assert ops.wasted.tolist() == [pytest.approx(math.nan, nan_ok=True)]
    assert (ops.result, ops.dtype, ops.padding) == ([""], [""], [""])


def test_what_a_convolution_pads_is_told_by_its_dimensions():
    program = Program()
    program.add("p", "parameter", "bf16[100,3]{1,0:T(8,128)(2,1)}", within="fused")
    program.add("q", "parameter", "bf16[3,256]{1,0:T(8,128)(2,1)}", within="fused")
    conv = program.add(
        "conv", "convolution", "bf16[100,256]{1,0:T(8,128)(2,1)}", "p", "q", within="fused"
    )
    of = conv.convolution_dimension_numbers
    of.input_feature_dimension = of.output_feature_dimension = 1
    of.kernel_output_feature_dimension = 1
    program.add("x", "parameter", "bf16[100,3]{1,0:T(8,128)(2,1)}")
    program.add("k", "parameter", "bf16[3,256]{1,0:T(8,128)(2,1)}")
    program.add("fusion", "fusion", "bf16[100,256]{1,0:T(8,128)(2,1)}", "x", "k", calls="fused")
    ops = ran(program, "fusion")
    assert ops.padding == ["bf16[100,3]: batch 100 as 104, feature 3 as 128"]
    held, taken = 2 * (100 * 3 + 3 * 256 + 100 * 256), 2 * (104 * 128 + 8 * 256 + 104 * 256)
    assert (ops.bytes.tolist(), ops.padded_bytes.tolist()) == ([held], [taken])


@pytest.mark.parametrize(
    ("opcodes", "layouts", "move"),
    [
        (("transpose",), "10 10", Move.TRANSPOSE),
        (("copy", "transpose", "convert"), "10 10", Move.TRANSPOSE),
        (("transpose", "add"), "10 10", Move.NONE),
        (("reshape",), "10 10", Move.RESHAPE),
        (("slice", "reshape"), "10 10", Move.RESHAPE),
        (("concatenate",), "10 10", Move.SLICE),
        (("pad", "broadcast"), "10 10", Move.SLICE),
        (("dynamic-update-slice", "multiply"), "10 10", Move.NONE),
        (("copy",), "01 10", Move.LAYOUT),
        (("copy",), "10 10", Move.NONE),
        (("broadcast",), "10 10", Move.NONE),
        (("dot",), "10 10", Move.NONE),
    ],
)
def test_moves_are_what_does_nothing_but_move(opcodes, layouts, move):
    result, operand = (f"f32[8,8]{{{a},{b}:T(8,128)}}" for a, b in layouts.split())
    program = Program()
    program.add("x", "parameter", operand)
    program.add("p", "parameter", operand, within="fused")
    for at, opcode in enumerate(opcodes):
        program.add(f"in.{at}", opcode, result, "p", within="fused")
    program.add("fusion", "fusion", result, "x", calls="fused")
    program.add("plain", opcodes[0], result, "x")
    found = by_name(ran(program, "fusion", "plain"), "move")
    assert found["fusion"] == move
    if len(opcodes) == 1:
        assert found["plain"] == move
        text = f"%t = {result} {opcodes[0]}({operand} %x), dimensions={{1,0}}"
        assert ran(None, text).move.tolist() == [move]


def test_moves_between_space_and_batch_go_by_the_op():
    names = {"a": "m/SpaceToBatchND:SpaceToBatchND", "b": "m/DepthToSpace:DepthToSpace"}
    ops = ran(None, "%a = f32[8]{0} copy(f32[8]{0} %x)", "%b = f32[8] add()", tf_op=names)
    assert ops.move.tolist() == [Move.SPACE, Move.SPACE]


def adder(program: Program, opcode: str = "add") -> str:
    program.add(f"{opcode}.l", "parameter", "f32[]", within=opcode)
    program.add(f"{opcode}.s", opcode, "f32[]", f"{opcode}.l", f"{opcode}.l", within=opcode)
    return opcode


def reductions(first: str, *, result: str = "f32[64]{0:T(128)}", source: str = "x") -> Program:
    """x; r.1 reduces it by `first`; d.1 = x - r.1; r.2 adds up d.1, or x where that is `source`."""
    program = Program()
    program.add("x", "parameter", BIG)
    program.add("zero", "constant", "f32[]")
    program.add("r.1", "reduce", "f32[64]{0:T(128)}", "x", "zero", calls=adder(program, first))
    program.add("b.1", "broadcast", BIG, "r.1")
    program.add("d.1", "subtract", BIG, "x", "b.1")
    program.add("r.2", "reduce", result, source, "zero", calls=adder(program, "add"))
    return program


@pytest.mark.parametrize(
    ("first", "result", "source", "role"),
    [
        ("add", "f32[64]{0:T(128)}", "d.1", Reduction.CHAINED),  # mean, then variance
        ("maximum", "f32[64]{0:T(128)}", "d.1", Reduction.NONE),  # softmax cannot do otherwise
        ("add", "f32[1024]{0:T(128)}", "d.1", Reduction.NONE),  # another dimension
        ("add", "f32[64]{0:T(128)}", "x", Reduction.BESIDE),
        ("maximum", "f32[64]{0:T(128)}", "x", Reduction.BESIDE),
        ("add", "f32[1024]{0:T(128)}", "x", Reduction.NONE),
    ],
)
def test_reductions_that_could_share_a_pass(first, result, source, role):
    program = reductions(first, result=result, source=source)
    found = by_name(ran(program, "r.1", "r.2", "d.1"), "reduction")
    assert found == {"r.1": Reduction.NONE, "r.2": role, "d.1": Reduction.NONE}


def test_reductions_in_fusions_count_and_those_of_products_do_not():
    program = Program()
    program.add("x", "parameter", BIG)
    for name, inner in (("f.1", "multiply"), ("f.2", "subtract"), ("f.3", "dot")):
        within = f"in.{name}"
        program.add(f"{name}.p", "parameter", BIG, within=within)
        program.add(f"{name}.i", inner, BIG, f"{name}.p", within=within)
        program.add(
            f"{name}.r", "reduce", "f32[64]{0:T(128)}", f"{name}.i",
            within=within, calls=adder(program) if name == "f.1" else "add",
        )  # fmt: skip
        operands = ("x",) if name == "f.1" else ("x", "f.1")
        program.add(name, "fusion", "f32[64]{0:T(128)}", *operands, calls=within)
    found = by_name(ran(program, "f.1", "f.2", "f.3"), "reduction")
    assert found == {
        "f.1": Reduction.NONE, "f.2": Reduction.CHAINED, "f.3": Reduction.NONE
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "opcode", "shape", "role"),
    [
        ("add", "multiply", "f32[64]{0:T(128)}", Reduction.SCALED),
        ("add", "divide", "f32[64]{0:T(128)}", Reduction.SCALED),
        ("maximum", "multiply", "f32[64]{0:T(128)}", Reduction.NONE),
        ("add", "exponential", "f32[64]{0:T(128)}", Reduction.NONE),
        ("add", "multiply", BIG, Reduction.NONE),  # a broadcast sum
    ],
)
def test_scaling_after_a_sum_could_come_before_it(first, opcode, shape, role):
    program = Program()
    program.add("x", "parameter", BIG)
    program.add("r.1", "reduce", "f32[64]{0:T(128)}", "x", calls=adder(program, first))
    program.add("bit", "bitcast", "f32[64]{0:T(128)}", "r.1")
    program.add("s.1", opcode, shape, "bit")
    assert by_name(ran(program, "s.1"), "reduction") == {"s.1": role}


def test_max_pool_gradients_go_by_opcode_or_by_op():
    program = Program()
    program.add("x", "parameter", BIG)
    program.add("p", "parameter", BIG, within="fused")
    program.add("s", "select-and-scatter", BIG, "p", within="fused")
    program.add("fusion", "fusion", BIG, "x", calls="fused")
    program.add("select-and-scatter.1", "select-and-scatter", BIG, "x")
    program.add("other", "fusion", BIG, "x")
    program.add("add.1", "add", BIG, "x")
    ops = ran(
        program, "fusion", "select-and-scatter.1", "other", "add.1",
        tf_op={"other": "g/MaxPoolGrad:MaxPoolGrad"},
    )  # fmt: skip
    assert ops.is_pool_gradient.tolist() == [True, True, True, False]


def test_layers_with_a_fused_op_and_those_of_jax_are_no_unfused_batch_normalization():
    plain = "%{} = f32[8] multiply(f32[8] %x)"
    tf_op = {
        "a": "m/batch_normalization/batchnorm/mul:Mul",
        "b": "m/batch_normalization_1/FusedBatchNormV3:FusedBatchNormV3",
        "c": "m/batch_normalization_1/mul:Mul",
        "d": "m/batch_normalization/AssignMovingAvg/sub:Sub",
        "e": "jit(f)/BatchNorm_0/mul:",
        "f": "m/dense/mul:Mul",
        "g": "batchnorm/Rsqrt:Rsqrt",
        "h": "FusedBatchNormGradV3:FusedBatchNormGradV3",
    }
    ops = ran(None, *map(plain.format, "abcdefgh"), tf_op=tf_op)
    assert {name for name, is_one in by_name(ops, "is_batch_norm").items() if is_one} == {
        "a", "g"
    }  # fmt: skip
    dot = ran(None, "%a = f32[8,8] dot(f32[8,8] %x)", tf_op=tf_op)
    assert dot.is_batch_norm.tolist() == [False]
    assert batch_norm_scope("a/my_BatchNorm_2/x/y") == "a/my_BatchNorm_2"
    assert batch_norm_scope("a/batchnorm") == ""


@pytest.mark.parametrize(
    ("name", "type_", "kind"),
    [
        ("x/Multinomial", "Multinomial", Random.COSTLY),
        ("x", "StatelessRandomGammaV2", Random.COSTLY),
        ("x", "StatelessRandomNormalV2", Random.NORMAL),
        ("x", "TruncatedNormal", Random.NORMAL),
        ("x", "RandomUniform", Random.FAST),
        ("x", "StatefulUniformFullInt", Random.FAST),
        ("jit(f)/jit(_gumbel)/jit(_uniform)/sub", "sub", Random.COSTLY),
        ("jit(f)/jit(_normal)/jit(_normal_real)/erf_inv", "erf_inv", Random.NORMAL),
        ("jit(f)/jit(_uniform)/threefry2x32", "threefry2x32", Random.FAST),
        ("jit(f)/jit(_bernoulli)/lt", "lt", Random.FAST),
        ("jit(f)/random_bits", "random_bits", Random.FAST),
        ("m/batch_normalization/gamma", "Mul", Random.NONE),
        ("jit(f)/gamma", "mul", Random.NONE),
        ("jit(normalize)/mul", "mul", Random.NONE),
        ("jit(_normalize)/mul", "mul", Random.NONE),
        ("m/layer_normal/add", "Add", Random.NONE),
    ],
)
def test_distributions_go_by_type_and_by_scope(name, type_, kind):
    assert random_kind(name, type_) == kind


def test_generators_of_the_compiler_are_fast():
    assert ran(None, "%r = u32[8] rng-bit-generator(u64[2] %s)").random.tolist() == [Random.FAST]


def test_hosts_add_up_by_program_and_instruction():
    one = ran(None, f"%a = {BIG} add()", f"%b = {BIG} add()")
    other = dataclasses.replace(one, program=one.program * np.array([1, 2]))
    both = merge_tpu_ops([one, other])
    assert both.name == ["a", "b", "b"]
    assert both.program.tolist() == [7, 7, 14]
    assert (both.self_ps // US).tolist() == [2, 1, 1]
    assert both.elements.tolist() == [65536] * 3
    assert merge_tpu_ops([one]) is one


def test_damaged_programs_and_types_without_a_name_are_rows_all_the_same():
    ops = ops_of(
        draw(
            {TPU: "XLA Ops |ab"},
            names={"a": "", "b": "%b = f32[99999999999999999,99999999999999999] add()"},
            type_stats={"b": {"program_id": Unsigned(2**64 - 1)}},
            programs={"P": b"\xff"},
        )
    )
    assert ops.name == ["(unnamed)", "b"]
    assert ops.padded_bytes.tolist() == [-1, 2**62]


def test_the_trace_of_a_v6e_pads_nothing(tpu_trace):
    """Its arrays, f32[5,1024,1024,256], are whole tiles; 96 % of its time are copies."""
    space = read_space(tpu_trace)
    ops = find_tpu_ops(space, Programs(space))
    assert len(ops.name) == 17
    assert by_name(ops, "occurrences")["copy-done.5"] == 400
    assert ops.wasted.max() < 1e-6  # a scalar
    assert not (ops.move | ops.reduction | ops.random).any()
    waits = [name.startswith("copy-done") for name in ops.name]
    share = ops.self_ps[waits].sum() / ops.self_ps.sum()
    assert round(100 * share) == 96
