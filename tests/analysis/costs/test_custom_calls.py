"""Costs of library calls, by their configuration as XLA and Transformer Engine write it."""

import json

import pytest
from helpers.drawn.program_costs import cost_of
from traces.programs import Program


def call(target: str, results: str, *operands: str, config: str = "") -> Program:
    made = Program()
    names = [f"p{number}" for number in range(len(operands))]
    for name, shape in zip(names, operands, strict=True):
        made.add(name, "parameter", shape)
    proto = made.add("x", "custom-call", results, *names)
    proto.custom_call_target, proto.backend_config = target, config.encode()
    return made


GEMM = (
    '{"gemm_backend_config":{"mx_mode":false,"dot_dimension_numbers":{"lhs_contracting_dimensions":'
    '["1"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":[]}},"reification_cost":[]}'
)
SIDES = ("bf16[4096,6144]", "bf16[2048,6144]")
WORKSPACE = "bf16[4096,2048] s8[67108864]"


@pytest.mark.parametrize("target", ["__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"])
@pytest.mark.parametrize("config", [GEMM, ""])
def test_a_product_of_a_library_is_a_product(target, config):
    """Without a configuration the sizes say it. The workspace is not part of the result."""
    cost = cost_of(call(target, WORKSPACE, *SIDES, config=config))
    assert cost.is_known
    assert dict(cost.flops) == {"bf16": 2 * 4096 * 2048 * 6144}
    assert (cost.read[0], cost.written[0]) == (50331648 + 25165824, 16777216)


def test_a_batched_product_needs_its_configuration():
    made = call("__cublas$gemm", "f32[3,8,8]", "f32[3,8,8]", "f32[3,8,8]")
    assert not cost_of(made).is_known


def test_a_target_that_nobody_knows_is_unknown_not_zero():
    cost = cost_of(call("my_kernel", "f32[8]", "f32[8]"))
    assert not cost.is_known
    assert not cost.bytes


@pytest.mark.parametrize(
    ("target", "results", "operands"),
    [
        ("__cudnn$convForward", "f32[1,6,6,16] u8[0]", ("f32[1,8,8,3]", "f32[3,3,3,16]")),
        ("__cudnn$convBackwardInput", "f32[1,8,8,3] u8[0]", ("f32[1,6,6,16]", "f32[3,3,3,16]")),
        ("__cudnn$convBackwardFilter", "f32[3,3,3,16] u8[0]", ("f32[1,8,8,3]", "f32[1,6,6,16]")),
    ],
)
def test_gradients_of_a_convolution_take_its_products(target, results, operands):
    made = call(target, results, *operands)
    proto = made.named["x"]
    numbers = proto.convolution_dimension_numbers
    numbers.input_feature_dimension = numbers.kernel_output_feature_dimension = 3
    numbers.input_spatial_dimensions.extend([1, 2])
    numbers.output_spatial_dimensions.extend([1, 2])
    for _ in range(2):
        proto.window.dimensions.add(size=3, stride=1, window_dilation=1, base_dilation=1)
    assert cost_of(made).all_flops == 2 * 3 * 16 * 18 * 18


# Attention.


def attention(target: str, **fields: int) -> Program:
    known = {
        "attn_heads": 16, "input_batch": 2, "kv_max_seqlen": 6, "mask_type": 0, "q_max_seqlen": 4,
        "qk_head_dim": 128, "v_head_dim": 64, "window_size_left": -1, "window_size_right": -1,
        "max_segments_per_seq": 1,
    }  # fmt: skip
    stated = ", ".join(f"{name} = {value} : i64" for name, value in {**known, **fields}.items())
    return call(target, "bf16[2,4,16,64]", "bf16[2,4,16,128]", config=f"{{{stated}}}")


def brute_pairs(queries: int, keys: int, mask: int) -> int:
    offset = keys - queries if mask == 4 else 0
    return sum(
        mask == 0 or key <= query + offset for query in range(queries) for key in range(keys)
    )


@pytest.mark.parametrize("mask", [0, 2, 4])
@pytest.mark.parametrize(("queries", "keys"), [(4, 6), (6, 4), (5, 5), (1, 7), (7, 1)])
def test_each_query_meets_the_keys_that_its_mask_leaves(mask, queries, keys):
    fields = {"mask_type": mask, "q_max_seqlen": queries, "kv_max_seqlen": keys}
    pairs = 2 * 16 * brute_pairs(queries, keys, mask)
    forward = cost_of(attention("te_fused_attn_forward_ffi", **fields))
    assert forward.all_flops == 2 * pairs * (128 + 64)
    backward = cost_of(attention("te_fused_attn_backward_ffi", **fields))
    assert backward.all_flops == 2 * pairs * (3 * 128 + 2 * 64)


@pytest.mark.parametrize(
    "fields", [{"mask_type": 1}, {"window_size_left": 128}, {"max_segments_per_seq": 3}]
)
def test_lengths_that_only_the_data_hold_are_unknown(fields):
    assert not cost_of(attention("te_fused_attn_forward_ffi", **fields)).is_known


def test_attention_without_operands_is_unknown():
    """Its configuration says the sizes, but not of what type they are."""
    made = attention("te_fused_attn_forward_ffi")
    del made.named["x"].operand_ids[:]
    assert not cost_of(made).is_known


def cudnn_attention(suffix: str = "", **fields: object) -> Program:
    """As JAX writes it: arrays [batch, position, head, dimension], keys of fewer heads."""
    stated = {
        "algorithm": {"algo_id": "0"},
        "intermediate_tensor_shape": {
            "element_type": "BF16", "dimensions": ["2", "16", "4", "6"], "tuple_shapes": [],
            "layout": {"minor_to_major": ["3", "2", "1", "0"]},
        },
        "is_flash_attention": True, "mask_type": "NO_MASK", "sliding_window_length": 0,
        "max_seg_per_batch": 1, "is_paged_attention": False,
        **fields,
    }  # fmt: skip
    config = json.dumps({"operation_queue_id": "0", "cudnn_fmha_backend_config": stated})
    shapes = "bf16[2,4,16,128]", "bf16[2,6,8,128]", "bf16[2,6,8,64]"
    return call(f"__cudnn$fmhaSoftmax{suffix}", "bf16[2,16,4,64] u8[0]", *shapes, config=config)


@pytest.mark.parametrize(("word", "mask"), [("NO_MASK", 0), ("CAUSAL", 2)])
def test_attention_of_cudnn_costs_as_that_of_transformer_engine(word, mask):
    pairs = 2 * 16 * brute_pairs(4, 6, mask)
    forward = cost_of(cudnn_attention(mask_type=word))
    assert dict(forward.flops) == {"bf16": 2 * pairs * (128 + 64)}
    assert (forward.read[0], forward.written[0]) == (32768 + 24576 + 12288, 16384)
    assert cost_of(cudnn_attention("Backward", mask_type=word)).all_flops == (
        2 * pairs * (3 * 128 + 2 * 64)
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"mask_type": "PADDING_CAUSAL"}, {"sliding_window_length": 128}, {"max_seg_per_batch": 2},
        {"is_paged_attention": True}, {"mask_type": None},
        {"intermediate_tensor_shape": {"dimensions": ["2", "16"]}},
    ],
)  # fmt: skip
def test_attention_of_cudnn_is_unknown_where_only_the_data_say_which_keys_count(fields):
    assert not cost_of(cudnn_attention(**fields)).is_known
