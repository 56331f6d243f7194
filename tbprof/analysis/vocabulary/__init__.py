"""What names mean: planes and lines, ops, kernels, host events, frames of Python.

Functions of one name each, or of columns of names. Code that needs columns of events belongs in the
rooms above.
"""
