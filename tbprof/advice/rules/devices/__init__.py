"""Rules about what devices ran and hold: kernels, ops, copies, layouts, memory.

Imports nothing from the other rules.
"""
