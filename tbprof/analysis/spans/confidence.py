"""The confidence interval of the mean of a few values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# From so many degrees of freedom on, Student's t distribution equals the normal distribution to
# three significant digits.
_MANY = 400
_HALVINGS = 60


def mean_interval(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """(low, high): the confidence interval of the mean of values [n], by Student's t distribution.

    Both are NaN for fewer than two values, and the mean if all values are equal.
    """
    if values.size < 2:
        return math.nan, math.nan
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    # Differences from rounding alone count as equal values.
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        return mean, mean
    half = t_quantile((1 + confidence) / 2, values.size - 1) * deviation / math.sqrt(values.size)
    return mean - half, mean + half


def t_quantile(probability: float, freedom: int) -> float:
    """The value that Student's t stays below with `probability` (0.5 to below 1)."""
    if freedom > _MANY:
        from statistics import NormalDist  # imports fractions and decimals, too

        return NormalDist().inv_cdf(probability)
    two_sided = 2 * probability - 1
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _within(middle, freedom) < two_sided:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """The probability that |t| is at most sqrt(freedom) tan(angle).

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    square = math.cos(angle) ** 2
    is_odd = freedom % 2 == 1
    term, total = (math.cos(angle) if is_odd else 1.0), 0.0
    for degree in range(3 if is_odd else 2, freedom + 1, 2):
        total += term
        term *= square * (degree - 1) / degree
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if is_odd else total
