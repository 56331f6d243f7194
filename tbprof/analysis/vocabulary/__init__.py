"""What names mean: planes and lines, ops, kernels, host events, frames of Python.

Functions take one name, or a column of names. Code that needs columns of events belongs in the
rooms above.
"""
