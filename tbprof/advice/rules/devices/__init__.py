"""Rules about what devices ran and hold: kernels, ops, copies, layouts, memory.

Nothing comes in from the other rules.
"""
