"""The memory of compiled programs while they run, as planned by their compiler.

Uses `hlo`. Reads the buffer assignment of a program, and replays its simulated heap.
"""
