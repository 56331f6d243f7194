"""The steps of one host: what marks them, their windows, their phases.

Reads groups, lines of devices and repeats; what steps of several hosts have in common is in `job`.
"""
