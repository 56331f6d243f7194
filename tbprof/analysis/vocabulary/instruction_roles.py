"""What an instruction of a program does for the instructions around it."""

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
    """How a reduction, or what follows one, could be part of another pass over the data."""

    NONE = 0
    CHAINED = 1  # it waits for the sum over an array of equal sizes
    BESIDE = 2  # another one reads the same array at another time
    SCALED = 3  # multiplies a sum: the elements could be multiplied first
