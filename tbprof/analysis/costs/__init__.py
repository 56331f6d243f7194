"""The operations and memory traffic of instructions of compiled programs, from their shapes.

Everything is per execution. Counts and times of executions belong in `gpu`, `tpu` and `ops`.
"""
