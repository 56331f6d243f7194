"""The attributes of matrix products, convolutions and windows, as HLO text."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from tbprof._pb import message
from tbprof.analysis.hlo_text.hlo_devices import numbers, word_of


def window_attributes(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    """The windows of a reduction or a convolution."""
    dimensions = proto.window.dimensions
    if not dimensions:
        return
    fields = [f"size={'x'.join(str(part.size) for part in dimensions)}"]
    if any(part.stride != 1 for part in dimensions):
        fields.append(f"stride={'x'.join(str(part.stride) for part in dimensions)}")
    if any(part.padding_low or part.padding_high for part in dimensions):
        pads = (f"{part.padding_low}_{part.padding_high}" for part in dimensions)
        fields.append(f"pad={'x'.join(pads)}")
    if any(part.base_dilation != 1 for part in dimensions):
        fields.append(f"lhs_dilate={'x'.join(str(part.base_dilation) for part in dimensions)}")
    if any(part.window_dilation != 1 for part in dimensions):
        fields.append(f"rhs_dilate={'x'.join(str(part.window_dilation) for part in dimensions)}")
    if any(part.window_reversal for part in dimensions):
        reversals = (str(int(part.window_reversal)) for part in dimensions)
        fields.append(f"rhs_reversal={'x'.join(reversals)}")
    yield f"window={{{' '.join(fields)}}}"


def convolution_attributes(proto: Any, operands: Sequence[Any]) -> Iterator[str]:
    """A convolution's windows, the roles of its dimensions, its groups and its precision."""
    yield from window_attributes(proto, operands)
    if proto.HasField("convolution_dimension_numbers"):
        yield f"dim_labels={_labels(proto.convolution_dimension_numbers)}"
    if proto.feature_group_count > 1:
        yield f"feature_group_count={proto.feature_group_count}"
    if proto.batch_group_count > 1:
        yield f"batch_group_count={proto.batch_group_count}"
    yield from _precision(proto)


def _labels(dims: Any) -> str:
    """The labels of the dimensions of a convolution's arrays: "bf01_oi01->bf01"."""
    arrays = (
        (dims.input_batch_dimension, "b", dims.input_feature_dimension, "f",
         dims.input_spatial_dimensions),
        (dims.kernel_output_feature_dimension, "o", dims.kernel_input_feature_dimension, "i",
         dims.kernel_spatial_dimensions),
        (dims.output_batch_dimension, "b", dims.output_feature_dimension, "f",
         dims.output_spatial_dimensions),
    )  # fmt: skip
    texts = []
    for first, first_label, second, second_label, spatial in arrays:
        labels = {first: first_label, second: second_label}
        labels.update({position: str(number) for number, position in enumerate(spatial)})
        texts.append("".join(labels.get(place, "?") for place in range(2 + len(spatial))))
    return f"{texts[0]}_{texts[1]}->{texts[2]}"


def _precision(proto: Any) -> Iterator[str]:
    config = proto.precision_config
    if any(config.operand_precision):
        yield f"operand_precision={{{','.join(map(_precision_word, config.operand_precision))}}}"
    if config.algorithm:
        yield f"algorithm={word_of(config, 'algorithm').removeprefix('ALG_').lower()}"


def dot_attributes(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    """The dimensions of a product of matrices, and its precision."""
    if proto.HasField("dot_dimension_numbers"):
        yield from _dot_dimensions(proto.dot_dimension_numbers)
        yield from _precision(proto)


def ragged_dot_attributes(proto: Any, _: Sequence[Any]) -> Iterator[str]:
    """The dimensions of a ragged product, of groups of rows, and its precision."""
    ragged = proto.ragged_dot_dimension_numbers
    yield from _dot_dimensions(ragged.dot_dimension_numbers)
    yield from _precision(proto)
    yield f"lhs_ragged_dims={numbers(ragged.lhs_ragged_dimensions)}"
    if ragged.rhs_group_dimensions:
        yield f"rhs_group_dims={numbers(ragged.rhs_group_dimensions)}"


def _dot_dimensions(dims: Any) -> Iterator[str]:
    if dims.lhs_batch_dimensions:
        yield f"lhs_batch_dims={numbers(dims.lhs_batch_dimensions)}"
    yield f"lhs_contracting_dims={numbers(dims.lhs_contracting_dimensions)}"
    if dims.rhs_batch_dimensions:
        yield f"rhs_batch_dims={numbers(dims.rhs_batch_dimensions)}"
    yield f"rhs_contracting_dims={numbers(dims.rhs_contracting_dimensions)}"


@functools.cache
def _precision_word(value: int) -> str:
    words = message("xla.PrecisionConfig").DESCRIPTOR.enum_types_by_name["Precision"]
    word = words.values_by_number.get(value)
    return str(value) if word is None else word.name.lower()
