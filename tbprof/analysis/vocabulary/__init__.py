"""What names mean: planes and lines, ops, kernels, host events, frames of Python.

Functions of one name each, or of columns of names. What needs the columns of events lives above.
"""
