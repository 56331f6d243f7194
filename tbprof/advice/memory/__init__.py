"""Findings about memory: rules over one allocator's peak and over its use from step to step."""
