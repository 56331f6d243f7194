"""Compiled programs: their instructions, shapes, channels, precision and functions.

Read from the HLO protos of a trace. Executions of programs belong in `tpu`, `gpu` and `ops`.
"""
