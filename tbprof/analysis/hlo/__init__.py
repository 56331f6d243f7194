"""Compiled programs: their instructions, shapes, channels, precision and functions.

Read from the HLO protos of a trace. What ran of a program belongs in `tpu`, `gpu` and `ops`.
"""
