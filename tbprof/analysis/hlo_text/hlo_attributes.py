"""The attributes of HLO instructions as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from tbprof.analysis.hlo_text.hlo_devices import numbers, replica_groups, sharding_text, word_of
from tbprof.analysis.hlo_text.hlo_literals import FEW_ELEMENTS, literal_text
from tbprof.analysis.hlo_text.hlo_products import (
    convolution_attributes,
    dot_attributes,
    ragged_dot_attributes,
    window_attributes,
)
from tbprof.analysis.hlo_text.hlo_quoting import quoted
from tbprof.analysis.hlo_text.hlo_shape_text import shape_text

# Opcodes without attributes of their own.
_PLAIN = frozenset(
    {
        "abs", "add", "add-dependency", "after-all", "and", "atan2", "bitcast", "bitcast-convert",
        "cbrt", "ceil", "clamp", "complex", "constant", "convert", "copy", "copy-done", "cosine",
        "divide", "dynamic-update-slice", "erf", "exponential", "exponential-minus-one", "floor",
        "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum", "multiply",
        "negate", "not", "opt-barrier", "or", "partition-id", "power", "real", "remainder",
        "replica-id", "reshape", "round-nearest-afz", "round-nearest-even", "rsqrt", "select",
        "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sqrt",
        "subtract", "tan", "tanh", "tuple", "while", "xor",
    }
)  # fmt: skip


def own_attributes(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    """The attributes that depend on an instruction's opcode, such as "dimensions={0}".

    For unknown opcodes, these are all attributes that other opcodes may have.
    """
    if proto.opcode in _PLAIN:
        return
    write = _OWN.get(proto.opcode)
    if write is not None:
        yield from write(proto, operands)
        return
    yield from _lists(proto, if_any=["dimensions"])
    for write in (_channel, convolution_attributes, dot_attributes, _fft, _slices, _target):
        yield from write(proto, operands)


def aliasing_text(entries: Iterable[tuple[Sequence[int], int, Sequence[int], str]]) -> str:
    """Outputs that share the memory of inputs: "{ {0}: (0, {}, may-alias) }"."""
    texts = (
        f"{_index(output)}: ({number}, {_index(index)}{f', {kind}' if kind else ''})"
        for output, number, index, kind in entries
    )
    return f"{{ {', '.join(texts)} }}"


def _index(numbers_: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers_))}}}"


# One function per group of opcodes. Source of the order: XLA, HloInstruction's
# PrintExtraAttributesImpl.


def _filled(*templates: str) -> Callable[[Any, Sequence[Any]], Iterator[str]]:
    """Writes plain fields of an instruction: "index={0.tuple_index}"."""
    return lambda proto, _: (template.format(proto) for template in templates)


def _flags(proto: Any, *fields: str) -> Iterator[str]:
    """The flags that are set: "is_stable=true"."""
    return (f"{field}=true" for field in fields if getattr(proto, field))


def _lists(message: Any, *fields: str, if_any: Sequence[str] = ()) -> Iterator[str]:
    """Lists of numbers: "offset_dims={1,2}"; those of `if_any`, which may be missing, are last."""
    for field in (*fields, *filter(partial(getattr, message), if_any)):
        yield f"{field}={numbers(getattr(message, field))}"


def _dimensions(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    return _lists(proto, "dimensions")


def _sort(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield from _lists(proto, "dimensions")
    yield from _flags(proto, "is_stable")


def _iota(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"iota_dimension={next(iter(proto.dimensions), 0)}"


def _fft(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.fft_length or proto.opcode == "fft":
        yield f"fft_type={word_of(proto, 'fft_type')}"
        yield f"fft_length={numbers(proto.fft_length)}"


def _async(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.async_execution_thread:
        yield f"async_execution_thread={quoted(proto.async_execution_thread)}"


def _copy_start(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.HasField("cross_program_prefetch_index"):
        yield f"cross_program_prefetch_index={proto.cross_program_prefetch_index}"


def _compare(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield f"direction={proto.comparison_direction}"
    dtype = word_of(operands[0].shape, "element_type") if operands else ""
    usual = "SIGNED" if dtype[:1] == "S" else "UNSIGNED" if dtype[:1] in "UP" else "FLOAT"
    if proto.comparison_type and proto.comparison_type != usual:
        yield f"type={proto.comparison_type}"


def _options(message: Any) -> Iterator[str]:
    """The solver options that are set."""
    for field, value in message.ListFields():
        is_word = field.enum_type is not None
        text = word_of(message, field.name) if is_word else str(bool(value)).lower()
        yield f"{field.name}={text}"


def _channel(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.channel_id > 0:
        yield f"channel_id={proto.channel_id}"


def _transfer(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield from _channel(proto, operands)
    yield from _flags(proto, "is_host_transfer")


def _collective(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield from _channel(proto, operands)
    yield f"replica_groups={replica_groups(proto)}"
    yield from _flags(proto, "constrain_layout")
    yield from _lists(proto, if_any=["dimensions"])
    yield from _flags(proto, "use_global_device_ids")


def _permute(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield from _channel(proto, operands)
    pairs = (numbers((pair.source, pair.target)) for pair in proto.source_target_pairs)
    yield f"source_target_pairs={{{','.join(pairs)}}}"


def _slice(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield from _slices(proto, operands) if proto.slice_dimensions else ("slice={}",)


def _slices(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    has_strides = any(part.stride != 1 for part in proto.slice_dimensions)
    parts = (
        f"[{part.start}:{part.limit}{f':{part.stride}' if has_strides else ''}]"
        for part in proto.slice_dimensions
    )
    if proto.slice_dimensions:
        yield f"slice={{{', '.join(parts)}}}"


def _fusion(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"kind={proto.fusion_kind}"
    yield from _aliasing(proto)


def _aliasing(proto: Any) -> Iterator[str]:
    if proto.output_operand_aliasing:
        text = aliasing_text(
            (part.output_shape_index, part.operand_index, part.operand_shape_index, "")
            for part in proto.output_operand_aliasing
        )
        yield f"output_to_operand_aliasing={{{text[2:-2]}}}"


def _rng(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"distribution={word_of(proto, 'distribution').lower()}"


def _parameter(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.HasField("parameter_replication"):
        leaves = proto.parameter_replication.replicated_at_leaf_buffers
        replicated = ",".join(str(bool(leaf)).lower() for leaf in leaves)
        yield f"parameter_replication={{{replicated}}}"


def _infeed(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.infeed_config:
        yield f"infeed_config={quoted(proto.infeed_config.decode('utf-8', 'replace'))}"


def _outfeed(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"outfeed_shape={shape_text(proto.outfeed_shape)}"
    if proto.outfeed_config:
        yield f"outfeed_config={quoted(proto.outfeed_config.decode('utf-8', 'replace'))}"


def _custom_call(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    yield from convolution_attributes(proto, operands)
    if proto.padding_type:
        yield f"padding_type={word_of(proto, 'padding_type')}"
    yield from _target(proto, operands)
    if proto.constrain_layout:
        shapes = ", ".join(map(shape_text, proto.operand_shapes_with_layout))
        yield f"operand_layout_constraints={{{shapes}}}"
    yield from _flags(proto, "custom_call_has_side_effect")
    if proto.literal:
        yield f"literal={shape_text(proto.shape)} " + literal_text(
            proto.literal, proto.shape, FEW_ELEMENTS
        )
    yield from _aliasing(proto)
    if proto.custom_call_schedule:
        yield f"schedule={word_of(proto, 'custom_call_schedule')}"
    if proto.custom_call_api_version > 1:
        yield f"api_version={word_of(proto, 'custom_call_api_version')}"


def _target(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    if proto.custom_call_target or proto.opcode == "custom-call":
        yield f"custom_call_target={quoted(proto.custom_call_target)}"


def _pad(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    parts = proto.padding_config.dimensions
    has_interior = any(part.interior_padding for part in parts)
    pads = (
        f"{part.edge_padding_low}_{part.edge_padding_high}"
        + (f"_{part.interior_padding}" if has_interior else "")
        for part in parts
    )
    yield f"padding={'x'.join(pads)}"


def _gather(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    dims = proto.gather_dimension_numbers
    yield from _lists(
        dims, "offset_dims", "collapsed_slice_dims", "start_index_map",
        if_any=["operand_batching_dims", "start_indices_batching_dims"],
    )  # fmt: skip
    yield f"index_vector_dim={dims.index_vector_dim}"
    yield f"slice_sizes={numbers(proto.gather_slice_sizes)}"
    yield from _flags(proto, "indices_are_sorted")


def _scatter(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    dims = proto.scatter_dimension_numbers
    yield from _lists(
        dims, "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
        if_any=["input_batching_dims", "scatter_indices_batching_dims"],
    )  # fmt: skip
    yield f"index_vector_dim={dims.index_vector_dim}"
    yield from _flags(proto, "indices_are_sorted", "unique_indices")


def _domain(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    # The file's entry sharding is the one after the domain.
    entry, exit_ = map(sharding_text, (proto.domain_exit_sharding, proto.domain_entry_sharding))
    yield f'domain={{kind="sharding", entry={entry}, exit={exit_}}}'


def _rng_bits(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"algorithm={word_of(proto, 'rng_algorithm').lower()}"


def _top_k(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    yield f"k={proto.k}"
    yield f"largest={'true' if proto.largest else 'false'}"


_OWN: dict[str, Callable[[Any, Sequence[Any]], Iterator[str]]] = {
    **dict.fromkeys(
        ("broadcast", "concatenate", "map", "reduce", "reverse", "transpose",
         "get-dimension-size", "set-dimension-size"), _dimensions),
    **dict.fromkeys(("batch-norm-training", "batch-norm-inference", "batch-norm-grad"),
                    _filled("epsilon={0.epsilon:.6g}", "feature_index={0.feature_index}")),
    **dict.fromkeys(("send", "send-done", "recv", "recv-done"), _transfer),
    **dict.fromkeys(
        ("all-gather", "all-gather-start", "all-reduce", "all-reduce-start", "all-to-all",
         "collective-broadcast", "ragged-all-to-all", "reduce-scatter"), _collective),
    **dict.fromkeys(("collective-permute", "collective-permute-start"), _permute),
    **dict.fromkeys(("reduce-window", "select-and-scatter"), window_attributes),
    "async-start": _async,
    "call": lambda proto, _: _flags(proto, "is_composite"),
    "cholesky": lambda proto, _: _options(proto.cholesky_options),
    "compare": _compare,
    "convolution": convolution_attributes,
    "copy-start": _copy_start,
    "custom-call": _custom_call,
    "domain": _domain,
    "dot": dot_attributes,
    "dynamic-slice": lambda proto, _: _lists(proto, "dynamic_slice_sizes"),
    "fft": _fft,
    "fusion": _fusion,
    "gather": _gather,
    "get-tuple-element": _filled("index={0.tuple_index}"),
    "infeed": _infeed,
    "iota": _iota,
    "outfeed": _outfeed,
    "pad": _pad,
    "parameter": _parameter,
    "ragged-dot": ragged_dot_attributes,
    "reduce-precision": _filled(
        "exponent_bits={0.exponent_bits}", "mantissa_bits={0.mantissa_bits}"
    ),
    "rng": _rng,
    "rng-bit-generator": _rng_bits,
    "rng-get-and-update-state": _filled("delta={0.delta}"),
    "scatter": _scatter,
    "slice": _slice,
    "sort": _sort,
    "topk": _top_k,
    "triangular-solve": lambda proto, _: _options(proto.triangular_solve_options),
}  # fmt: skip
