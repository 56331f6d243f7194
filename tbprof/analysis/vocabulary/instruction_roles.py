"""Roles of instructions in a program: how they move data, and how reductions could be merged."""

from __future__ import annotations

from enum import IntEnum


class Move(IntEnum):
    """How an instruction that computes nothing moves data."""

    NONE = 0
    TRANSPOSE = 1
    RESHAPE = 2
    LAYOUT = 3  # a copy from one layout to another
    SLICE = 4  # slices, concatenations and padding
    SPACE = 5  # between space and batch or depth


class Reduction(IntEnum):
    """How a reduction, or an op after one, could be merged into another pass over the data."""

    NONE = 0
    CHAINED = 1  # waits for the sum over an array of the same shape
    BESIDE = 2  # another reduction reads the same array at another time
    SCALED = 3  # multiplies a sum; the elements could be multiplied before summing
