"""The memory of allocators: events, peaks, use by step, and what it consists of.

Works on memory events of host threads; steps come from `steps`, for the device of each allocator.
"""
