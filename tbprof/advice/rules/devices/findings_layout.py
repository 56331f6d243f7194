"""Findings about convolutions on GPUs: the order of dimensions, and biases."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tbprof.advice.bottlenecks import HIGH, MODERATE
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import GPU_GUIDE
from tbprof.advice.pages import KERNELS, OPS
from tbprof.advice.sentences import percent
from tbprof.analysis.vocabulary.phases import COMPUTE
from tbprof.base.lazy import regex

# Percentages of the time of all kernels.
SHARE = (MODERATE, HIGH)
# cuDNN's own conversions between the two orders: it converts channels-first arrays before it
# computes on Tensor Cores, and converts the result back.
_TO_LAST = regex(r"nchw_?to_?nhwc", re.IGNORECASE)
_TO_FIRST = regex(r"nhwc_?to_?nchw", re.IGNORECASE)
_EITHER = "/nchw_?to_?nhwc|nhwc_?to_?nchw/"
_CONVOLUTION = regex(r"conv|cudnn|fprop|dgrad|wgrad", re.IGNORECASE)
# TensorFlow transposed the program's channels-last arrays.
_TURNED = "LayoutOptimizer"


def channels_last(evidence: Evidence) -> Iterator[Finding]:
    """Convolutions that transpose their images, which are channels first.

    Each one transposes its two inputs and its result. If more arrays are transposed from channels
    last than to it, or if TensorFlow transposed them, the program already uses channels last.
    """
    kernels = evidence.kernels
    total = float(kernels.total_ps.sum())
    # Only few names contain this, and regular expressions are slow on long names.
    names = [name for name in dict.fromkeys(kernels.name) if "nchw" in name.lower()]
    to_last, to_first = (
        np.array([name in matching for name in kernels.name], bool)
        for matching in (set(filter(pattern.search, names)) for pattern in (_TO_LAST, _TO_FIRST))
    )
    turns = to_last | to_first
    if total <= 0 or not to_last.any():
        return
    convolves = any(
        _CONVOLUTION.search(name)
        for name, turn in zip(kernels.name, turns.tolist(), strict=True)
        if not turn
    )
    if not convolves or any(_TURNED in op for op in kernels.op):
        return
    if kernels.occurrences[to_last].sum() <= kernels.occurrences[to_first].sum():
        return
    share = 100 * float(kernels.total_ps[turns].sum()) / total
    grade = graded(share, *SHARE)
    if grade is None:
        return
    gain = evidence.gain_of_work(share / 100 * evidence.share(*COMPUTE), *COMPUTE)
    yield Finding(
        id="channels_last",
        **grade,
        title=f"Transposing images for convolutions takes {percent(share)} of kernel time",
        detail=(
            f"cuDNN transposed {int(kernels.occurrences[to_last].sum()):,} arrays to channels "
            f"last before its convolutions and {int(kernels.occurrences[to_first].sum()):,} "
            "back: the program passes them channels first."
        ),
        gain=gain,
        action=(
            "Keep images channels last throughout the model (data_format='channels_last', NHWC)."
        ),
        next_page=KERNELS,
        evidence=KERNELS.showing(kernel_name=_EITHER),
        guide=GPU_GUIDE,
    )


def bias_before_batch_norm(evidence: Evidence) -> Iterator[Finding]:
    """Biases that batch normalization cancels."""
    gpus = evidence.gpus
    total, bias_ps = float(gpus.kernel_ps.sum()), float(gpus.bias_ps.sum())
    grade = graded(100 * bias_ps / total, *SHARE) if total > 0 else None
    if grade is None:
        return
    share = 100 * bias_ps / total
    gain = evidence.gain_of_work(share / 100 * evidence.share(*COMPUTE), *COMPUTE)
    yield Finding(
        id="bias_before_batch_norm",
        **grade,
        title=f"Biases that batch normalization cancels take {percent(share)} of kernel time",
        detail=(
            "Batch normalization directly follows these additions. It subtracts the mean, and "
            "with it the bias."
        ),
        gain=gain,
        action="Leave the bias out of layers before batch normalization (use_bias=False).",
        next_page=OPS,
        evidence=OPS.showing(type="=BiasAdd"),
        guide=GPU_GUIDE,
    )


LAYOUT_RULES: tuple[Rule, ...] = (channels_last, bias_before_batch_norm)
