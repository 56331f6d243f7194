"""Rules about devices: their kernels, ops, copies, layouts and memory.

Imports nothing from the other rules.
"""
