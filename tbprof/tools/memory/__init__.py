"""The memory profile: allocators, payload, records for scripts, what to free."""
