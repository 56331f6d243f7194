"""Traces of memory: allocators drawn as text, changes one by one, and plans of compilers."""
