"""Products over windows: how often a kernel overlaps an element of a convolution's input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tbprof.analysis.hlo.hlo_shapes import Shape

# In gradients of convolutions, windows are as large as images; larger ones are damaged.
_LARGEST = 1 << 20
_LARGEST_STEP = 1 << 31


def convolution_products(proto: Any, taken: Shape, kernel: Shape, returned: Shape) -> int | None:
    """The products of elements in a convolution without those with padding; None if damaged.

    `taken`, `kernel` and `returned` are the input, the kernel and the output to which the dimension
    numbers of the instruction `proto` refer.
    """
    numbers = proto.convolution_dimension_numbers
    try:
        features = taken.sizes[numbers.input_feature_dimension]
        kernels = kernel.sizes[numbers.kernel_output_feature_dimension]
        batch = taken.sizes[numbers.input_batch_dimension]
        spatial = zip(
            proto.window.dimensions,
            [taken.sizes[axis] for axis in numbers.input_spatial_dimensions],
            [returned.sizes[axis] for axis in numbers.output_spatial_dimensions],
            strict=True,
        )
        positions = [valid_positions(window, *sizes) for window, *sizes in spatial]
    except (IndexError, ValueError):
        return None
    if None in positions:
        return None
    groups, batch_groups = max(proto.feature_group_count, 1), max(proto.batch_group_count, 1)
    known = [number for number in positions if number is not None]
    return int(features // groups * kernels * (batch // batch_groups) * math.prod(known))


def valid_positions(window: Any, taken: int, returned: int) -> int | None:
    """The number of pairs of a kernel and an output position that read an element of the input.

    This is along one dimension with the sizes `taken` and `returned`; None for damaged windows.
    Position k of the kernel reads i = o stride - padding + k dilation for output o, which is an
    element of the input if the base dilation divides it.
    """
    stride, base = max(window.stride, 1), max(window.base_dilation, 1)
    if (
        not 0 <= window.size <= _LARGEST
        or max(stride, base, window.window_dilation, abs(window.padding_low)) > _LARGEST_STEP
    ):
        return None
    offset = np.arange(window.size) * max(window.window_dilation, 1) - window.padding_low
    # o stride = -offset modulo base: every `step`-th output from the first one on.
    common = math.gcd(stride, base)
    step = base // common
    inverse = pow(stride // common, -1, step) if step > 1 else 0
    first = (-offset // common % step * inverse) % step
    least = np.maximum(-(offset // stride), 0)  # the first output at or after element 0
    most = np.minimum(((taken - 1) * base - offset) // stride, returned - 1)
    begin = least + (first - least) % step
    counts = np.where((offset % common == 0) & (begin <= most), (most - begin) // step + 1, 0)
    return int(counts.sum())
