"""Compiled programs as graphs: operands of instructions, and the neighborhood of one of them.

Uses `hlo`, `costs` and `programs`. Nothing here reads events.
"""
