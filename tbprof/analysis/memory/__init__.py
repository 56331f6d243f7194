"""The memory of allocators: events, peaks, use by step, what it consists of."""
